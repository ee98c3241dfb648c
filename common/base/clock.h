#ifndef KERNELMILL_COMMON_BASE_CLOCK_H_
#define KERNELMILL_COMMON_BASE_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace kernelmill {

// Returns the monotonic time since a fixed moment. Unlike absl::Now(), it does not change when the
// wall clock is set.
inline absl::Duration MonotonicNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// Links clock.cc into the program, so that timed waits of Abseil, and those of gRPC with it, are
// right even when the wall clock is set. Calling it does nothing.
void KeepWaitsMonotonic();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_CLOCK_H_
