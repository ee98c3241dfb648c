#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_HASH_SORT_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_HASH_SORT_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kernelmill::deduplicator {

// A stable sort by a 64-bit key, ascending, that is made for keys that are hashes.
//
// The basic idea: hashes are spread evenly. So their upper bits alone distribute n items over n
// buckets with about one item each, in one pass; what is left is sorted within the buckets. Keys
// that are not spread evenly still sort correctly, with a pass per eleven bits, at most six.
template <typename T, typename GetKey>
class HashSorter {
 public:
  explicit HashSorter(GetKey key) : key_(key) {}

  void Sort(absl::Span<T> items) {
    scratch_.resize(items.size());
    SortFrom(items, 0);
  }

 private:
  static constexpr size_t kFew = 24;    // insertion sort is faster up to this size
  static constexpr int kMostBits = 11;  // the bucket table then fits the L1 cache

  // Sorts items whose keys agree in the upper `done` bits.
  void SortFrom(absl::Span<T> items, int done) {
    if (items.size() <= kFew) return SortFew(items);
    if (done == 64) return;
    const int bits =
        std::min({static_cast<int>(std::bit_width(items.size())), kMostBits, 64 - done});
    std::array<uint32_t, (1 << kMostBits) + 1> starts;
    Distribute(items, 64 - done - bits, bits, starts.data());
    for (size_t bucket = 0; bucket < size_t{1} << bits; ++bucket) {
      const size_t size = starts[bucket + 1] - starts[bucket];
      if (size > 1) SortFrom(items.subspan(starts[bucket], size), done + bits);
    }
  }

  // Orders the items by `bits` bits of their keys; bucket d becomes [starts[d], starts[d + 1]).
  void Distribute(absl::Span<T> items, int shift, int bits, uint32_t* starts) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    std::array<uint32_t, 1 << kMostBits> next;
    std::fill(next.begin(), next.begin() + (size_t{1} << bits), 0);
    for (const T& item : items) ++next[(key_(item) >> shift) & mask];
    uint32_t start = 0;
    for (size_t bucket = 0; bucket <= mask; ++bucket) {
      starts[bucket] = start;
      start += next[bucket];
      next[bucket] = starts[bucket];
    }
    starts[mask + 1] = start;
    for (const T& item : items) scratch_[next[(key_(item) >> shift) & mask]++] = item;
    std::copy(scratch_.begin(), scratch_.begin() + items.size(), items.begin());
  }

  void SortFew(absl::Span<T> items) {
    for (size_t i = 1; i < items.size(); ++i) {
      const T item = items[i];
      size_t at = i;
      for (; at > 0 && key_(item) < key_(items[at - 1]); --at) items[at] = items[at - 1];
      items[at] = item;
    }
  }

  const GetKey key_;
  std::vector<T> scratch_;
};

// Sorts fewer than 2^32 items by key(item).
template <typename T, typename GetKey>
void SortByHash(absl::Span<T> items, GetKey key) {
  HashSorter<T, GetKey>(key).Sort(items);
}

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_HASH_SORT_H_
