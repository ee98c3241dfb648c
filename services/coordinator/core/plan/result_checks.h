#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_RESULT_CHECKS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_RESULT_CHECKS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::coordinator {

// Checks of results that a plan does not trust a worker for. All return INVALID_ARGUMENT.

// Checks a pin: a 40-digit commit for git, a SHA-256 for other sources, and every other field as in
// `asked`. Otherwise a worker could replace a job's repository by another one.
absl::Status CheckPinned(const v1::Source& asked, const v1::StageResult& result);

// Checks the result of a search: at most its limit of repositories, each a URL that a job file
// could name, sorted and without duplicates.
absl::Status CheckFound(const v1::Source& search, const v1::StageResult& result);

// Returns the source of evidence that the results of running kernels on `device` are: two outputs,
// and their hash in `pinned`.
absl::StatusOr<v1::Source> MakeRunSource(const std::string& device, const v1::StageResult& result);

// Checks that counters and failures are few and small enough for a status.
absl::Status CheckReport(const v1::StageResult& result);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_RESULT_CHECKS_H_
