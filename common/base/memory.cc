#include "common/base/memory.h"

#include <malloc.h>

namespace kernelmill {

void ReturnFreeMemory(size_t kept) {
  if (::mallinfo2().fordblks > kept) ::malloc_trim(0);
}

}  // namespace kernelmill
