#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_VISITS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_VISITS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "services/coordinator/core/state_store.h"

namespace kernelmill::coordinator {

// What a pin that has come out says of its repository; none where it says nothing: of other sources
// than git, and of failures that are not the repository's.
std::optional<Visit> VisitOf(const v1::Source& source, const v1::StageResult& result,
                             absl::Time now);
std::optional<Visit> VisitOf(const v1::Source& source, const absl::Status& error, absl::Time now);

// How long the policy leaves the repository alone after such a visit.
absl::Duration CooldownAfter(const Visit& visit, const v1::VisitPolicy& policy);

// Whether the visit stands in for a new one. A visit in the future does not: the clock was set.
bool IsRecent(const Visit& visit, const v1::VisitPolicy& policy, absl::Time now);

// What pinning the source comes out with if the visit stands in for it: a result, or why the source
// is not visited.
absl::StatusOr<v1::StageResult> PinFrom(const Visit& visit, const v1::Source& source);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_VISITS_H_
