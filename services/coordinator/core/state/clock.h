#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_CLOCK_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_CLOCK_H_

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace kernelmill::coordinator {

// Thread-safe.
class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  // Monotonic time: leases do not notice when somebody sets the wall clock.
  virtual Time Now() const { return std::chrono::steady_clock::now(); }
  // The wall clock, for what outlives the process: when refs were pinned.
  virtual absl::Time WallNow() const { return absl::Now(); }
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_CLOCK_H_
