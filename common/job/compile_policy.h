#ifndef KERNELMILL_COMMON_JOB_COMPILE_POLICY_H_
#define KERNELMILL_COMMON_JOB_COMPILE_POLICY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// The most processor time, in seconds, that a job may give one kernel with one compiler.
inline constexpr int kMaxCompileSeconds = 600;
// What it is given where the job says nothing.
inline constexpr int kDefaultCompileSeconds = 180;

// INVALID_ARGUMENT, naming the field as a job file would ("compile.targets[1]: ..."), unless each
// toolchain, target and form is known and named once, and the seconds are 0 to kMaxCompileSeconds.
absl::Status CheckCompile(const v1::CompilePolicy& policy);

// Whether a check of a kernel (a field of Checks) is asked of jobs that compile alone.
bool IsOfCompilers(absl::string_view check);

// The policy with every default written out, and its lists in the order in which the compilers,
// targets and forms are known: naming them in another order makes no other dataset.
v1::CompilePolicy WithCompileDefaults(const v1::CompilePolicy& policy);

// What the stage takes, of a policy whose defaults are written out. A toolchain that a newer build
// has pinned no more has its name alone: no worker has it.
v1::CompileParams CompileParamsOf(const v1::CompilePolicy& policy);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_COMPILE_POLICY_H_
