#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_PHRASES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_PHRASES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// Splits a name or prose into words, in small letters: "LayerNorm_2d", "layerNorm 2D" and
// "layer_norm_2d" are layer, norm, 2, d. A word ends at any byte but a letter or digit, before a
// capital that begins a word, and between letters and digits. Returns the first 64 words at most.
std::vector<std::string> NameWords(absl::string_view name);

// A set of phrases to search names for. A phrase is one or more whole words, written together:
// "layernorm" is in layer_norm, LayerNorm and layernorm, but not in playernorms. The caller gives
// each phrase numbers and knows what they mean. Immutable once all phrases are added.
class Phrases {
 public:
  struct Found {
    absl::string_view phrase;  // points into this object
    const std::vector<int>* numbers;
  };

  // A phrase without a number hides the phrases within it: "fbgemm" is no gemm.
  void Add(absl::string_view phrase);
  void Add(absl::string_view phrase, int number);

  // Finds the phrases in the words. A word belongs to one phrase: to the longest, and among equals
  // to the first. A phrase of at least four letters is found with an "s" at its end as well.
  std::vector<Found> FindIn(const std::vector<std::string>& words) const;

 private:
  absl::flat_hash_map<std::string, std::vector<int>> numbers_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_PHRASES_H_
