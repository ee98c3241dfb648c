#include "common/worker/lease_renewer.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace kernelmill::worker {
namespace {

// The thread's sleep while no lease is held.
constexpr absl::Duration kIdle = absl::Seconds(60);
// The longest time until a worker learns that a task was cancelled.
constexpr std::chrono::milliseconds kLongestPeriod = std::chrono::seconds(3);

}  // namespace

LeaseRenewer::LeaseRenewer(WorkQueue& queue, std::string worker)
    : queue_(queue), worker_(std::move(worker)), thread_([this] { Run(); }) {}

LeaseRenewer::~LeaseRenewer() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.Notify();
  thread_.join();
}

void LeaseRenewer::Hold(const v1::LeasedTask& task) {
  {
    absl::MutexLock lock(&mutex_);
    Held held;
    held.token = task.token();
    held.period =
        std::min(std::chrono::milliseconds(std::max(1, task.ttl_ms() / 3)), kLongestPeriod);
    held.due = std::chrono::steady_clock::now() + held.period;
    held_[task.task()] = held;
    if (held.due >= next_wake_) return;
  }
  wake_.Notify();
}

void LeaseRenewer::Release(const v1::LeaseRef& lease) {
  absl::MutexLock lock(&mutex_);
  const auto at = held_.find(lease.task());
  if (at != held_.end() && at->second.token == lease.token()) held_.erase(at);
}

void LeaseRenewer::SetWaiting(const v1::LeaseRef& lease, const std::string& waits_for) {
  {
    absl::MutexLock lock(&mutex_);
    const auto at = held_.find(lease.task());
    if (at == held_.end() || at->second.token != lease.token()) return;
    if (at->second.waits_for == waits_for) return;
    at->second.waits_for = waits_for;
    at->second.due = std::chrono::steady_clock::now();
  }
  wake_.Notify();
}

bool LeaseRenewer::IsLost(const v1::LeaseRef& lease) const {
  absl::MutexLock lock(&mutex_);
  const auto at = held_.find(lease.task());
  return given_up_ || at == held_.end() || at->second.token != lease.token() || at->second.lost;
}

std::stop_token LeaseRenewer::GetStopToken(const v1::LeaseRef& lease) const {
  if (!IsLost(lease)) {
    absl::MutexLock lock(&mutex_);
    const auto at = held_.find(lease.task());
    if (at != held_.end()) return at->second.stop.get_token();
  }
  std::stop_source stopped;
  stopped.request_stop();
  return stopped.get_token();
}

std::vector<v1::LeaseRef> LeaseRenewer::GiveUp() {
  std::vector<v1::LeaseRef> leases;
  std::vector<std::stop_source> stops;
  {
    absl::MutexLock lock(&mutex_);
    given_up_ = true;
    for (auto& [task, held] : held_) {
      if (std::exchange(held.lost, true)) continue;
      v1::LeaseRef& lease = leases.emplace_back();
      lease.set_task(task);
      lease.set_token(held.token);
      stops.push_back(held.stop);
    }
  }
  for (std::stop_source& stop : stops) stop.request_stop();
  lost_.Notify();
  return leases;
}

void LeaseRenewer::Run() {
  while (true) {
    const uint64_t seen = wake_.generation();
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
    }
    const Time now = std::chrono::steady_clock::now();
    const Due due = TakeDue(now);
    if (due.empty()) wake_.WaitFor(seen, UntilDue(now));
    for (const auto& [waits_for, leases] : due) Renew(leases, waits_for);
  }
}

LeaseRenewer::Due LeaseRenewer::TakeDue(Time now) {
  absl::MutexLock lock(&mutex_);
  Due due;
  for (auto& [task, held] : held_) {
    if (held.lost || held.due > now) continue;
    held.due = now + held.period;
    v1::LeaseRef& lease = due[held.waits_for].emplace_back();
    lease.set_task(task);
    lease.set_token(held.token);
  }
  return due;
}

absl::Duration LeaseRenewer::UntilDue(Time now) {
  absl::MutexLock lock(&mutex_);
  absl::Duration wait = kIdle;
  for (const auto& [task, held] : held_) {
    if (!held.lost) wait = std::min(wait, absl::FromChrono(held.due - now));
  }
  wait = std::max(wait, absl::Milliseconds(1));
  next_wake_ = now + absl::ToChronoNanoseconds(wait);
  return wait;
}

void LeaseRenewer::Renew(const std::vector<v1::LeaseRef>& leases, const std::string& waits_for) {
  v1::RenewRequest request;
  request.set_worker(worker_);
  for (const v1::LeaseRef& lease : leases) *request.add_leases() = lease;
  const absl::StatusOr<v1::RenewResponse> response = queue_.Renew(request, waits_for);
  if (!response.ok()) {
    LogWarning("cannot renew leases; retrying", {{"error", response.status().ToString()}});
    return;
  }
  if (response->lost().empty()) return;
  std::vector<std::stop_source> stops;
  {
    absl::MutexLock lock(&mutex_);
    for (const v1::LeaseRef& lease : response->lost()) {
      const auto at = held_.find(lease.task());
      if (at == held_.end() || at->second.token != lease.token()) continue;
      at->second.lost = true;
      stops.push_back(at->second.stop);
    }
  }
  for (std::stop_source& stop : stops)
    stop.request_stop();  // may run callbacks, so without the lock
  lost_.Notify();
}

}  // namespace kernelmill::worker
