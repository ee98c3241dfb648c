#ifndef KERNELMILL_CLIENT_EVALUATE_COMPILE_CHECK_H_
#define KERNELMILL_CLIENT_EVALUATE_COMPILE_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/evaluate/kernel_services.h"
#include "client/evaluate/sample_result.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::client {

// Compiles the launched Triton and Gluon kernels of some samples, by each toolchain of the policy
// for each of its targets, which it names all. Sets the compile measures and outcomes of `results`,
// one for each shard; their static measures are set. Of a sample:
//
//   error    its text does not parse, it has no kernel, or one of its kernels does not compile
//   unknown  else, where of one of its kernels nothing can be told: no types for its arguments, it
//            needs a package that is not there, or it is of another language
//   ok       all of them compile
//
// A kernel whose module lacks a name that nobody defines is compiled nonetheless: a generation has
// no repository that may define it. What `services` answers for other kernels is INTERNAL; else its
// errors.
absl::Status CompileSamples(absl::Span<const v1::KernelShard> samples,
                            const v1::CompilePolicy& policy, KernelServices& services,
                            absl::Span<SampleResult* const> results);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_COMPILE_CHECK_H_
