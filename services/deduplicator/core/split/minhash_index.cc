#include "services/deduplicator/core/split/minhash_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace kernelmill::deduplicator {
namespace {

constexpr int kBands = 160;
constexpr double kMissed = 1e-6;  // share of the pairs at the threshold
// By which the share of agreeing values may be below the similarity: more than eight standard
// deviations.
constexpr double kSlack = 0.35;

}  // namespace

MinHashIndex::MinHashIndex(double threshold)
    : bands_(ManyBandsFor(threshold, kBands, kMissed)),
      least_agreeing_(static_cast<int>(std::ceil((threshold - kSlack) * kPermutations))) {}

// The first round counts the entries of each start, the second fills them in.
void MinHashIndex::Build() {
  const size_t entries = size() * static_cast<size_t>(bands_.count());
  const int bits = std::clamp(static_cast<int>(std::bit_width(entries)), 1, 24);
  start_shift_ = 64 - bits;
  starts_.assign((size_t{1} << bits) + 1, 0);
  entries_.resize(entries);
  for (const bool counting : {true, false}) {
    for (uint32_t slot = 0; slot < size(); ++slot) {
      for (int band = 0; band < bands_.count(); ++band) {
        const uint64_t bucket = bands_.GetBucket(band, values_[slot]);
        uint32_t& start = starts_[bucket >> start_shift_];
        if (!counting) entries_[start] = {static_cast<uint32_t>(bucket), slot};
        ++start;
      }
    }
    if (counting) {
      std::exclusive_scan(starts_.begin(), starts_.end(), starts_.begin(), uint32_t{0});
    }
  }
  // The second round moved each start to its end, which is the next one's start.
  std::move_backward(starts_.begin(), starts_.end() - 1, starts_.end());
  starts_[0] = 0;
  for (const MinHashValues& values : values_) sketches_.push_back(MakeSketch(values));
  values_ = {};
  met_by_.assign(size(), 0);
}

// The look-ups wait for memory, not for each other.
void MinHashIndex::Find(const MinHashValues& values, std::vector<uint32_t>* found) {
  if (sets_.empty()) return;
  buckets_.clear();
  for (int band = 0; band < bands_.count(); ++band) {
    buckets_.push_back(bands_.GetBucket(band, values));
    __builtin_prefetch(&starts_[buckets_.back() >> start_shift_]);
  }
  for (const uint64_t bucket : buckets_) {
    __builtin_prefetch(&entries_[starts_[bucket >> start_shift_]]);
  }
  const Sketch sketch = MakeSketch(values);
  ++finds_;
  for (const uint64_t bucket : buckets_) {
    const uint32_t end = starts_[(bucket >> start_shift_) + 1];
    for (uint32_t i = starts_[bucket >> start_shift_]; i < end; ++i) {
      const Entry entry = entries_[i];
      if (entry.key != static_cast<uint32_t>(bucket)) continue;
      if (std::exchange(met_by_[entry.slot], finds_) == finds_) continue;
      if (CountAgreeing(sketch, sketches_[entry.slot]) < least_agreeing_) continue;
      found->push_back(sets_[entry.slot]);
    }
  }
}

}  // namespace kernelmill::deduplicator
