#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_CLOCK_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_CLOCK_H_

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace kernelmill::coordinator {

// The clocks of the coordinator, which tests replace. Thread-safe.
class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  // Returns monotonic time, so that setting the wall clock does not affect leases.
  virtual Time Now() const { return std::chrono::steady_clock::now(); }
  // Returns the wall clock's time, for records that outlive the process.
  virtual absl::Time WallNow() const { return absl::Now(); }
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_CLOCK_H_
