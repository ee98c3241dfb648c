// The basic idea: this is the prefix filter of exact set similarity joins (Chaudhuri, Ganti and
// Kaushik 2006; AllPairs, Bayardo, Ma and Srikant 2007; PPJoin's additions are not needed here).
//
// If J(x, y) >= t, then x and y have at least o(x) hashes in common, where o(x) = t |x| rounded up:
// they have t |x u y| in common, and x u y is no smaller than x. Sort all hashes by any fixed
// order, and call the first |x| - o(x) + 1 hashes of x its prefix. Then the prefixes of x and y
// share a hash. Proof: assume that they do not, and that x's prefix ends before y's in that order.
// A hash of x's prefix that is in y would be in y's prefix; so y has none of them. The rest of x is
// o(x) - 1 hashes: too few.
//
// So it is enough to look up prefixes in an index of prefixes, and to compare the sets that meet
// there. The fewest sets meet if the order puts rare hashes first. Rarity is counted among the
// added sets, up to kCommon, by a hash's lower bits: two bits a count, so that the counts of a
// million kernels are 16 MiB. Ties are broken by the hash itself, so that this is one fixed order,
// and the result does not depend on it. Hashes of a probing set that no added set has come first
// and are not looked up. Most sets are similar to nothing; for them, counting their hashes is all
// the work.
//
// One hash that is in both prefixes says little. So a probe counts first how many hashes its prefix
// shares with that of each set that it meets. Take the prefix of the two that ends first: what the
// sets share beyond the counted hashes lies behind it. So they share at most the count and the
// longer of the two rests. Only sets that may then reach the threshold are compared: of equal size,
// they share two fifths of their prefixes. The final comparison is of the whole sets, so that every
// reported pair is real.
//
// Among many sets no hash is rare, and a look-up would meet the more of them the more there are. So
// hashes that kCommon added sets have are not looked up. They come last in the order, so that a set
// knows by its prefix whether it needs any. If two sets both do, their MinHashes bring them
// together (minhash_index.h); all other pairs share a hash that is not common, and are found by it.
// So there are two indexes: a set with common hashes is looked for in the one of sets without.
// MinHashes are the cheaper way where hashes are in several sets: nearly all of their look-ups find
// nothing, and those read one word.

#include "services/deduplicator/core/split/set_join.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "common/base/status.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/split/huge_array.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kLeastCells = size_t{1} << 10;
constexpr size_t kMostCells = size_t{1} << 26;  // 16 MiB

}  // namespace

uint32_t LeastCommon(size_t size, double threshold) {
  const auto total = static_cast<uint32_t>(size);
  auto common = static_cast<uint32_t>(std::ceil(threshold * static_cast<double>(size)));
  // Corrects the rounding to agree with Similarity(), which makes the final decision.
  while (common > 1 && Similarity({common - 1, total}) >= threshold) --common;
  while (common < total && Similarity({common, total}) < threshold) ++common;
  return std::max(common, 1u);
}

absl::Status SetJoin::Add(absl::Span<const uint64_t> set) {
  hashes_ += set.size();
  added_.push_back({static_cast<uint32_t>(set.size()), 0});
  return sets_.Add(set);
}

// Hashes that no added set has come first: if they fill the prefix, nothing can be similar, and the
// rest of the set is not looked at. Then come those of one set, and those of two.
SetJoin::Prefix SetJoin::TakePrefix(absl::Span<const uint64_t> set) {
  prefix_.clear();
  const uint32_t least = LeastCommon(set.size(), threshold_);
  if (set.size() < least) return {};
  size_t length = set.size() - least + 1;
  std::array<uint64_t*, kCommon + 1> ends;
  for (size_t i = 0; i < ends.size(); ++i) {
    by_count_[i].resize(std::max(by_count_[i].size(), set.size()));
    ends[i] = by_count_[i].data();
  }
  const uint64_t* const enough = ends[0] + length;
  for (const uint64_t hash : set) {
    *ends[GetCount(hash)]++ = hash;
    if (ends[0] == enough) return {};
  }
  length -= static_cast<size_t>(ends[0] - by_count_[0].data());
  for (size_t i = 1; i < kCommon; ++i) {
    for (const uint64_t* at = by_count_[i].data(); at < ends[i] && prefix_.size() < length; ++at) {
      prefix_.push_back(HashIndex::MakeKey(*at));
    }
  }
  return {least - 1, prefix_.size() < length};
}

