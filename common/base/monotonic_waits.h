#ifndef KERNELMILL_COMMON_BASE_MONOTONIC_WAITS_H_
#define KERNELMILL_COMMON_BASE_MONOTONIC_WAITS_H_

namespace kernelmill {

// Links monotonic_waits.cc into the program: from its start on, timed waits of Abseil, and so those
// of gRPC, take as long as they should although somebody sets the wall clock. Does nothing else.
void KeepWaitsMonotonic();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_MONOTONIC_WAITS_H_
