#ifndef KERNELMILL_COMMON_WORKER_LAP_TIMER_H_
#define KERNELMILL_COMMON_WORKER_LAP_TIMER_H_

#include <chrono>
#include <cstdint>

namespace kernelmill::worker {

// How long each of several things took that follow each other. Not thread-safe.
class LapTimer {
 public:
  // Microseconds since the last call, or since it was made.
  int64_t Lap() {
    const auto now = std::chrono::steady_clock::now();
    const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(now - last_);
    last_ = now;
    return taken.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_LAP_TIMER_H_
