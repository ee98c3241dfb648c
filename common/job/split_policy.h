#ifndef KERNELMILL_COMMON_JOB_SPLIT_POLICY_H_
#define KERNELMILL_COMMON_JOB_SPLIT_POLICY_H_

#include "absl/status/status.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// INVALID_ARGUMENT, naming the field as a job file would ("splits.test: ..."), unless each share is
// of 0 to 1, something is left for train, and no repository is named twice.
absl::Status CheckSplits(const v1::SplitPolicy& policy);

// Whether any kernel may be of another split than train: it has a share, or names a repository.
bool Divides(const v1::SplitPolicy& policy);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_SPLIT_POLICY_H_
