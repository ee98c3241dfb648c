#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_HUGE_ARRAY_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_HUGE_ARRAY_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace kernelmill::deduplicator {

// An allocator that asks the system for huge pages for large arrays. Look-ups at random places of
// some hundred MiB otherwise wait as much for the addresses of pages as for the memory.
template <typename T>
struct HugeAllocator {
  using value_type = T;

  HugeAllocator() = default;
  template <typename Other>
  HugeAllocator(const HugeAllocator<Other>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    madvise(at, bytes, MADV_HUGEPAGE);  // a system without them does as it can
    return static_cast<T*>(at);
  }
  void deallocate(T* at, size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return ::operator delete(at);
    munmap(at, bytes);
  }

  bool operator==(const HugeAllocator&) const { return true; }

 private:
  static constexpr size_t kLarge = size_t{4} << 20;
};

template <typename T>
using HugeArray = std::vector<T, HugeAllocator<T>>;

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_HUGE_ARRAY_H_
