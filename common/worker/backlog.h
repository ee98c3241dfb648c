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

// The tasks that a worker holds: waiting for a slot, running, or finished with a result that is not
// sent yet. Thread-safe; waits use the monotonic clock.
//
// The basic idea: the number of tasks leased ahead depends on how long tasks take. Short tasks are
// leased in batches, so that no slot waits for the coordinator. Long tasks are not leased ahead, so
// that another worker can run them.
class Backlog {
 public:
  using Clock = std::chrono::steady_clock;
  // `slots`: the number of tasks that run at a time.
  explicit Backlog(int slots) : slots_(slots) {}

  struct Room {
    int tasks = 0;  // how many to lease; 0: the time is up, or the backlog is closed
    int held = 0;   // how many it holds
  };
  // Waits at most `timeout` until there is room for more tasks.
  Room AwaitRoom(Clock::duration timeout);
  // Adds a task. After a task that must run alone there is no room until nothing is held. Returns
  // false if the backlog is closed and the task was not added.
  bool Add(const v1::LeasedTask& task);
  // Leaves no room until nothing is held.
  void FinishFirst();

  struct Taken {
    v1::LeasedTask task;
    Clock::time_point start;
    Clock::duration waited{};  // in the backlog
    std::optional<Clock::time_point> waits_since = std::nullopt;
  };
  // Waits for a task to run. Returns nothing if the backlog is closed.
  std::optional<Taken> Take();
  // Notes whether the running task waits for the store. Waiting does not count as running time:
  // `start` moves forward. Returns whether this is a change.
  bool SetWaiting(bool waits, Taken* taken);
  // Notes that a task which was taken at `start` has run; its result is not sent yet.
  void Ran(Clock::time_point start);
  // Notes that results were sent or dropped.
  void Finished(int results);

  // Closes the backlog and returns the waiting tasks.
  std::vector<v1::LeasedTask> Close();
  // Returns when the longest running task was taken; nothing if no task runs.
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
  std::multiset<Clock::time_point> running_;  // by start; kWaits for tasks that wait for the store
  int unsent_ = 0;
  bool alone_ = false;          // no room until nothing is held
  double average_seconds_ = 0;  // moving average of the running time; 0: no task has run
  bool closed_ = false;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_BACKLOG_H_
