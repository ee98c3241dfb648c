#ifndef KERNELMILL_COMMON_BASE_LOCKS_H_
#define KERNELMILL_COMMON_BASE_LOCKS_H_

namespace kernelmill {

// Ends the search for deadlocks by Abseil in this process. Call it first in main(). Tests do not
// call it, so that a cycle of locks aborts them.
//
// Abseil searches unless it was built with NDEBUG, and Debian builds it without. Each lock of a
// mutex, also of gRPC's, then takes one spin lock of the whole process and looks into a graph. On
// many cores that takes more time than the calls.
void EndDeadlockSearch();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_LOCKS_H_
