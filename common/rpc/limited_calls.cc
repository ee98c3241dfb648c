#include "common/rpc/limited_calls.h"

#include <limits>

#include "common/access/authorizer.h"
#include "common/base/status.h"

namespace kernelmill::rpc {
namespace {

StallGuard::Options GuardOptions() {
  StallGuard::Options options;
  options.stall_budget = absl::Seconds(20);
  options.max_streams = std::numeric_limits<int>::max();  // the limits bound them
  return options;
}

}  // namespace

LimitedCalls::LimitedCalls(const CallLimits& limits)
    : limits_({"calls under way",
               {"max-calls-per-caller", limits.each},
               {"max-calls", limits.all},
               "wait for some"}),
      guard_(GuardOptions()) {}

absl::StatusOr<LimitedCalls::Admitted> LimitedCalls::Admit(grpc::ServerContext& context) {
  Admitted admitted;
  ASSIGN_OR_RETURN(admitted.place, limits_.Take(access::CallerKey(context)));
  ASSIGN_OR_RETURN(admitted.stream, guard_.Admit([&context] { context.TryCancel(); }));
  return admitted;
}

absl::Status LimitedCalls::NotRead(const StallGuard::Stream& stream) {
  if (stream.ended()) return absl::DeadlineExceededError("the request came too slowly");
  return absl::InvalidArgumentError("the request cannot be read, or is too large");
}

}  // namespace kernelmill::rpc
