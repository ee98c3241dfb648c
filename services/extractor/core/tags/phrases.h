#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_PHRASES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_PHRASES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// The words of a name or of prose, in small letters: "LayerNorm_2d", "layerNorm 2D" and
// "layer_norm_2d" are layer, norm, 2, d. Words end at whatever is no letter or digit, before a
// capital that begins a word, and between letters and digits. So many words at most.
std::vector<std::string> NameWords(absl::string_view name);

// Phrases, each some whole words that are written together: "layernorm" is what stands in
// layer_norm, LayerNorm and layernorm, and in no playernorms. Each has numbers, which mean
// something to whoever adds them. Once all are added, immutable.
class Phrases {
 public:
  struct Found {
    absl::string_view phrase;  // of this object
    const std::vector<int>* numbers;
  };

  // Without a number a phrase hides what its words would mean without it: "fbgemm" is no gemm.
  void Add(absl::string_view phrase);
  void Add(absl::string_view phrase, int number);

  // Those that stand in the words. A word belongs to one phrase: the longest first, then the first.
  // A phrase of at least four letters is found with an "s" behind it too.
  std::vector<Found> FindIn(const std::vector<std::string>& words) const;

 private:
  absl::flat_hash_map<std::string, std::vector<int>> numbers_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_PHRASES_H_
