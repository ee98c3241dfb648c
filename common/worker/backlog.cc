#include "common/worker/backlog.h"

#include <algorithm>
#include <utility>

namespace kernelmill::worker {
namespace {

constexpr double kAheadSeconds = 0.02;  // the work for each slot that is leased ahead
constexpr int kMaxAhead = 62;
constexpr auto kWaits = Backlog::Clock::time_point::max();  // sorts last
constexpr int kMaxUnsent = 1024;
constexpr double kNewestWeight = 0.1;  // the last task's weight in the moving average

}  // namespace

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

Backlog::Room Backlog::AwaitRoom(Clock::duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return closed_ || RoomNow() > 0; });
  const Room room{std::min(RoomNow(), kMaxAhead), Held()};
  if (room.tasks > 0) alone_ = false;
  return room;
}

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

void Backlog::FinishFirst() {
  std::lock_guard<std::mutex> lock(mutex_);
  alone_ = true;
}

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

void Backlog::Ran(Clock::time_point start) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    running_.erase(running_.find(start));
    ++unsent_;
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
