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
// added sets, in a table of counts by a hash's lower bits. Ties are broken by the hash itself, so
// that this is one fixed order, and the result does not depend on it. Hashes of a probing set that
// no added set has come first and are not looked up. Most sets are similar to nothing; for them,
// counting their hashes is all the work.
//
// Before two sets are compared, their sizes are: J(x, y) is at most the ratio of the smaller size
// to the larger. The final comparison is of the whole sets, so that every reported pair is real.

#include "services/deduplicator/core/split/set_join.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "services/deduplicator/core/sign/hash_sort.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kLeastCounts = size_t{1} << 10;
constexpr size_t kMostCounts = size_t{1} << 24;  // 64 MiB

}  // namespace

uint32_t LeastCommon(size_t size, double threshold) {
  const auto total = static_cast<uint32_t>(size);
  auto common = static_cast<uint32_t>(std::ceil(threshold * static_cast<double>(size)));
  // Corrects the rounding to agree with Similarity(), which makes the final decision.
  while (common > 1 && Similarity({common - 1, total}) >= threshold) --common;
  while (common < total && Similarity({common, total}) < threshold) ++common;
  return std::max(common, 1u);
}

void SetJoin::Add(absl::Span<const uint64_t> set) {
  hashes_.insert(hashes_.end(), set.begin(), set.end());
  ends_.push_back(static_cast<uint32_t>(hashes_.size()));
}

absl::Span<const uint64_t> SetJoin::SetAt(uint32_t index) const {
  const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
  return absl::MakeConstSpan(hashes_).subspan(begin, ends_[index] - begin);
}

// Counts first how many of the set's hashes no added set has: they come first in the order. If they
// fill the prefix, nothing can be similar. The rest of the prefix are the rarest known hashes.
void SetJoin::TakePrefix(absl::Span<const uint64_t> set) {
  prefix_.clear();
  const uint32_t least = LeastCommon(set.size(), threshold_);
  if (set.size() < least) return;
  size_t length = set.size() - least + 1;
  size_t unknown = 0;
  for (const uint64_t hash : set) {
    const uint32_t count = GetCount(hash);
    if (count == 0) {
      if (++unknown == length) return prefix_.clear();
    } else {
      prefix_.emplace_back(count, hash);
    }
  }
  length = std::min(length - unknown, prefix_.size());
  std::nth_element(prefix_.begin(), prefix_.begin() + static_cast<ptrdiff_t>(length) - 1,
                   prefix_.end());
  prefix_.resize(length);
}

// Counts the hashes, indexes the prefix of each set, and sorts the index. starts_ then gives the
// entries by the upper bits of a hash, so that a look-up is one array access and a short scan.
void SetJoin::Build() {
  counts_.assign(std::clamp(std::bit_ceil(hashes_.size()), kLeastCounts, kMostCounts), 0);
  for (const uint64_t hash : hashes_) ++counts_[hash & (counts_.size() - 1)];
  for (uint32_t i = 0; i < size(); ++i) {
    TakePrefix(SetAt(i));
    for (const Rarity& rarity : prefix_) entries_.push_back({rarity.second, i});
  }
  SortByHash(absl::MakeSpan(entries_), [](const Entry& entry) { return entry.hash; });
  const int bits = std::clamp(static_cast<int>(std::bit_width(entries_.size())), 1, 24);
  start_shift_ = 64 - bits;
  starts_.assign((size_t{1} << bits) + 1, 0);
  for (const Entry& entry : entries_) ++starts_[(entry.hash >> start_shift_) + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  seen_in_.assign(size(), 0);
  probes_ = 0;
}

absl::Span<const SetJoin::Entry> SetJoin::EntriesNear(uint64_t hash) const {
  const size_t bucket = hash >> start_shift_;
  return absl::MakeConstSpan(entries_).subspan(starts_[bucket],
                                               starts_[bucket + 1] - starts_[bucket]);
}

// Calls `found` for each wanted set that is similar to `set`. seen_in_ has the probe that met a set
// last, so each set is compared once per probe.
void SetJoin::Probe(absl::Span<const uint64_t> set, absl::FunctionRef<bool(uint32_t)> wanted,
                    absl::FunctionRef<void(uint32_t)> found) {
  TakePrefix(set);
  ++probes_;
  for (const Rarity& rarity : prefix_) {
    for (const Entry& entry : EntriesNear(rarity.second)) {
      if (entry.hash != rarity.second || seen_in_[entry.set] == probes_) continue;
      seen_in_[entry.set] = probes_;
      const absl::Span<const uint64_t> other = SetAt(entry.set);
      if (!SizesMayReach(set.size(), other.size(), threshold_) || !wanted(entry.set)) continue;
      ++candidates_;
      if (Similarity(CompareAtLeast(set, other, threshold_)) >= threshold_) found(entry.set);
    }
  }
}

}  // namespace kernelmill::deduplicator
