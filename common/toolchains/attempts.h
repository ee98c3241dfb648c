#ifndef KERNELMILL_COMMON_TOOLCHAINS_ATTEMPTS_H_
#define KERNELMILL_COMMON_TOOLCHAINS_ATTEMPTS_H_

#include <string>
#include <vector>

#include "common/toolchains/toolchains.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::toolchains {

// Which kernels a job compiles, and with what. The compile stage asks here, and so does the stage
// that hands on the versions of a history.

// A toolchain of a kernel's language, with those of the job's targets that it has.
struct Attempt {
  const PinnedToolchain* toolchain;
  std::vector<std::string> targets;
};

// Returns the toolchains of a kernel's language, in the job's order; none without a target.
std::vector<Attempt> FindAttempts(const v1::Kernel& kernel, const v1::CompileParams& params);

// Returns why a kernel is not compiled at all; empty if it is. The first of
//
//   file                  a whole file
//   dsl:cuda, dsl:pallas  no toolchain of the job has its language
//   target                none that has it compiles for a target of the job
//   dialect               only another build of Triton compiles it: dsl::FindDialect
//   template              a source that is filled in later
//   role:device           other kernels call it; it is never launched
//   role:host             it launches kernels
//   parse_error           it has a syntax error
//   not_self_contained    its module needs other files
std::string NotAttempted(const v1::Kernel& kernel, const v1::CompileParams& params);

}  // namespace kernelmill::toolchains

#endif  // KERNELMILL_COMMON_TOOLCHAINS_ATTEMPTS_H_
