#ifndef KERNELMILL_COMMON_BASE_WORD_LIST_H_
#define KERNELMILL_COMMON_BASE_WORD_LIST_H_

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns true if `word` is one of `words`, a constant array of words. Most words that are asked
// for are in no list: two masks, of lengths and of first letters, say so without a comparison.
template <const auto& words>
bool IsAmong(absl::string_view word) {
  struct Masks {
    uint64_t lengths = 0;
    uint64_t letters = 0;
  };
  static constexpr auto bit = [](uint64_t number) { return uint64_t{1} << (number % 64); };
  static constexpr Masks masks = [] {
    Masks all;
    for (const absl::string_view known : words) {
      all.lengths |= bit(known.size());
      all.letters |= bit(static_cast<unsigned char>(known.front()));
    }
    return all;
  }();
  if (word.empty() || (masks.lengths & bit(word.size())) == 0) return false;
  if ((masks.letters & bit(static_cast<unsigned char>(word.front()))) == 0) return false;
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_WORD_LIST_H_
