#include "common/base/memory.h"

#include <malloc.h>

#include <cstddef>

namespace kernelmill {
namespace {

// The bytes that malloc may keep: the next task takes about as much.
constexpr size_t kKept = 64 << 20;

}  // namespace

void ReturnFreeMemory() {
  if (::mallinfo2().fordblks > kKept) ::malloc_trim(0);
}

}  // namespace kernelmill
