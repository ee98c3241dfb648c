// The basic idea: kernels that agree in all values of one band (minhash.h) fall into the same
// bucket, and only kernels of one bucket are compared, by the exact Jaccard similarity of their
// shingle sets. Each band belongs to one partition. With more partitions than bands, each partition
// owns some buckets of a band. Either way, a partition sees its buckets whole.
//
// Equal sets. Vendored copies and generated code make groups of thousands of kernels with the same
// shingle set. Comparing all with all would cost the square of that. So only the first kernel of
// each set enters the buckets, and every other one is paired with that first alone, in the one
// partition that the set's hash names. Nothing is lost: a pair with common == total says that the
// two sets are equal, and resolve gives each member of such a group the pairs of its first. Two
// sets count as equal if their 64-bit hashes and sizes are.
//
// Cheap tests first. Boilerplate puts kernels of little similarity into one bucket. A pair is
// dropped unread if the sizes of its sets rule out the threshold, or if the share of agreeing
// values is more than kSlack below it. That is more than four standard deviations of the estimate:
// it loses one of a hundred thousand pairs at the threshold, and no pair of similarity 0.8 if the
// threshold is lower. The estimate needs one byte per value. Only the sets of the remaining pairs
// are read.
//
// One look per pair. Two kernels often share several buckets. So the search goes kernel by kernel,
// not bucket by bucket: each kernel goes through all its buckets and looks at those before it, and
// each of these notes which kernel looked at it last.
//
// Full buckets. In a bucket of more than kFullBucket different sets, each kernel is compared only
// with the first kWindow of the bucket and with the kWindow before it: once in the order of their
// numbers, once in the order of their sketches, which puts kernels side by side that agree in more
// than this band. kEnough mates end each of these looks. So neither a repository that was made to
// agree in a band nor fifty thousand variants of a kernel cost more than linear time and space. A
// near-duplicate that is missed stays in the dataset; no false one is reported.

#include "services/deduplicator/core/pair/duplicate_finder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "services/deduplicator/core/sign/hash_sort.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kFullBucket = 2048;     // kernels of a bucket that are compared all with all
constexpr size_t kWindow = 256;          // kernels that one is compared with in a fuller bucket
constexpr int kEnough = 8;               // candidates that end a look
constexpr double kSlack = 0.18;          // by which the estimate may miss the threshold
constexpr int kMaxPartitions = 1 << 16;  // as PairParams says

// Makes a pair of kernels a < b.
v1::Pair MakePair(uint32_t a, uint32_t b, Overlap overlap) {
  v1::Pair pair;
  pair.set_a(a);
  pair.set_b(b);
  pair.set_common(overlap.common);
  pair.set_total(overlap.total);
  return pair;
}

bool Before(const v1::Pair& x, const v1::Pair& y) {
  return std::make_pair(x.a(), x.b()) < std::make_pair(y.a(), y.b());
}

absl::string_view AsBytes(const std::vector<uint32_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint32_t)};
}

// Compares as memcmp does, but the bytes from `turn` on first and those before it last.
template <typename Bytes>
int CompareFrom(size_t turn, const Bytes& x, const Bytes& y) {
  const int order = std::memcmp(x.data() + turn, y.data() + turn, x.size() - turn);
  return order != 0 ? order : std::memcmp(x.data(), y.data(), turn);
}

absl::Status CheckThreshold(double threshold) {
  if (threshold > 0 && threshold <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("threshold: must be over 0 and at most 1, not ", threshold));
}

}  // namespace

absl::Status CheckPairParams(const v1::PairParams& params) {
  RETURN_IF_ERROR(CheckThreshold(params.threshold()));
  if (params.structural_threshold() != 0) {
    RETURN_IF_ERROR(CheckThreshold(params.structural_threshold()));
  }
  if (params.holdout_threshold() != 0) RETURN_IF_ERROR(CheckThreshold(params.holdout_threshold()));
  if (params.partitions() < 1 || params.partitions() > kMaxPartitions || params.partition() < 0 ||
      params.partition() >= params.partitions()) {
    return absl::InvalidArgumentError(
        absl::StrCat("partition: must be in [0, partitions), with at most ", kMaxPartitions,
                     " partitions, not ", params.partition(), " of ", params.partitions()));
  }
  return absl::OkStatus();
}

DuplicateFinder::DuplicateFinder(double threshold, int partition, int partitions,
                                 const SpillOptions& spill)
    : threshold_(threshold),
      partition_(partition),
      partitions_(partitions),
      bands_(BandsFor(threshold)),
      least_agreeing_(static_cast<int>(std::ceil((threshold - kSlack) * kPermutations))),
      sets_(spill) {}

// Returns true if the bucket belongs to this partition. With more partitions than bands, partition
// p works for band p mod bands, and the partitions of one band share its buckets.
bool DuplicateFinder::IsInPartition(int band, uint64_t key) const {
  if (partitions_ <= bands_.count()) return band % partitions_ == partition_;
  const int sharers = (partitions_ - 1 - band) / bands_.count() + 1;
  return partition_ == band + bands_.count() * static_cast<int>(key % sharers);
}

