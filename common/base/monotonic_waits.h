#ifndef KERNELMILL_COMMON_BASE_MONOTONIC_WAITS_H_
#define KERNELMILL_COMMON_BASE_MONOTONIC_WAITS_H_

namespace kernelmill {

// Links monotonic_waits.cc into the program, so that timed waits of Abseil, and those of gRPC with
// it, are right even when the wall clock is set. Calling it does nothing.
void KeepWaitsMonotonic();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_MONOTONIC_WAITS_H_
