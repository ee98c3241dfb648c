#ifndef KERNELMILL_COMMON_WORKER_BACKLOG_H_
#define KERNELMILL_COMMON_WORKER_BACKLOG_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// The tasks that a worker has leased and not handed in yet: those that wait for a slot, those that
// run, and those whose results are on their way.
//
// How many are leased ahead follows from how long tasks take: short ones are leased in batches, so
// that no slot waits for the coordinator; of long ones none waits here that another worker could
// run. Thread-safe; waits run on the monotonic clock.
class Backlog {
 public:
  using Clock = std::chrono::steady_clock;
  // `slots`: tasks that run at a time.
  explicit Backlog(int slots) : slots_(slots) {}

  struct Room {
    int tasks = 0;  // to lease; 0: the time is up, or it is closed
    int held = 0;
  };
  // Waits until there is room for more tasks, at most `timeout`.
  Room AwaitRoom(Clock::duration timeout);
  // A task that must run alone leaves no room until nothing is held. False: it is closed, and the
  // task was not taken.
  bool Add(const v1::LeasedTask& task);
  // There is no room until nothing is held.
  void FinishFirst();

  struct Taken {
    v1::LeasedTask task;
    Clock::time_point start;
    Clock::duration waited{};  // before that
    std::optional<Clock::time_point> waits_since = std::nullopt;
  };
  // Waits for a task to run. None: it is closed.
  std::optional<Taken> Take();
  // The task waits for what it needs, or no longer: while it does it does not run, and `start`
  // moves on with it. Returns whether that is news.
  bool SetWaiting(bool waits, Taken* taken);
  // A task that was taken at `start` has run; its result is on its way.
  void Ran(Clock::time_point start);
  // Results were handed in, or dropped.
  void Finished(int results);

  // Nothing is added or taken any more. Returns the tasks that waited.
  std::vector<v1::LeasedTask> Close();
  // When the task that has run longest was taken; none: nothing runs.
  std::optional<Clock::time_point> LongestRunning() const;

 private:
  int Held() const { return static_cast<int>(waiting_.size() + running_.size()) + unsent_; }
  int RoomNow() const;

  struct Waiting {
    v1::LeasedTask task;
    Clock::time_point since;
  };

  const int slots_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::multiset<Clock::time_point> running_;  // by start; kWaits of those that wait
  int unsent_ = 0;
  bool alone_ = false;          // until nothing is held
  double average_seconds_ = 0;  // of the last tasks; 0: none has run
  bool closed_ = false;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_BACKLOG_H_
