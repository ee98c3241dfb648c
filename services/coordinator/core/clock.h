#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_CLOCK_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_CLOCK_H_

#include <chrono>

namespace kernelmill::coordinator {

// Monotonic time: leases do not notice when somebody sets the wall clock. Thread-safe.
class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  virtual Time Now() const { return std::chrono::steady_clock::now(); }
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_CLOCK_H_