// Adds each kernel to its buckets, or pairs it with the first kernel of an equal set.
void DuplicateFinder::Observe(const v1::TokenSets& shard) {
  for (int i = 0; i < shard.hashes_size(); ++i) {
    const uint32_t number = observed_++;
    const uint32_t size = shard.sizes(i);
    if (size == 0) continue;  // a kernel without tokens is similar to nothing
    const uint64_t set = shard.hashes(i);
    const auto slot = static_cast<uint32_t>(numbers_.size());
    const auto [first, is_first] = first_with_set_.try_emplace(set, slot);
    if (!is_first && set_sizes_[first->second] == size) {
      if (set % partitions_ == static_cast<uint64_t>(partition_)) {
        equal_.push_back(MakePair(numbers_[first->second], number, {size, size}));
      }
      continue;
    }
    const MinHashValues values = GetMinHash(shard, i);
    numbers_.push_back(number);
    set_sizes_.push_back(size);
    sketches_.push_back(MakeSketch(values));
    AddToBuckets(slot, values);
  }
}

// Adds an entry for each band of this partition. With few partitions, a partition owns every n-th
// band; with many, it looks at all bands and takes its share of the buckets.
void DuplicateFinder::AddToBuckets(uint32_t slot, const MinHashValues& values) {
  const bool whole_bands = partitions_ <= bands_.count();
  const int step = whole_bands ? partitions_ : 1;
  for (int band = whole_bands ? partition_ : 0; band < bands_.count(); band += step) {
    const uint64_t key = bands_.GetBucket(band, values);
    if (IsInPartition(band, key)) entries_.push_back({key, slot});
  }
}

void DuplicateFinder::EndObserving() {
  first_with_set_ = {};
  MakeGroups();
  CompareInGroups();
  CompareInWindows();
  group_starts_ = {};
  members_ = {};
  sketches_ = {};
  ListNeeded();
}

// Sorts the entries by bucket and keeps the buckets of two or more kernels as groups.
void DuplicateFinder::MakeGroups() {
  // Slots were added in ascending order; the sort is stable and keeps it within a bucket.
  SortByHash(absl::MakeSpan(entries_), [](const Entry& entry) { return entry.bucket; });
  for (size_t begin = 0, end; begin < entries_.size(); begin = end) {
    end = begin + 1;
    while (end < entries_.size() && entries_[end].bucket == entries_[begin].bucket) ++end;
    if (end - begin < 2) continue;
    group_starts_.push_back(static_cast<uint32_t>(members_.size()));
    for (size_t i = begin; i < end; ++i) members_.push_back(entries_[i].slot);
  }
  group_starts_.push_back(static_cast<uint32_t>(members_.size()));
  entries_ = {};
}

absl::Span<const uint32_t> DuplicateFinder::Group(uint32_t group) const {
  return absl::MakeConstSpan(members_).subspan(group_starts_[group],
                                               group_starts_[group + 1] - group_starts_[group]);
}

// Compares all with all in each group, except in full ones. `starts` and `groups_of` list the
// groups of each slot: the first round counts them, the second fills them in.
void DuplicateFinder::CompareInGroups() {
  const auto groups = static_cast<uint32_t>(group_starts_.size() - 1);
  std::vector<uint32_t> starts(numbers_.size() + 1);  // each slot's first place in groups_of
  std::vector<uint32_t> groups_of;
  for (const bool counting : {true, false}) {
    for (uint32_t group = 0; group < groups; ++group) {
      if (Group(group).size() > kFullBucket) continue;
      for (const uint32_t slot : Group(group)) {
        if (counting) {
          ++starts[slot + 1];
        } else {
          groups_of[starts[slot]++] = group;
        }
      }
    }
    if (!counting) break;
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    groups_of.resize(starts.back());
  }
  // The second round moved each start to its end, which is the next slot's start.
  std::vector<uint32_t> looked_at_by(numbers_.size(), ~uint32_t{0});
  for (uint32_t slot = 0; slot < numbers_.size(); ++slot) {
    for (uint32_t i = slot == 0 ? 0 : starts[slot - 1]; i < starts[slot]; ++i) {
      for (const uint32_t mate : Group(groups_of[i])) {
        if (mate == slot) break;
        if (std::exchange(looked_at_by[mate], slot) != slot) Propose(mate, slot);
      }
    }
  }
}

// Compares each kernel of a full group with some others only.
void DuplicateFinder::CompareInWindows() {
  absl::flat_hash_set<uint64_t> done;
  for (uint32_t group = 0; group + 1 < group_starts_.size(); ++group) {
    if (Group(group).size() <= kFullBucket) continue;
    ++large_buckets_;
    std::vector<uint32_t> ordered(Group(group).begin(), Group(group).end());
    const uint64_t members = StableHash64(AsBytes(ordered));
    // Kernels with equal signatures make the same bucket in every band: one look is enough.
    if (!done.insert(members).second) continue;
    // Each bucket sorts by another value first, so that they do not all miss the same pairs.
    const size_t turn = members % kPermutations;
    CompareWithFirst(ordered);
    CompareWithNearest(ordered);
    std::sort(ordered.begin(), ordered.end(), [&](uint32_t x, uint32_t y) {
      const int order = CompareFrom(turn, sketches_[x], sketches_[y]);
      return order != 0 ? order < 0 : x < y;
    });
    CompareWithNearest(ordered);
  }
}

