#ifndef KERNELMILL_COMMON_JOB_JOB_SPEC_H_
#define KERNELMILL_COMMON_JOB_JOB_SPEC_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// Checks the splits: each share is 0 to 1, something is left for train, and no repository is named
// twice. INVALID_ARGUMENT names the field as a job file would: "splits.test: ...".
absl::Status CheckSplits(const v1::SplitPolicy& policy);

// Returns whether any kernel may get a split other than train: a share is above 0 or a repository
// is named.
bool Divides(const v1::SplitPolicy& policy);

// Checks the mix: phases and corpora have distinct names (letters, digits, '.', '_' and '-'), token
// counts are not negative, each part names a config or a corpus that exists and has a weight or
// epochs, not both. A phase without tokens has epochs for all of its parts. INVALID_ARGUMENT names
// the field: "mix.phases[0].parts[1].weight: ...".
absl::Status CheckMix(const v1::Mix& mix);

// The most processor time, in seconds, that a job may give one kernel with one compiler.
inline constexpr int kMaxCompileSeconds = 600;
// The default of it. The slowest real kernel that compiled took 67 s, so twice as slow a machine
// still gives the same results.
inline constexpr int kDefaultCompileSeconds = 180;

// Checks the compile policy: each toolchain, target and form is known and named once, and
// max_seconds is 0 (the default) to kMaxCompileSeconds. INVALID_ARGUMENT names the field:
// "compile.targets[1]: ...".
absl::Status CheckCompile(const v1::CompilePolicy& policy);

// Returns whether compilers answer the check (a field of Checks). Only jobs that compile can
// require it.
bool IsCompilerCheck(absl::string_view check);

// Returns the policy with every default written out and its lists in the order in which
// common/toolchains has them, so that the order in a job file does not change the dataset.
v1::CompilePolicy WithCompileDefaults(const v1::CompilePolicy& policy);

// Returns the parameters of the compile stage for a policy whose defaults are written out. A
// toolchain that this build no longer pins gets its name only, which no worker accepts.
v1::CompileParams MakeCompileParams(const v1::CompilePolicy& policy);

// Checks that the job can be run: at least one source, each with an origin, well-formed names,
// known checks, thresholds in range, and no list that is still to be read. INVALID_ARGUMENT names
// the field as a job file would: "sources[2].ref: ...". Does not ask whether an origin can be
// reached.
absl::Status CheckJobSpec(const v1::JobSpec& spec);

// Checks a job as it is written: as CheckJobSpec, except that lists need not have been read.
absl::Status CheckWrittenSpec(const v1::JobSpec& spec);

// Returns the spec with every default written out, so that equal jobs are equal messages.
v1::JobSpec WithDefaults(v1::JobSpec spec);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_JOB_SPEC_H_
