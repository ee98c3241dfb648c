// The basic idea: kernels that agree in all values of one band fall into the same bucket, and only
// kernels of one bucket are compared, by the exact Jaccard similarity of their shingle sets. A band
// belongs to one partition, or, of more partitions than bands, a share of its buckets does: each
// partition sees its buckets whole.
//
// Equal sets. Vendored copies and generated code make groups of thousands of kernels with one and
// the same shingle set; compared all with all they would cost the square of that. So only the first
// kernel of each set enters the buckets, and every other one is paired with that first alone, in
// the one partition that the set's hash falls to. Nothing is lost: a pair with common == total says
// that the two sets are equal, and resolve lets each member of such a group stand where its first
// does. Sets are held to be equal where their 64-bit hashes and sizes are.
//
// Cheap looks first. Boilerplate puts kernels of little similarity into one bucket. A pair is
// dropped unread where the sizes of its sets forbid the threshold, or where the 128 values agree in
// a share that is kSlack below it: a shortfall of more than five standard deviations of that
// estimate, which no similar pair meets in ten million. The estimate is made from a byte a value.
// Only the sets of the pairs that are left are read at all.
//
// Many different sets in one bucket. Above kFullBucket kernels, each is compared only with the
// first kWindow and the kWindow before it, so that a repository made to agree in a band costs
// linear time. A near-duplicate that is missed so stays in the dataset; none is invented.
//
// One comparison a pair. Two kernels often share several buckets. They are compared in the first of
// them only: each kernel keeps the ascending list of its buckets, and two such lists are merged
// until they meet. Buckets above kFullBucket do not count as shared, since there the two may not
// have been compared.

#include "services/deduplicator/core/pair.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/deduplicator/core/shingles.h"
#include "services/deduplicator/core/sign.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kFullBucket = 2048;
constexpr size_t kWindow = 256;
constexpr double kSlack = 0.25;
constexpr int kMaxPartitions = 1 << 16;

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

absl::Status CheckThreshold(double threshold) {
  if (threshold > 0 && threshold <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("threshold is ", threshold, ", not in (0, 1]"));
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
    return absl::InvalidArgumentError(absl::StrCat("no partition ", params.partition(), " of ",
                                                   params.partitions(), "; at most ",
                                                   kMaxPartitions));
  }
  return absl::OkStatus();
}

PairFinder::PairFinder(double threshold, int partition, int partitions, SetStore* sets)
    : threshold_(threshold),
      partition_(partition),
      partitions_(partitions),
      bands_(BandsFor(threshold)),
      least_agreeing_(static_cast<int>(std::ceil((threshold - kSlack) * kPermutations))),
      sets_(*sets) {}

// With more partitions than bands, each band's buckets are shared out among as many of them as come
// to it.
bool PairFinder::Mine(int band, uint64_t key) const {
  if (partitions_ <= bands_.count) return band % partitions_ == partition_;
  const int sharers = (partitions_ - 1 - band) / bands_.count + 1;
  return partition_ == band + bands_.count * static_cast<int>(key % sharers);
}

void PairFinder::Observe(const v1::TokenSets& shard) {
  for (int i = 0; i < shard.hashes_size(); ++i) {
    const uint32_t number = observed_++;
    const uint32_t size = shard.sizes(i);
    if (size == 0) continue;  // no tokens: like nothing else
    const uint64_t set = shard.hashes(i);
    const auto slot = static_cast<uint32_t>(numbers_.size());
    const auto [first, is_first] = first_with_set_.try_emplace(set, slot);
    if (!is_first && set_sizes_[first->second] == size) {
      if (set % partitions_ == static_cast<uint64_t>(partition_)) {
        equal_.push_back(MakePair(numbers_[first->second], number, {size, size}));
      }
      continue;
    }
    const MinHashValues values = MinHashOf(shard, i);
    numbers_.push_back(number);
    set_sizes_.push_back(size);
    std::copy(values.begin(), values.end(), sketches_.emplace_back().begin());
    AddToBuckets(slot, values);
  }
}

void PairFinder::AddToBuckets(uint32_t slot, const MinHashValues& values) {
  const bool whole_bands = partitions_ <= bands_.count;
  const int step = whole_bands ? partitions_ : 1;
  for (int band = whole_bands ? partition_ : 0; band < bands_.count; band += step) {
    const uint64_t key =
        BucketKey(band, absl::MakeConstSpan(values).subspan(band * bands_.rows, bands_.rows));
    if (Mine(band, key)) entries_.push_back({key, slot});
  }
}

void PairFinder::EndObserving() {
  first_with_set_ = {};
  std::sort(entries_.begin(), entries_.end());
  DropLoneEntries();
  ListBuckets();
  ForEachBucket([&](size_t begin, size_t end) {
    const auto bucket = absl::MakeConstSpan(entries_).subspan(begin, end - begin);
    if (bucket.size() > kFullBucket) {
      CompareInWindows(bucket);
    } else {
      CompareAll(bucket);
    }
  });
  entries_ = {};
  buckets_ = {};
  bucket_starts_ = {};
  sketches_ = {};
  ListNeeded();
}

// Calls visit(begin, end) for each run of entries with the same bucket.
template <typename Visit>
void PairFinder::ForEachBucket(Visit visit) const {
  for (size_t begin = 0, end; begin < entries_.size(); begin = end) {
    end = begin + 1;
    while (end < entries_.size() && entries_[end].bucket == entries_[begin].bucket) ++end;
    visit(begin, end);
  }
}

