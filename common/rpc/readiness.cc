#include "common/rpc/readiness.h"

#include <grpcpp/channel.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/log.h"

namespace kernelmill::rpc {
namespace {

constexpr absl::Duration kReachDeadline = absl::Seconds(1);

}  // namespace

Readiness::Readiness(Server& server, Check check, absl::Duration interval)
    : server_(server), check_(std::move(check)), interval_(interval), thread_([this] { Run(); }) {}

Readiness::~Readiness() {
  stopping_ = true;
  stop_.Notify();
  thread_.join();
}

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

absl::Status CheckReach(grpc::Channel& channel, const std::string& name) {
  if (channel.WaitForConnected(absl::ToChronoTime(absl::Now() + kReachDeadline))) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(name, " is unreachable"));
}

}  // namespace kernelmill::rpc
