// The basic idea: kernels that agree in all values of one band fall into the same bucket, and only
// kernels of one bucket are compared, by the exact Jaccard similarity of their shingle sets. A
// bucket belongs to the partition that its key falls to, so each partition sees a share of the
// buckets, whole.
//
// Equal sets. Vendored copies and generated code make groups of thousands of kernels with one and
// the same shingle set; compared all with all they would cost the square of that. So only the first
// kernel of each set enters the buckets, and every other one is compared with that first alone, in
// the one partition that the set's hash falls to. Nothing is lost: a pair with common == total says
// that the two sets are equal, and resolve lets each member of such a group stand where its first
// does. (Where the hashes of two different sets collide, once in 2^64, the later kernel is compared
// with the first alone.)
//
// Cheap looks first. Boilerplate puts kernels of little similarity into one bucket. A pair is
// dropped unseen where the sizes of its sets forbid the threshold, or where the 128 values agree in
// a share that is kSlack below it: a shortfall of more than five standard deviations of that
// estimate, which no similar pair meets in ten million.
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
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/deduplicator/core/minhash.h"
#include "services/deduplicator/core/shingles.h"
#include "services/deduplicator/core/sign.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kFullBucket = 2048;
constexpr size_t kWindow = 256;
constexpr double kSlack = 0.25;
constexpr int kMaxPartitions = 1 << 16;

template <typename Field>
auto SpanOf(const Field& field) {
  return absl::MakeConstSpan(field.data(), field.size());
}

}  // namespace

absl::Status CheckPairParams(const v1::PairParams& params) {
  if (!(params.threshold() > 0 && params.threshold() <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("threshold is ", params.threshold(), ", not in (0, 1]"));
  }
  if (params.partitions() < 1 || params.partitions() > kMaxPartitions || params.partition() < 0 ||
      params.partition() >= params.partitions()) {
    return absl::InvalidArgumentError(absl::StrCat("no partition ", params.partition(), " of ",
                                                   params.partitions(), "; at most ",
                                                   kMaxPartitions));
  }
  return absl::OkStatus();
}

PairFinder::PairFinder(const v1::PairParams& params)
    : threshold_(params.threshold()),
      partition_(static_cast<uint64_t>(params.partition())),
      partitions_(static_cast<uint64_t>(params.partitions())),
      bands_(BandsFor(params.threshold())) {}

absl::Status PairFinder::Observe(const v1::Signature& signature) {
  RETURN_IF_ERROR(Annotate(CheckSignature(signature), absl::StrCat("kernel ", observed_)));
  const uint32_t number = observed_++;
  if (signature.shingles().empty()) return absl::OkStatus();  // no tokens: like nothing else
  const uint64_t set = SetHash(SpanOf(signature.shingles()));
  const auto [first, is_first] = first_with_set_.try_emplace(set, number);
  if (!is_first) {
    if (Mine(set)) repeats_.push_back({first->second, number});
    return absl::OkStatus();
  }
  const auto values = SpanOf(signature.minhash());
  for (int band = 0; band < bands_.count; ++band) {
    const uint64_t key = BucketKey(band, values.subspan(band * bands_.rows, bands_.rows));
    if (Mine(key)) entries_.push_back({key, number});
  }
  return absl::OkStatus();
}

