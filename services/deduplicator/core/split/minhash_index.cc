// The basic idea: the keys of one band are next to each other, and bands are added one after
// another. So what is written at a time is small enough for the cache. For that, the values lie in
// columns.

#include "services/deduplicator/core/split/minhash_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/types/span.h"

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

// Hashes the values of a band; value(place) is one of them.
template <typename GetValue>
uint64_t MinHashIndex::MakeKey(int band, GetValue value) const {
  const absl::Span<const uint8_t> places = bands_.GetPlaces(band);
  uint64_t hash = 0;
  for (size_t i = 0; i < places.size();) {
    uint64_t four = 0;
    for (const size_t end = std::min(i + 4, places.size()); i < end; ++i) {
      four = four << 16 | value(places[i]);
    }
    hash = (hash ^ four) * 0xd6e8feb86659fd93;
    hash ^= hash >> 32;
  }
  return std::numeric_limits<uint64_t>::max() / kBands * band + hash / kBands;
}

void MinHashIndex::Add(uint32_t set, const MinHashValues& values) {
  sets_.push_back(set);
  sketches_.push_back(MakeSketch(values));
  for (int i = 0; i < kPermutations; ++i) columns_[i].push_back(values[i]);
}

void MinHashIndex::Build() {
  buckets_ = HashIndex(size() * kBands);
  for (int round = 0; round < 2; ++round) {
    for (int band = 0; band < kBands; ++band) {
      for (uint32_t i = 0; i < size(); ++i) {
        buckets_.Add(MakeKey(band, [&](uint8_t place) { return columns_[place][i]; }), i);
      }
    }
    buckets_.EndRound();
  }
  columns_ = {};
  met_by_.assign(size(), 0);
}

// The look-ups wait for memory, not for each other.
void MinHashIndex::Find(const MinHashValues& values, std::vector<uint32_t>* found) {
  if (sets_.empty()) return;
  keys_.clear();
  for (int band = 0; band < kBands; ++band) {
    keys_.push_back(MakeKey(band, [&](uint8_t place) { return values[place]; }));
    buckets_.PrefetchMayHave(keys_.back());
  }
  const auto is_empty = [this](uint64_t key) { return !buckets_.MayHave(key); };
  keys_.erase(std::remove_if(keys_.begin(), keys_.end(), is_empty), keys_.end());
  for (const uint64_t key : keys_) buckets_.PrefetchForEach(key);
  if (keys_.empty()) return;
  const Sketch sketch = MakeSketch(values);
  ++finds_;
  for (const uint64_t key : keys_) {
    buckets_.ForEach(key, [&](uint32_t i) {
      if (std::exchange(met_by_[i], finds_) == finds_) return;
      if (CountAgreeing(sketch, sketches_[i]) >= least_agreeing_) found->push_back(sets_[i]);
    });
  }
}

}  // namespace kernelmill::deduplicator
