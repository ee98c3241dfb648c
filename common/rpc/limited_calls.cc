#include "common/rpc/limited_calls.h"

#include <google/protobuf/descriptor.h>

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/base/status.h"
#include "common/rpc/answer_guard.h"

namespace kernelmill::rpc {
namespace {

// The time for a request of up to 16 MiB to arrive, and for its answer to be read.
constexpr absl::Duration kStallBudget = absl::Seconds(60);
// The wait for a turn; longer than kStallBudget, so that stalled callers have lost theirs by then.
constexpr absl::Duration kTurnPatience = absl::Seconds(90);

access::CallerLimits::Options MakeLimits(const std::string& what, const std::string& flag,
                                         const CallLimits& limits) {
  return {
      what, {absl::StrCat(flag, "-per-caller"), limits.each}, {flag, limits.all}, "wait for some"};
}

StallGuard::Options GuardOptions() {
  StallGuard::Options options;
  options.stall_budget = kStallBudget;
  options.max_streams = std::numeric_limits<int>::max();  // the limits bound them
  return options;
}

}  // namespace

LimitedCalls::LimitedCalls(const Options& options)
    : limits_(MakeLimits("calls under way", options.flag, options.under_way)),
      turns_(MakeLimits("calls at work", options.flag, options.at_work)),
      guard_(GuardOptions()) {}

// Three gates, in this order: a place, which bounds how many calls wait; a turn, which bounds how
// many requests are in memory; the guard, which ends a caller that sends or reads too slowly. All
// are given back when the call ends.
absl::StatusOr<LimitedCalls::Admitted> LimitedCalls::Admit(grpc::ServerContext& context) {
  const std::string caller = access::CallerKey(context);
  Admitted admitted;
  ASSIGN_OR_RETURN(admitted.place, limits_.Take(caller));
  absl::StatusOr<access::CallerLimits::Place> turn = turns_.Await(caller, kTurnPatience);
  if (!turn.ok()) return absl::UnavailableError("the server is busy with other calls");
  admitted.turn = *std::move(turn);
  ASSIGN_OR_RETURN(admitted.stream, guard_.Admit([&context] {
    EndCall(context,
            absl::DeadlineExceededError("the request arrived, or its answer was read, too slowly"));
  }));
  return admitted;
}

// gRPC's Read only returns false; the guard knows whether it was the cause.
absl::Status LimitedCalls::NotRead(const StallGuard::Stream& stream) {
  if (stream.ended()) return absl::DeadlineExceededError("the request arrived too slowly");
  return absl::InvalidArgumentError(
      "the request cannot be read, or exceeds the message size limit");
}

// The generated services number their methods in the order of the .proto file.
int GetMethodIndex(const std::string& method) {
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(method)->index();
}

}  // namespace kernelmill::rpc
