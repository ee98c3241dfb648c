#include "common/worker/lease_renewer.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

// A lease ends at the coordinator after its time to live unless it is renewed, so that tasks of a
// dead worker run elsewhere. One thread renews all leases of the worker, those that are due in one
// call. A third of the time to live as the period leaves room for two failed calls.
//
// A lease is named by its task and a token. The token changes with each lease of the task, so that
// a late message about an old lease cannot hit a new one. The coordinator answers with the leases
// that it does not have any more (cancelled, or given to another worker); their stop tokens are
// triggered, and threads that wait for lost_ wake up.
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

// Wakes the thread only if it would sleep past the new lease's time.
void LeaseRenewer::Hold(const v1::LeasedTask& task) {
  {
    absl::MutexLock lock(&mutex_);
    Held held;
    held.token = task.token();
    held.period =
        std::min(std::chrono::milliseconds(std::max(1, task.ttl_ms() / 3)), kLongestPeriod);
    held.due = std::chrono::steady_clock::now() + held.period;
    held_[task.task()] = held;
    // The thread wakes in time anyway.
    if (held.due >= next_wake_) return;
  }
  wake_.Notify();
}

void LeaseRenewer::Release(const v1::LeaseRef& lease) {
  absl::MutexLock lock(&mutex_);
  const auto at = held_.find(lease.task());
  if (at != held_.end() && at->second.token == lease.token()) held_.erase(at);
}

// Makes the lease due at once, so that the coordinator shows soon what its task waits for.
void LeaseRenewer::SetWaiting(const v1::LeaseRef& lease, const std::string& waits_for) {
  {
    absl::MutexLock lock(&mutex_);
    const auto at = held_.find(lease.task());
    if (at == held_.end() || at->second.token != lease.token()) return;
    // Called for each retry; only a change is told.
    if (at->second.waits_for == waits_for) return;
    at->second.waits_for = waits_for;
    at->second.due = std::chrono::steady_clock::now();
  }
  wake_.Notify();
}

// A lease that is not held at all counts as lost: it was released, or replaced by a newer one.
bool LeaseRenewer::IsLost(const v1::LeaseRef& lease) const {
  absl::MutexLock lock(&mutex_);
  const auto at = held_.find(lease.task());
  return given_up_ || at == held_.end() || at->second.token != lease.token() || at->second.lost;
}

// A lost lease gives a token that is stopped already, so the stage ends at its first look.
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

// Marks all leases as lost and returns them. From then on IsLost is true for any lease.
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

// Groups the leases that are due by what their tasks wait for, since one call carries one such
// text. The next time is set before the call: a failed call is repeated after a period.
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

// Notes in next_wake_ how long the thread will sleep, by which Hold decides whether to wake it.
absl::Duration LeaseRenewer::UntilDue(Time now) {
  absl::MutexLock lock(&mutex_);
  absl::Duration wait = kIdle;
  // Linear in the leases, which are a few hundred at most.
  for (const auto& [task, held] : held_) {
    if (!held.lost) wait = std::min(wait, absl::FromChrono(held.due - now));
  }
  wait = std::max(wait, absl::Milliseconds(1));
  next_wake_ = now + absl::ToChronoNanoseconds(wait);
  return wait;
}

// A failed call changes nothing: leases may still be valid at the coordinator.
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
