#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_WORDS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

inline constexpr size_t kMaxWord = 32;  // letters; longer ones are no words

// The words of a text, in its order. Identifiers come apart at "_" and at capitals (`LayerNorm`,
// `layer_norm`: layer, norm), digits stay with the letters before them (`fp16`, `conv2d`). Words of
// one letter of ASCII are left out. Scripts that put no blanks between words come as pairs of
// characters, letters of others as written; what is beyond the basic plane is no letter here.
//
// The site's script cuts queries up by the same rules: client/catalog/web/src/words.ts.
std::vector<std::string> Words(absl::string_view text);

// What says nothing by itself, in code and in prose: `def`, `the`.
bool IsStopWord(absl::string_view word);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_WORDS_H_