// Keeps the entries of buckets of two or more.
void PairFinder::DropLoneEntries() {
  size_t kept = 0;
  ForEachBucket([&](size_t begin, size_t end) {
    if (end - begin < 2) return;
    for (size_t i = begin; i < end; ++i) entries_[kept++] = entries_[i];
  });
  entries_.resize(kept);
  entries_.shrink_to_fit();
}

// Turns the entries, which are sorted by bucket, into each kernel's list of buckets.
void PairFinder::ListBuckets() {
  bucket_starts_.assign(numbers_.size() + 1, 0);
  std::vector<uint32_t> next;
  for (const bool counting : {true, false}) {
    ForEachBucket([&](size_t begin, size_t end) {
      if (end - begin > kFullBucket) return;
      for (size_t i = begin; i < end; ++i) {
        if (counting) {
          ++bucket_starts_[entries_[i].slot + 1];
        } else {
          buckets_[next[entries_[i].slot]++] = entries_[i].bucket;
        }
      }
    });
    if (!counting) return;
    std::partial_sum(bucket_starts_.begin(), bucket_starts_.end(), bucket_starts_.begin());
    next = bucket_starts_;
    buckets_.resize(bucket_starts_.back());
  }
}

void PairFinder::CompareAll(absl::Span<const Entry> bucket) {
  for (size_t i = 1; i < bucket.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (ShareEarlierBucket(bucket[j].slot, bucket[i].slot, bucket[i].bucket)) continue;
      Propose(bucket[j].slot, bucket[i].slot);
    }
  }
}

void PairFinder::CompareInWindows(absl::Span<const Entry> bucket) {
  ++large_buckets_;
  // Equal signatures make the same bucket in every band.
  std::vector<uint64_t> kernels;
  kernels.reserve(bucket.size());
  for (const Entry& entry : bucket) kernels.push_back(entry.slot);
  if (!windows_done_.insert(SetHash(kernels)).second) return;
  for (size_t i = 1; i < bucket.size(); ++i) {
    const size_t firsts = std::min(i, kWindow);
    const size_t before = std::max(firsts, i - firsts);
    for (size_t j = 0; j < firsts; ++j) Propose(bucket[j].slot, bucket[i].slot);
    for (size_t j = before; j < i; ++j) Propose(bucket[j].slot, bucket[i].slot);
  }
}

bool PairFinder::ShareEarlierBucket(uint32_t a, uint32_t b, uint64_t bucket) const {
  size_t i = bucket_starts_[a];
  size_t j = bucket_starts_[b];
  // Both lists contain `bucket`, so neither runs out before it.
  while (buckets_[i] != buckets_[j]) {
    if (buckets_[i] < buckets_[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return buckets_[i] != bucket;
}

void PairFinder::Propose(uint32_t a, uint32_t b) {
  ++candidates_;
  if (MayBeSimilar(a, b)) proposed_.emplace_back(a, b);
}

bool PairFinder::MayBeSimilar(uint32_t a, uint32_t b) const {
  const Sketch& x = sketches_[a];
  const Sketch& y = sketches_[b];
  uint8_t agreeing = 0;  // at most 128
  for (int i = 0; i < kPermutations; ++i) agreeing += x[i] == y[i];
  return agreeing >= least_agreeing_ && SizesMayReach(set_sizes_[a], set_sizes_[b], threshold_);
}

// Turns the proposed pairs into sorted ones of numbers, and lists whose sets they need.
void PairFinder::ListNeeded() {
  for (auto& [a, b] : proposed_) {
    a = numbers_[a];
    b = numbers_[b];
  }
  std::sort(proposed_.begin(), proposed_.end());
  proposed_.erase(std::unique(proposed_.begin(), proposed_.end()), proposed_.end());
  proposed_.shrink_to_fit();
  std::vector<bool> is_needed(observed_);
  for (const auto& [a, b] : proposed_) is_needed[a] = is_needed[b] = true;
  for (uint32_t number = 0; number < observed_; ++number) {
    if (is_needed[number]) needed_.push_back(number);
  }
  numbers_ = {};
  set_sizes_ = {};
}

uint32_t PairFinder::IndexOf(uint32_t number) const {
  return static_cast<uint32_t>(std::lower_bound(needed_.begin(), needed_.end(), number) -
                               needed_.begin());
}

bool PairFinder::NeedsAny(uint32_t first, uint32_t count) const {
  const uint32_t index = IndexOf(first);
  return index < needed_.size() && needed_[index] - first < count;
}

absl::Status PairFinder::Load(absl::Span<const uint64_t> shingles) {
  RETURN_IF_ERROR(CheckSet(shingles));
  return sets_.Add(shingles);
}

absl::Status PairFinder::Find(Pairs* pairs) {
  if (sets_.size() != needed_.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(sets_.size(), " sets of ", needed_.size(), " that are needed"));
  }
  for (v1::Pair& pair : equal_) *pairs->Add() = std::move(pair);
  RETURN_IF_ERROR(Verify(pairs));
  std::sort(pairs->begin(), pairs->end(), Before);
  return absl::OkStatus();
}

absl::Status PairFinder::Verify(Pairs* pairs) {
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
