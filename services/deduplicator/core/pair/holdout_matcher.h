#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::deduplicator {

// How many matches of a kernel are named for each measure: the gravest.
inline constexpr size_t kMaxMatches = 8;

// A text of fewer runs of 13 tokens (76 tokens) is too short to be told from anybody's: a silu, a
// cdiv, the guard around a launch. It is no holdout's within a module or a launcher, is not said to
// be made of holdouts, and its structure says nothing. As a kernel it is still compared, with
// tokens as written.
inline constexpr uint32_t kLeastRuns = 64;

// Finds what kernels have in common with holdouts. Each text that is exported of a kernel (source,
// module, launcher) is held against each that a benchmark's answer is made of (its kernels' sources
// and launchers):
//
//   sources with sources       the same tokens; Jaccard similarity of shingles, plain and
//   structural all texts with all         runs of 13 tokens: how many of the holdout's the text
//   has, and how many of the
//                              text's any holdout has
//
// Exactly, without MinHash, since a threshold as low as contamination's would put half of a job
// into one bucket, and since holdouts are few. Holds all of their shingles and runs. Not
// thread-safe.
class HoldoutMatcher {
 public:
  // Similarities below the threshold are not named.
  explicit HoldoutMatcher(double threshold) : threshold_(threshold) {}

  // Holdouts come in ascending order. INVALID_ARGUMENT: a malformed set.
  absl::Status Add(uint32_t number, const v1::KernelShingles& kernel);

  // Appends the kernel's matches to `pairs`: what is as similar as the threshold, or has a run in
  // common; for each measure the kMaxMatches gravest, by text and holdout, and how many others
  // there are. INVALID_ARGUMENT: a malformed set.
  absl::Status Match(uint32_t number, const v1::KernelShingles& kernel, v1::PairSet* pairs);

 private:
  // A text of a holdout's.
  struct Item {
    uint32_t number;
    v1::Sensitive::Text text;
    uint64_t tokens;  // a hash of them
    uint32_t shingles = 0;
    uint32_t structural = 0;
    uint32_t runs = 0;
    int copies = 1;
  };
  // How much of each item is in the text at hand.
  struct Common {
    uint32_t shingles = 0;
    uint32_t structural = 0;
    uint32_t runs = 0;
  };
  using Set = absl::Span<const uint64_t>;
  using Postings = absl::flat_hash_map<uint64_t, std::vector<uint32_t>>;  // of items_
  using Matches = std::vector<v1::HoldoutMatch>;

  void AddText(Item item, Set near, Set structural, Set runs);
  uint32_t Count(const Postings& postings, Set set, uint32_t Common::*counter);
  void Forget();
  void MatchSource(const v1::KernelShingles& kernel, Set runs, Matches* matches);
  void MatchText(v1::Sensitive::Text text, const std::vector<uint32_t>& items, uint32_t covered,
                 size_t runs, Matches* matches);
  void MatchModule(Set runs, Set more_runs, Matches* matches);
  void MatchLauncher(Set runs, Matches* matches);
  v1::HoldoutMatch MakeMatch(uint32_t item, v1::Sensitive::Text text) const;
  bool IsNamed(const v1::HoldoutMatch& match) const;

  const double threshold_;
  std::vector<Item> items_;
  absl::flat_hash_map<uint64_t, uint32_t> by_tokens_;
  Postings by_shingle_;
  Postings by_structural_;
  Postings by_run_;
  std::vector<Common> common_;     // with the text at hand, of each item
  std::vector<uint32_t> touched_;  // those that have any
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_
