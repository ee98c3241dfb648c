#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_RESULT_CHECKS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_RESULT_CHECKS_H_

#include "absl/status/status.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::coordinator {

// What a plan does not take a worker's word for. All answer INVALID_ARGUMENT, and what is wrong.

// The pin of `asked` and nothing else: a 40-digit commit for git, a SHA-256 for the rest, and every
// other field as the worker was given it. Else a worker could put another repository in a job's
// place.
absl::Status CheckPinned(const v1::Source& asked, const v1::StageResult& result);

// At most as many repositories as the search may find, each a URL that a job file might name, each
// once and in order.
absl::Status CheckFound(const v1::Source& search, const v1::StageResult& result);

// Counters and failures of a number and a size that a status can carry.
absl::Status CheckReport(const v1::StageResult& result);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_RESULT_CHECKS_H_
