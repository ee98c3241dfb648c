#include "services/deduplicator/core/split/hash_index.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kFilterBits = 16;  // for each entry, at least
constexpr int kMostStartBits = 24;

}  // namespace

HashIndex::HashIndex(size_t expected) : filter_(2) {
  const int bits = std::clamp(static_cast<int>(std::bit_width(expected)) - 1, 1, kMostStartBits);
  start_shift_ = 64 - bits;
  starts_.assign((size_t{1} << bits) + 1, 0);
}

void HashIndex::Add(uint64_t key, uint32_t number) {
  uint32_t& start = starts_[key >> start_shift_];
  if (is_counted_) {
    entries_[start] = {static_cast<uint32_t>(key), number};
    filter_[key >> filter_shift_] |= Bits(key);
  }
  ++start;
}

void HashIndex::EndRound() {
  if (is_counted_) {
    // This round moved each start to its end, which is the next one's start.
    std::move_backward(starts_.begin(), starts_.end() - 1, starts_.end());
    starts_[0] = 0;
    return;
  }
  is_counted_ = true;
  std::exclusive_scan(starts_.begin(), starts_.end(), starts_.begin(), uint32_t{0});
  entries_.resize(starts_.back());
  const size_t words = std::bit_ceil(std::max<size_t>(2, entries_.size() * kFilterBits / 64));
  filter_.assign(words, 0);
  filter_shift_ = 64 - std::countr_zero(words);
}

}  // namespace kernelmill::deduplicator
