#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_WORDS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

inline constexpr size_t kMaxWord = 32;  // letters; longer words are ignored

// Returns the words of a text, in order. Identifiers are split at "_" and at capitals (`LayerNorm`
// and `layer_norm` are layer, norm); digits stay with the letters before them (`fp16`, `conv2d`).
// One-letter words of ASCII are left out. Scripts without blanks between words give pairs of
// characters; words of other scripts stay as written. Characters beyond the basic plane are
// ignored.
//
// The site's script splits queries by the same rules: client/catalog/web/src/words.ts.
std::vector<std::string> Words(absl::string_view text);

// Returns whether a word is too common to search for, in code or in prose: `def`, `the`.
bool IsStopWord(absl::string_view word);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_WORDS_H_
