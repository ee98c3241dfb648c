#include "common/rpc/process.h"

#include <csignal>
#include <ctime>

namespace kernelmill::rpc {
namespace {

sigset_t TerminationSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

TerminationSignal::TerminationSignal() {
  const sigset_t set = TerminationSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool TerminationSignal::WaitFor(absl::Duration timeout) {
  if (received_) return true;
  const sigset_t set = TerminationSet();
  const timespec wait = absl::ToTimespec(timeout);
  if (sigtimedwait(&set, nullptr, &wait) > 0) received_ = true;
  return received_;
}

void TerminationSignal::Wait() {
  while (!WaitFor(absl::Seconds(60))) {
  }
}

}  // namespace kernelmill::rpc
