#include "common/rpc/readiness.h"

#include <grpcpp/channel.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/log.h"

// A server is live as long as it answers, and ready while the servers that it needs are reachable.
// Orchestrators restart what is not live, and only send no calls to what is not ready; so the two
// have different names in the health service.
namespace kernelmill::rpc {
namespace {

constexpr absl::Duration kReachDeadline = absl::Seconds(1);

}  // namespace

Readiness::Readiness(Server& server, Check check, absl::Duration interval)
    : server_(server), check_(std::move(check)), interval_(interval), thread_([this] { Run(); }) {}

// Waits for a check that runs at the moment.
Readiness::~Readiness() {
  stopping_ = true;
  stop_.Notify();
  thread_.join();
}

// A server begins as ready, so only changes are reported. The check may take long (it calls other
// servers), and therefore runs on this thread and not in the health service.
void Readiness::Run() {
  bool ready = true;
  while (!stopping_) {
    const uint64_t seen = stop_.generation();
    const absl::Status found = check_();
    if (std::exchange(ready, found.ok()) != found.ok()) {
      server_.SetReady(found.ok());
      if (found.ok()) {
        LogInfo("ready again");
      } else {
        LogWarning("not ready", {{"error", found.ToString()}});
      }
    }
    if (!stopping_) stop_.WaitFor(seen, interval_);
  }
}

// Connects if the channel is idle. It makes no call, so it needs no role at the server.
absl::Status CheckReach(grpc::Channel& channel, const std::string& name) {
  if (channel.WaitForConnected(absl::ToChronoTime(absl::Now() + kReachDeadline))) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(name, " is unreachable"));
}

}  // namespace kernelmill::rpc
