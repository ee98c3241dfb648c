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

// A job with a policy for it (`visits` in the job file) does not ask a repository again that was
// asked lately: its source is pinned from the record of the last time.

// What is recorded of a pin that has come out; none where it says nothing of the repository: of
// other sources than git, and of failures that are not the repository's.
std::optional<PinRecord> PinRecordOf(const v1::Source& source, const v1::StageResult& result,
                                     absl::Time now);
std::optional<PinRecord> PinRecordOf(const v1::Source& source, const absl::Status& error,
                                     absl::Time now);

// How long the policy leaves the repository alone after such an outcome.
absl::Duration CooldownAfter(const PinRecord& last, const v1::VisitPolicy& policy);

// Whether the record stands in for asking again. One of the future does not: the clock was set.
bool IsRecent(const PinRecord& last, const v1::VisitPolicy& policy, absl::Time now);

// What pinning the source comes out with if the record stands in for it: a result, or why the
// repository is not asked.
absl::StatusOr<v1::StageResult> ResultFrom(const PinRecord& last, const v1::Source& source);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_PIN_HISTORY_H_
