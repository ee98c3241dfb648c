#ifndef KERNELMILL_COMMON_BASE_NOTIFIER_H_
#define KERNELMILL_COMMON_BASE_NOTIFIER_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "absl/time/time.h"

namespace kernelmill {

// An event that wakes waiting threads. A waiter reads generation(), then reads the state it waits
// for, then waits with that generation, so that a change in between is not lost. Waits use the
// monotonic clock; absl's condition variables use the wall clock, which may jump. Thread-safe.
class Notifier {
 public:
  uint64_t generation() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return generation_;
  }

  void Notify() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++generation_;
    }
    changed_.notify_all();
  }

  // Waits until the generation differs from `seen`, for at most `timeout` or a day.
  void WaitFor(uint64_t seen, absl::Duration timeout) const {
    std::unique_lock<std::mutex> lock(mutex_);
    // Bounded, since the sum with the current time could overflow.
    changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24))),
                      [&] { return generation_ != seen; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t generation_ = 0;
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_NOTIFIER_H_
