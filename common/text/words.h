#ifndef KERNELMILL_COMMON_TEXT_WORDS_H_
#define KERNELMILL_COMMON_TEXT_WORDS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns a hash of each word of a text, in order. Words are letters, digits and underscores, in
// lower case, so that code, comments, docstrings and prose are compared with each other, whatever
// the language, the layout and the quotes. A notice of copyright or licence at the head of a text
// is left out: anybody has it. The hashes are stored and enter digests: changing one needs a new
// version of the sign stage. Thread-safe.
std::vector<uint64_t> HashWords(absl::string_view text);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_TEXT_WORDS_H_
