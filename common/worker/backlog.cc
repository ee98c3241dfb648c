#include "common/worker/backlog.h"

#include <algorithm>
#include <utility>

// A task passes through three states:
//
//   waiting_   leased, no slot yet                     Add   -> Take
//   running_   in a slot                               Take  -> Ran
//   unsent_    finished, or to be handed back          Ran   -> Finished; Close -> Finished
//
// Two examples of what is leased with 8 slots: at 1 ms a task, 160 tasks' worth of work fits into
// kAheadSeconds, so kMaxAhead wait; at 1 s a task, 0.16, so none waits.
namespace kernelmill::worker {
namespace {

constexpr double kAheadSeconds = 0.02;  // the work for each slot that is leased ahead
constexpr int kMaxAhead = 62;
constexpr auto kWaits = Backlog::Clock::time_point::max();  // sorts last
constexpr int kMaxUnsent = 1024;
constexpr double kNewestWeight = 0.1;  // the last task's weight in the moving average

}  // namespace

// Returns how many tasks to lease now. The idle slots need a task each. On top come `wanted` tasks
// that wait ready, as many as the slots finish in kAheadSeconds by the average duration: many if a
// task takes a millisecond, none if it takes a second. No room: results pile up because the
// coordinator does not take them, or a task must run alone.
int Backlog::RoomNow() const {
  if (closed_ || unsent_ >= kMaxUnsent || (alone_ && Held() > 0)) return 0;
  const double ahead = average_seconds_ > 0 ? slots_ * kAheadSeconds / average_seconds_ : 0;
  const int waiting = static_cast<int>(waiting_.size());
  const int idle = slots_ - static_cast<int>(running_.size()) - waiting;
  const int wanted = static_cast<int>(std::min<double>(ahead, kMaxAhead));
  // Leases again only when half of the tasks ahead are used up, so that few calls lease many tasks.
  if (idle <= 0 && waiting > wanted / 2) return 0;
  return std::max(0, std::max(idle, 0) + wanted - std::max(waiting - slots_, 0));
}

// Called by the leasing thread only. alone_ ends when there is room again, so when nothing is held.
Backlog::Room Backlog::AwaitRoom(Clock::duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return closed_ || RoomNow() > 0; });
  const Room room{std::min(RoomNow(), kMaxAhead), Held()};
  if (room.tasks > 0) alone_ = false;
  return room;
}

// The time of adding is kept: the wait for a slot is part of a task's timing.
bool Backlog::Add(const v1::LeasedTask& task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return false;
    waiting_.push_back({task, Clock::now()});
    alone_ |= task.alone();
  }
  changed_.notify_all();
  return true;
}

// The coordinator has a task for this worker that must run alone, and gives it once nothing is
// held.
void Backlog::FinishFirst() {
  std::lock_guard<std::mutex> lock(mutex_);
  alone_ = true;
}

// Called by the slots' threads. Taking a task makes room, which the leasing thread waits for.
std::optional<Backlog::Taken> Backlog::Take() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
  if (closed_) return std::nullopt;
  Waiting& next = waiting_.front();
  const Clock::time_point now = Clock::now();
  Taken taken{.task = std::move(next.task), .start = now, .waited = now - next.since};
  waiting_.pop_front();
  running_.insert(taken.start);
  lock.unlock();
  changed_.notify_all();
  return taken;
}

// running_ is a sorted multiset of starts, so that the longest-running task is the first. A waiting
// task is in it with a time later than all others; after the wait its start moves by the time that
// it waited.
bool Backlog::SetWaiting(bool waits, Taken* taken) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (waits == taken->waits_since.has_value()) return false;
  running_.erase(running_.find(waits ? taken->start : kWaits));
  if (waits) {
    taken->waits_since = Clock::now();
  } else {
    taken->start += Clock::now() - *taken->waits_since;
    taken->waits_since.reset();
  }
  running_.insert(waits ? kWaits : taken->start);
  return true;
}

// The first task sets the average; later ones move it by a tenth each.
void Backlog::Ran(Clock::time_point start) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    running_.erase(running_.find(start));
    ++unsent_;
    // `start` was moved forward by the waits, so this is the time of work.
    const std::chrono::duration<double> taken = Clock::now() - start;
    const double seconds = std::max(taken.count(), 1e-6);
    average_seconds_ = average_seconds_ == 0
                           ? seconds
                           : (1 - kNewestWeight) * average_seconds_ + kNewestWeight * seconds;
  }
  changed_.notify_all();
}

void Backlog::Finished(int results) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    unsent_ -= results;
  }
  changed_.notify_all();
}

// The caller hands the returned tasks back. Their completions count as unsent until they are sent.
std::vector<v1::LeasedTask> Backlog::Close() {
  std::vector<v1::LeasedTask> tasks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    for (Waiting& waiting : waiting_) tasks.push_back(std::move(waiting.task));
    waiting_.clear();
    unsent_ += static_cast<int>(tasks.size());  // they are handed back
  }
  changed_.notify_all();
  return tasks;
}

std::optional<Backlog::Clock::time_point> Backlog::LongestRunning() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (running_.empty() || *running_.begin() == kWaits) return std::nullopt;
  return *running_.begin();
}

}  // namespace kernelmill::worker