void PairFinder::EndObserving() {
  first_with_set_ = {};
  std::sort(entries_.begin(), entries_.end());
  DropLoneEntries();
  for (const Entry& entry : entries_) needed_.push_back(entry.kernel);
  for (const Repeat& repeat : repeats_) {
    needed_.push_back(repeat.first);
    needed_.push_back(repeat.other);
  }
  std::sort(needed_.begin(), needed_.end());
  needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
  needed_.shrink_to_fit();
  shingle_ends_.reserve(needed_.size());
  minhash_.reserve(needed_.size() * kPermutations);
  for (Entry& entry : entries_) entry.kernel = IndexOf(entry.kernel);
  ListBuckets();
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

uint32_t PairFinder::IndexOf(uint32_t number) const {
  return static_cast<uint32_t>(std::lower_bound(needed_.begin(), needed_.end(), number) -
                               needed_.begin());
}

// Turns the entries, which are sorted by bucket, into each kernel's list of buckets.
void PairFinder::ListBuckets() {
  bucket_starts_.assign(needed_.size() + 1, 0);
  std::vector<size_t> next;
  for (const bool counting : {true, false}) {
    ForEachBucket([&](size_t begin, size_t end) {
      if (end - begin > kFullBucket) return;
      for (size_t i = begin; i < end; ++i) {
        if (counting) {
          ++bucket_starts_[entries_[i].kernel + 1];
        } else {
          buckets_[next[entries_[i].kernel]++] = entries_[i].bucket;
        }
      }
    });
    if (!counting) return;
    std::partial_sum(bucket_starts_.begin(), bucket_starts_.end(), bucket_starts_.begin());
    next = bucket_starts_;
    buckets_.resize(bucket_starts_.back());
  }
}

bool PairFinder::NeedsAny(uint32_t first, uint32_t count) const {
  const uint32_t index = IndexOf(first);
  return index < needed_.size() && needed_[index] - first < count;
}

void PairFinder::Load(const v1::Signature& signature) {
  const uint32_t number = loaded_++;
  const size_t next = shingle_ends_.size();
  if (next == needed_.size() || needed_[next] != number) return;
  shingles_.insert(shingles_.end(), signature.shingles().begin(), signature.shingles().end());
  shingle_ends_.push_back(shingles_.size());
  minhash_.insert(minhash_.end(), signature.minhash().begin(), signature.minhash().end());
}

absl::Span<const uint64_t> PairFinder::ShinglesOf(uint32_t index) const {
  const size_t begin = index == 0 ? 0 : shingle_ends_[index - 1];
  return absl::MakeConstSpan(shingles_).subspan(begin, shingle_ends_[index] - begin);
}

absl::StatusOr<v1::PairSet> PairFinder::Find() {
  if (loaded_ != observed_ || shingle_ends_.size() != needed_.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("saw ", observed_, " signatures, then ", loaded_));
  }
  for (const Repeat& repeat : repeats_) Verify(IndexOf(repeat.first), IndexOf(repeat.other));
  ForEachBucket([&](size_t begin, size_t end) {
    const auto bucket = absl::MakeConstSpan(entries_).subspan(begin, end - begin);
    if (bucket.size() > kFullBucket) {
      CompareInWindows(bucket);
    } else {
      CompareAll(bucket);
    }
  });
  const auto key = [](const Found& found) { return std::make_pair(found.a, found.b); };
  std::sort(found_.begin(), found_.end(),
            [&](const Found& x, const Found& y) { return key(x) < key(y); });
  found_.erase(std::unique(found_.begin(), found_.end(),
                           [&](const Found& x, const Found& y) { return key(x) == key(y); }),
               found_.end());
  v1::PairSet set;
  set.mutable_pairs()->Reserve(static_cast<int>(found_.size()));
  for (const Found& found : found_) {
    v1::Pair* pair = set.add_pairs();
    pair->set_a(needed_[found.a]);
    pair->set_b(needed_[found.b]);
    pair->set_common(found.overlap.common);
    pair->set_total(found.overlap.total);
  }
  return set;
}

void PairFinder::CompareAll(absl::Span<const Entry> bucket) {
  for (size_t i = 1; i < bucket.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (ShareEarlierBucket(bucket[j].kernel, bucket[i].kernel, bucket[i].bucket)) continue;
      Verify(bucket[j].kernel, bucket[i].kernel);
    }
  }
}

void PairFinder::CompareInWindows(absl::Span<const Entry> bucket) {
  ++large_buckets_;
  // Equal signatures make the same bucket in every band.
  std::vector<uint64_t> kernels;
  kernels.reserve(bucket.size());
  for (const Entry& entry : bucket) kernels.push_back(entry.kernel);
  if (!windows_done_.insert(SetHash(kernels)).second) return;
  for (size_t i = 1; i < bucket.size(); ++i) {
    const size_t firsts = std::min(i, kWindow);
    const size_t before = std::max(firsts, i - firsts);
    for (size_t j = 0; j < firsts; ++j) Verify(bucket[j].kernel, bucket[i].kernel);
    for (size_t j = before; j < i; ++j) Verify(bucket[j].kernel, bucket[i].kernel);
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

bool PairFinder::MayBeSimilar(uint32_t a, uint32_t b) const {
  const uint32_t* const x = &minhash_[size_t{a} * kPermutations];
  const uint32_t* const y = &minhash_[size_t{b} * kPermutations];
  int agreeing = 0;
  for (int i = 0; i < kPermutations; ++i) agreeing += x[i] == y[i];
  return agreeing >= (threshold_ - kSlack) * kPermutations &&
         SizesMayReach(ShinglesOf(a).size(), ShinglesOf(b).size(), threshold_);
}

void PairFinder::Verify(uint32_t a, uint32_t b) {
  ++candidates_;
  if (!MayBeSimilar(a, b)) return;
  const Overlap overlap = Compare(ShinglesOf(a), ShinglesOf(b));
  if (Similarity(overlap) < threshold_) return;
  found_.push_back({a, b, overlap});
}

}  // namespace kernelmill::deduplicator