// Compares each with the first kWindow of the group.
void DuplicateFinder::CompareWithFirst(absl::Span<const uint32_t> group) {
  for (size_t i = 1; i < group.size(); ++i) {
    const size_t end = std::min(i, kWindow);
    int mates = 0;
    for (size_t j = 0; j < end && mates < kEnough; ++j) mates += Propose(group[j], group[i]);
  }
}

// Compares each with those before it, the nearest first.
void DuplicateFinder::CompareWithNearest(absl::Span<const uint32_t> group) {
  for (size_t i = 1; i < group.size(); ++i) {
    const size_t end = i - std::min(i, kWindow);
    int mates = 0;
    for (size_t j = i; j-- > end && mates < kEnough;) mates += Propose(group[j], group[i]);
  }
}

// Notes the two as a candidate if the cheap tests pass. Returns true if they do.
bool DuplicateFinder::Propose(uint32_t a, uint32_t b) {
  ++candidates_;
  if (!MayBeSimilar(a, b)) return false;
  proposed_.push_back({std::min(a, b), std::max(a, b)});
  return true;
}

// The cheap tests: the agreement of the sketches, then the sizes of the sets.
bool DuplicateFinder::MayBeSimilar(uint32_t a, uint32_t b) const {
  return CountAgreeing(sketches_[a], sketches_[b]) >= least_agreeing_ &&
         SizesMayReach(set_sizes_[a], set_sizes_[b], threshold_);
}

// Turns the candidates into sorted pairs of kernel numbers, and lists the kernels in them.
void DuplicateFinder::ListNeeded() {
  for (Proposal& pair : proposed_) pair = {numbers_[pair.a], numbers_[pair.b]};
  // Shifted so that the keys use the upper bits, they are spread about as evenly as hashes.
  const int unused = std::countl_zero(uint64_t{observed_} << 32);
  SortByHash(absl::MakeSpan(proposed_), [=](const Proposal& pair) { return pair.key() << unused; });
  const auto equal = [](const Proposal& x, const Proposal& y) { return x.key() == y.key(); };
  proposed_.erase(std::unique(proposed_.begin(), proposed_.end(), equal), proposed_.end());
  proposed_.shrink_to_fit();
  std::vector<bool> is_needed(observed_);
  for (const Proposal& pair : proposed_) is_needed[pair.a] = is_needed[pair.b] = true;
  for (uint32_t number = 0; number < observed_; ++number) {
    if (is_needed[number]) needed_.push_back(number);
  }
  numbers_ = {};
  set_sizes_ = {};
}

uint32_t DuplicateFinder::IndexOf(uint32_t number) const {
  return static_cast<uint32_t>(std::lower_bound(needed_.begin(), needed_.end(), number) -
                               needed_.begin());
}

bool DuplicateFinder::NeedsAny(uint32_t first, uint32_t count) const {
  const uint32_t index = IndexOf(first);
  return index < needed_.size() && needed_[index] - first < count;
}

// Sets are loaded in the order of needed_, so the number of loaded sets tells which one comes next.
bool DuplicateFinder::NeedsNext(uint32_t number) const {
  return sets_.size() < needed_.size() && needed_[sets_.size()] == number;
}

absl::Status DuplicateFinder::Load(absl::Span<const uint64_t> shingles) {
  RETURN_IF_ERROR(CheckSet(shingles));
  return sets_.Add(shingles);
}

// FAILED_PRECONDITION: a needed set was not loaded.
absl::Status DuplicateFinder::Find(Pairs* pairs) {
  if (sets_.size() != needed_.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(sets_.size(), " of ", needed_.size(), " needed sets were loaded"));
  }
  for (v1::Pair& pair : equal_) *pairs->Add() = std::move(pair);
  RETURN_IF_ERROR(Verify(pairs));
  std::sort(pairs->begin(), pairs->end(), Before);
  return absl::OkStatus();
}

// Compares the sets of every candidate. Candidates are sorted, so that consecutive ones often share
// their first set, which is then read once.
absl::Status DuplicateFinder::Verify(Pairs* pairs) {
  std::vector<uint64_t> first_buffer;
  std::vector<uint64_t> other_buffer;
  absl::Span<const uint64_t> first;
  uint32_t first_number = observed_;
  for (const auto& [a, b] : proposed_) {
    if (a != first_number) {
      ASSIGN_OR_RETURN(first, sets_.Get(IndexOf(a), &first_buffer));
      first_number = a;
    }
    ASSIGN_OR_RETURN(const auto other, sets_.Get(IndexOf(b), &other_buffer));
    const Overlap overlap = CompareAtLeast(first, other, threshold_);
    if (Similarity(overlap) >= threshold_) *pairs->Add() = MakePair(a, b, overlap);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
