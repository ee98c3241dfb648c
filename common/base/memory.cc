#include "common/base/memory.h"

#ifdef KERNELMILL_SANITIZE
#include <malloc.h>
#else
#include <gperftools/malloc_extension_c.h>
#endif

namespace kernelmill {

#ifdef KERNELMILL_SANITIZE
void ReturnFreeMemory(size_t kept) {
  if (::mallinfo2().fordblks > kept) ::malloc_trim(0);
}
#else
void ReturnFreeMemory(size_t kept) {
  size_t bytes = 0;
  const bool known =
      ::MallocExtension_GetNumericProperty("tcmalloc.pageheap_free_bytes", &bytes) != 0;
  if (!known || bytes > kept) ::MallocExtension_ReleaseFreeMemory();
}
#endif

}  // namespace kernelmill
