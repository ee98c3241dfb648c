#ifndef KERNELMILL_COMMON_BASE_MEMORY_H_
#define KERNELMILL_COMMON_BASE_MEMORY_H_

#include <cstddef>

namespace kernelmill {

// The bytes that malloc may keep between tasks: the next one takes about as much.
inline constexpr size_t kKeptBetweenTasks = 64 << 20;

// Gives memory that malloc keeps for later back to the system, if it keeps more than `kept` bytes:
// after one hostile file a process would otherwise stay as large as that file made it. Takes
// milliseconds, so call it every few seconds. Thread-safe.
void ReturnFreeMemory(size_t kept);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_MEMORY_H_
