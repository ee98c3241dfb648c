#ifndef KERNELMILL_COMMON_BASE_MEMORY_H_
#define KERNELMILL_COMMON_BASE_MEMORY_H_

namespace kernelmill {

// Gives memory that malloc keeps for later back to the system, if that is much: after one hostile
// file a process would otherwise stay as large as that file made it. Call it every few seconds; it
// takes milliseconds. Thread-safe.
void ReturnFreeMemory();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_MEMORY_H_
