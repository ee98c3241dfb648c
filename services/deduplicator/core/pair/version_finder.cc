// The basic idea: a library's function keeps its name and its place ("ops/softmax.py") when the
// library moves on, and one that somebody rewrites computes the same, while its text drifts too far
// for the duplicate finder. So kernels are grouped by a hash of name and place, and by one of what
// they compute, without MinHash, and those of a group are compared with a low
// threshold. Each is compared with the first kFirst and the last kLast before it only, so that a
// group of thousands costs linear time. A group belongs to one partition.

#include "services/deduplicator/core/pair/version_finder.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kFirst = 8;
constexpr size_t kLast = 8;

// Returns the file's name with its folder's, such as "ops/softmax.py"; empty if it has no folder.
absl::string_view GetPlace(absl::string_view path) {
  const size_t file = path.rfind('/');
  if (file == absl::string_view::npos || file == 0) return "";
  const size_t folder = path.rfind('/', file - 1);
  return folder == absl::string_view::npos ? path : path.substr(folder + 1);
}

}  // namespace

VersionFinder::VersionFinder(int partition, int partitions, const SpillOptions& spill)
    : partition_(partition), partitions_(partitions), sets_(spill) {}

void VersionFinder::Observe(const v1::SignatureShard& shard) {
  for (int i = 0; i < KernelsIn(shard); ++i) {
    const uint32_t number = observed_++;
    const absl::string_view place = GetPlace(shard.paths(i));
    if (shard.near().sizes(i) == 0) continue;
    const auto add = [&](uint64_t key) {
      if (key % partitions_ != partition_) return;
      entries_.push_back({key, shard.near().hashes(i), number});
    };
    if (shard.names(i) != 0 && !place.empty()) add(StableHash64(place, shard.names(i)));
    if (shard.computations(i) != 0) add(StableHash64("computation", shard.computations(i)));
  }
}

// Lists the pairs to compare, and the kernels in them. The first sort removes equal sets of a
// group, the second restores the order of kernels.
void VersionFinder::EndObserving() {
  const auto by_set = [](const Entry& x, const Entry& y) {
    return std::tie(x.key, x.set, x.number) < std::tie(y.key, y.set, y.number);
  };
  std::sort(entries_.begin(), entries_.end(), by_set);
  // The first of equal sets represents all of them, as in the duplicate finder.
  entries_.erase(
      std::unique(entries_.begin(), entries_.end(),
                  [](const Entry& x, const Entry& y) { return x.key == y.key && x.set == y.set; }),
      entries_.end());
  std::sort(entries_.begin(), entries_.end(), [](const Entry& x, const Entry& y) {
    return std::tie(x.key, x.number) < std::tie(y.key, y.number);
  });
  for (size_t begin = 0, end; begin < entries_.size(); begin = end) {
    end = begin + 1;
    while (end < entries_.size() && entries_[end].key == entries_[begin].key) ++end;
    for (size_t i = begin + 1; i < end; ++i) {
      for (size_t j = begin; j < i; ++j) {
        if (j >= begin + kFirst && j + kLast < i) j = i - kLast;
        proposed_.push_back({entries_[j].number, entries_[i].number});
      }
    }
  }
  entries_ = {};
  std::sort(proposed_.begin(), proposed_.end(), [](const Proposal& x, const Proposal& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });
  proposed_.erase(std::unique(proposed_.begin(), proposed_.end()), proposed_.end());
  for (const auto& [a, b] : proposed_) needed_.insert(needed_.end(), {a, b});
  std::sort(needed_.begin(), needed_.end());
  needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
}

bool VersionFinder::NeedsAny(uint32_t first, uint32_t count) const {
  const auto found = std::lower_bound(needed_.begin(), needed_.end(), first);
  return found != needed_.end() && *found - first < count;
}

bool VersionFinder::NeedsNext(uint32_t number) const {
  return sets_.size() < needed_.size() && needed_[sets_.size()] == number;
}

absl::Status VersionFinder::Load(absl::Span<const uint64_t> shingles) {
  RETURN_IF_ERROR(CheckSet(shingles));
  return sets_.Add(shingles);
}

// Compares the proposed pairs by their exact sets. A pair below kVersionSimilarity is dropped: the
// name alone makes no version.
absl::Status VersionFinder::Find(Pairs* pairs) {
  if (sets_.size() != needed_.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(sets_.size(), " of ", needed_.size(), " needed sets were loaded"));
  }
  const auto index = [this](uint32_t number) {
    return std::lower_bound(needed_.begin(), needed_.end(), number) - needed_.begin();
  };
  std::vector<uint64_t> buffer_a;
  std::vector<uint64_t> buffer_b;
  for (const auto& [a, b] : proposed_) {
    ASSIGN_OR_RETURN(const auto set_a, sets_.Get(index(a), &buffer_a));
    ASSIGN_OR_RETURN(const auto set_b, sets_.Get(index(b), &buffer_b));
    const Overlap overlap = CompareAtLeast(set_a, set_b, kVersionSimilarity);
    if (Similarity(overlap) < kVersionSimilarity) continue;
    v1::Pair* pair = pairs->Add();
    pair->set_a(a);
    pair->set_b(b);
    pair->set_common(overlap.common);
    pair->set_total(overlap.total);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
