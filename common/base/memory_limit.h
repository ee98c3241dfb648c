#ifndef KERNELMILL_COMMON_BASE_MEMORY_LIMIT_H_
#define KERNELMILL_COMMON_BASE_MEMORY_LIMIT_H_

#include <cstdint>

namespace kernelmill {

// Returns how many bytes of memory this process may have: the least of the machine's memory and the
// limits of its control groups, of version 1 or 2.
int64_t MemoryLimit();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_MEMORY_LIMIT_H_