// Counts the hashes by their lower bits, up to kCommon. A count that is too high costs time alone.
absl::Status SetJoin::CountHashes() {
  HugeArray<uint8_t> counts(std::clamp(std::bit_ceil(hashes_), kLeastCells, kMostCells));
  cell_mask_ = counts.size() - 1;
  for (size_t i = 0; i < size(); ++i) {
    ASSIGN_OR_RETURN(const auto set, sets_.Get(i, &buffer_));
    for (const uint64_t hash : set) {
      uint8_t& count = counts[hash & cell_mask_];
      count += count < kCommon;
    }
  }
  counts_.assign(counts.size() / kCountsPerWord, 0);
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    counts_[cell / kCountsPerWord] |= uint64_t{counts[cell]} << (cell % kCountsPerWord * 2);
  }
  return absl::OkStatus();
}

// Indexes the prefix of each set. It reads the sets twice, since prefixes together are too much to
// hold.
absl::Status SetJoin::Build() {
  RETURN_IF_ERROR(CountHashes());
  const auto expected = static_cast<size_t>((1 - threshold_) * static_cast<double>(hashes_));
  rare_ = HashIndex(expected);
  mixed_ = HashIndex(expected);
  for (const bool is_first : {true, false}) {
    for (uint32_t i = 0; i < size(); ++i) {
      ASSIGN_OR_RETURN(const auto set, sets_.Get(i, &buffer_));
      const Prefix prefix = TakePrefix(set);
      added_[i].rest = prefix.rest;
      if (is_first && prefix.has_common) common_.Add(i, MinHash(set));
      HashIndex& index = prefix.has_common ? mixed_ : rare_;
      for (const uint64_t key : prefix_) index.Add(key, i);
    }
    rare_.EndRound();
    mixed_.EndRound();
  }
  common_.Build();
  return absl::OkStatus();
}

// Returns false if what the prefixes share rules out the threshold.
bool SetJoin::MayReach(const Added& added, size_t size, uint32_t rest) const {
  const auto all = static_cast<uint32_t>(size + added.size);
  const uint32_t most =
      std::min({added.met + std::max(added.rest, rest), added.size, static_cast<uint32_t>(size)});
  return Similarity({most, all - most}) >= threshold_;
}

// Counts what each set's prefix shares with this one's, and lists the sets that share any.
void SetJoin::MeetIn(const HashIndex& index) {
  if (index.size() == 0) return;
  keys_.clear();
  for (const uint64_t key : prefix_) index.PrefetchMayHave(key);
  for (const uint64_t key : prefix_) {
    if (!index.MayHave(key)) continue;
    index.PrefetchForEach(key);
    keys_.push_back(key);
  }
  for (const uint64_t key : keys_) {
    index.ForEach(key, [this](uint32_t i) {
      if (added_[i].met++ == 0) met_.push_back(i);
    });
  }
}

// Fills `met_` with the sets that share enough of the prefix, and resets the counters. Two sets
// with common hashes are left to their MinHashes.
void SetJoin::MeetByRare(absl::Span<const uint64_t> set, const Prefix& prefix) {
  met_.clear();
  MeetIn(rare_);
  if (!prefix.has_common) MeetIn(mixed_);
  const auto cannot_reach = [&](uint32_t i) {
    const bool may = MayReach(added_[i], set.size(), prefix.rest);
    added_[i].met = 0;
    return !may;
  };
  met_.erase(std::remove_if(met_.begin(), met_.end(), cannot_reach), met_.end());
}

// Calls `found` for each wanted set that is similar to `set`.
absl::Status SetJoin::Probe(absl::Span<const uint64_t> set,
                            absl::FunctionRef<bool(uint32_t)> wanted,
                            absl::FunctionRef<void(uint32_t)> found) {
  const Prefix prefix = TakePrefix(set);
  MeetByRare(set, prefix);
  if (prefix.has_common && common_.size() > 0) common_.Find(MinHash(set), &met_);
  for (const uint32_t i : met_) {
    if (!wanted(i)) continue;
    ++candidates_;
    ASSIGN_OR_RETURN(const auto other, sets_.Get(i, &buffer_));
    if (Similarity(CompareAtLeast(set, other, threshold_)) >= threshold_) found(i);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
