#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_WORDS_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::deduplicator {

// The number of texts of holdouts from which on a run is anybody's: the frame that all problems of
// a benchmark have, a usual launcher. Such a run counts neither as common nor as missing.
inline constexpr size_t kCommonTexts = 25;

// The share from which a match is reported. Less is what any two texts of a kind have in common.
inline constexpr double kLeastShareOfWords = 0.2;

// An index of the words of all texts of holdouts, by runs of 13 (sign/words.h): every file of a
// holdout, or every string of a JSON file. It tells which of them a text of a candidate contains,
// and how much of the text they are. Add all holdouts before the first match. Holds eight to
// sixteen bytes per word of the holdouts. Not thread-safe.
class HoldoutWords {
 public:
  void Add(uint32_t number, const v1::KernelShingles& shingles);

  // Appends a match for each text of the candidate and each text of a holdout, if the share of the
  // runs of either that the other has is at least kLeastShareOfWords.
  void Match(const v1::KernelShingles& shingles, std::vector<v1::HoldoutMatch>* matches);

 private:
  struct Item {
    uint32_t number;
    std::string json_pointer;
    uint32_t runs = 0;  // without those that are anybody's
    int copies = 1;
  };

  void DropCommonRuns();
  v1::HoldoutMatch MakeMatch(uint32_t index, v1::Sensitive::Text text) const;
  void MatchText(const v1::WordRuns& words, std::vector<v1::HoldoutMatch>* matches);

  std::vector<Item> items_;
  absl::flat_hash_map<uint64_t, uint32_t> by_text_;
  // By run the items that have it; nothing for one that is anybody's.
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> by_run_;
  bool dropped_ = false;
  std::vector<uint32_t> common_;   // for each item
  std::vector<uint32_t> touched_;  // items with a run of the text at hand
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_WORDS_H_
