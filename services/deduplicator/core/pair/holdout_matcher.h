#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/pair/holdout_words.h"

namespace kernelmill::deduplicator {

// The number of matches that are named for a kernel and measure: the strongest ones.
inline constexpr size_t kMaxMatches = 8;

// The number of runs of 13 tokens (76 tokens) below which a text is too generic to count: a silu, a
// cdiv, the guard around a launch. Such a holdout is not looked for in modules and launchers, such
// a text is not reported as made of holdouts, and its structure is ignored. As a kernel it is still
// compared, with its tokens as written.
inline constexpr uint32_t kLeastRuns = 64;

// A search for what kernels have in common with holdouts. It compares each exported text of a
// kernel (source, module, launcher) with each text of a benchmark's answer (its kernels' sources
// and launchers):
//
// clang-format off
//   sources with sources   the same tokens; Jaccard similarity of shingles, plain and structural
//   all texts with all     runs of 13 tokens: how many of the holdout's runs the text has, and how
//                          many of the text's runs any holdout has
//   all texts with all     the same with words: holdout_words.h
//   files of the holdout
// clang-format on
//
// The comparison is exact, without MinHash: the threshold for contamination is so low that half of
// a job would fall into one bucket, and holdouts are few. It holds all shingles and runs of the
// holdouts in memory. Not thread-safe.
class HoldoutMatcher {
 public:
  // Similarities below the threshold are not reported.
  explicit HoldoutMatcher(double threshold) : threshold_(threshold) {}

  // Adds a holdout, in ascending order. Returns INVALID_ARGUMENT for a malformed set.
  absl::Status Add(uint32_t number, const v1::KernelShingles& kernel);

  // Appends the kernel's matches to `pairs`: holdouts that reach the threshold or share a run. For
  // each measure it names the kMaxMatches strongest, by text and holdout, and counts the others.
  // Returns INVALID_ARGUMENT for a malformed set.
  absl::Status Match(uint32_t number, const v1::KernelShingles& kernel, v1::PairSet* pairs);

 private:
  // A text of a holdout. Equal texts of several holdouts share one.
  struct Item {
    uint32_t number;
    v1::Sensitive::Text text;
    uint64_t tokens;  // a hash of all its tokens
    uint32_t shingles = 0;
    uint32_t structural = 0;
    uint32_t runs = 0;
    int copies = 1;
  };
  // Counts of what an item has in common with the text at hand.
  struct Common {
    uint32_t shingles = 0;
    uint32_t structural = 0;
    uint32_t runs = 0;
  };
  using Set = absl::Span<const uint64_t>;
  using Postings = absl::flat_hash_map<uint64_t, std::vector<uint32_t>>;  // hash to items_
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
  HoldoutWords words_;
  std::vector<Common> common_;     // for each item
  std::vector<uint32_t> touched_;  // items that have anything in common with the text at hand
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_
