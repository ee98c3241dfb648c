#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_PIN_HISTORY_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_PIN_HISTORY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// The pin history: a job with a visits policy (`visits` in the job file) does not ask a repository
// again that was asked recently. Its source is pinned from the record of the last attempt.

// Make the record of a pin that succeeded or failed. Return nothing for sources other than git, and
// for failures that are not the repository's.
std::optional<PinRecord> MakePinRecord(const v1::Source& source, const v1::StageResult& result,
                                       absl::Time now);
std::optional<PinRecord> MakePinRecord(const v1::Source& source, const absl::Status& error,
                                       absl::Time now);

// Returns how long the policy does not ask the repository again after this outcome.
absl::Duration CooldownAfter(const PinRecord& last, const v1::VisitPolicy& policy);

// Returns whether the record is recent enough to be used. A record from the future is not: the
// clock was set back.
bool IsRecent(const PinRecord& last, const v1::VisitPolicy& policy, absl::Time now);

// Returns the outcome of the pin according to the record: a result, or an error that says why the
// repository is not asked.
absl::StatusOr<v1::StageResult> ResultFrom(const PinRecord& last, const v1::Source& source);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_PIN_HISTORY_H_
