#ifndef KERNELMILL_COMMON_BASE_CLOCK_H_
#define KERNELMILL_COMMON_BASE_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace kernelmill {

// Time since a moment that stays the same while the process runs. Setting the wall clock does not
// change it, unlike absl::Now().
inline absl::Duration MonotonicNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_CLOCK_H_
