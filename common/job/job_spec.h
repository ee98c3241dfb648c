#ifndef KERNELMILL_COMMON_JOB_JOB_SPEC_H_
#define KERNELMILL_COMMON_JOB_JOB_SPEC_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// INVALID_ARGUMENT, naming the field as a job file would ("sources[2].ref: ..."), unless the job
// can be run: at least one source, each with an origin, well-formed names, known checks, a
// threshold in (0, 1]. Says nothing of whether an origin can be reached.
absl::Status CheckJobSpec(const v1::JobSpec& spec);

// The same of a job as it is written: its lists need not have been read yet.
absl::Status CheckWrittenSpec(const v1::JobSpec& spec);

// The curated pairs that a job may have.
inline constexpr size_t kMaxPairs = 10'000;

// INVALID_ARGUMENT, naming `where`, unless the pair names two kernels.
absl::Status CheckPair(const std::string& where, const v1::CuratedPair& pair);

// The spec with every default written out, so that equal jobs are equal messages.
v1::JobSpec WithDefaults(v1::JobSpec spec);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_JOB_SPEC_H_
