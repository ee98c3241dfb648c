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
// One hash that is in both prefixes says little. So a probe counts first how many hashes its prefix
// shares with that of each set that it meets. Take the prefix of the two that ends first: what the
// sets share beyond the counted hashes lies behind it. So they share at most the count and the
// longer of the two rests. Only sets that may then reach the threshold are compared: of equal size,
// they share two fifths of their prefixes. The final comparison is of the whole sets, so that every
// reported pair is real.
//
// Among many sets no hash is rare, and a look-up would meet the more of them the more there are. So
// hashes that many added sets have are not looked up. They come last in the order, so that a set
// knows by its prefix whether it needs any. If two sets both do, their MinHashes bring them
// together (minhash_index.h); all other pairs share a hash that is not common, and are found by it.

#include "services/deduplicator/core/split/set_join.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/base/status.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kLeastCounts = size_t{1} << 10;
constexpr size_t kMostCounts = size_t{1} << 26;  // 64 MiB
constexpr uint8_t kMostCount = std::numeric_limits<uint8_t>::max();
constexpr uint32_t kCommon = 32;  // hashes that more added sets have are not looked up

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

// Counts first how many of the set's hashes no added set has: they come first in the order. If they
// fill the prefix, nothing can be similar. The rest of the prefix are the rarest known hashes.
SetJoin::Prefix SetJoin::TakePrefix(absl::Span<const uint64_t> set) {
  prefix_.clear();
  const uint32_t least = LeastCommon(set.size(), threshold_);
  if (set.size() < least) return {};
  size_t length = set.size() - least + 1;
  size_t unknown = 0;
  for (const uint64_t hash : set) {
    const uint32_t count = GetCount(hash);
    if (count == 0) {
      if (++unknown == length) {
        prefix_.clear();
        return {};
      }
    } else {
      prefix_.emplace_back(count, hash);
    }
  }
  length = std::min(length - unknown, prefix_.size());
  std::nth_element(prefix_.begin(), prefix_.begin() + static_cast<ptrdiff_t>(length) - 1,
                   prefix_.end());
  prefix_.resize(length);
  const auto common = std::partition(prefix_.begin(), prefix_.end(),
                                     [](const Rarity& hash) { return hash.first <= kCommon; });
  const Prefix prefix{least - 1, common != prefix_.end()};
  prefix_.erase(common, prefix_.end());
  return prefix;
}

absl::Status SetJoin::CountHashes() {
  counts_.assign(std::clamp(std::bit_ceil(hashes_), kLeastCounts, kMostCounts), 0);
  for (size_t i = 0; i < size(); ++i) {
    ASSIGN_OR_RETURN(const auto set, sets_.Get(i, &buffer_));
    for (const uint64_t hash : set) {
      uint8_t& count = counts_[hash & (counts_.size() - 1)];
      if (count < kMostCount) ++count;
    }
  }
  return absl::OkStatus();
}

// Counts the hashes, and indexes the prefix of each set by the upper bits of its hashes, so that a
// look-up is one array access and a short scan. The first round counts the entries of each start,
// the second fills them in; it reads the sets again, since prefixes together are too much to hold.
absl::Status SetJoin::Build() {
  RETURN_IF_ERROR(CountHashes());
  const int bits = std::clamp(static_cast<int>(std::bit_width(hashes_)), 1, 24);
  start_shift_ = 64 - bits;
  starts_.assign((size_t{1} << bits) + 1, 0);
  for (const bool counting : {true, false}) {
    for (uint32_t i = 0; i < size(); ++i) {
      ASSIGN_OR_RETURN(const auto set, sets_.Get(i, &buffer_));
      const Prefix prefix = TakePrefix(set);
      added_[i].rest = prefix.rest;
      added_[i].has_common = prefix.has_common;
      if (counting && prefix.has_common) common_.Add(i, MinHash(set));
      for (const auto& [count, hash] : prefix_) {
        uint32_t& start = starts_[hash >> start_shift_];
        if (!counting) entries_[start] = {static_cast<uint32_t>(hash), i};
        ++start;
      }
    }
    if (!counting) break;
    std::exclusive_scan(starts_.begin(), starts_.end(), starts_.begin(), uint32_t{0});
    entries_.resize(starts_.back());
  }
  // The second round moved each start to its end, which is the next one's start.
  std::move_backward(starts_.begin(), starts_.end() - 1, starts_.end());
  starts_[0] = 0;
  common_.Build();
  return absl::OkStatus();
}

absl::Span<const SetJoin::Entry> SetJoin::EntriesNear(uint64_t hash) const {
  const size_t bucket = hash >> start_shift_;
  return absl::MakeConstSpan(entries_).subspan(starts_[bucket],
                                               starts_[bucket + 1] - starts_[bucket]);
}

// Returns false if what the prefixes share rules out the threshold.
bool SetJoin::MayReach(const Added& added, size_t size, uint32_t rest) const {
  const auto all = static_cast<uint32_t>(size + added.size);
  const uint32_t most =
      std::min({added.met + std::max(added.rest, rest), added.size, static_cast<uint32_t>(size)});
  return Similarity({most, all - most}) >= threshold_;
}

// Fills `met_` with the sets that share enough of the prefix. Counts first what each set's prefix
// shares with this one's, and resets the counters.
void SetJoin::MeetByRare(absl::Span<const uint64_t> set, const Prefix& prefix) {
  met_.clear();
  for (const auto& [count, hash] : prefix_) {
    for (const Entry& entry : EntriesNear(hash)) {
      if (entry.hash != static_cast<uint32_t>(hash)) continue;
      if (added_[entry.set].met++ == 0) met_.push_back(entry.set);
    }
  }
  const auto cannot_reach = [&](uint32_t i) {
    const bool is_of_common = prefix.has_common && added_[i].has_common;
    const bool may = !is_of_common && MayReach(added_[i], set.size(), prefix.rest);
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
