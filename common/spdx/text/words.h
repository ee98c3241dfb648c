#ifndef KERNELMILL_COMMON_SPDX_TEXT_WORDS_H_
#define KERNELMILL_COMMON_SPDX_TEXT_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::spdx {

// Text reduced to what looking for phrases in it needs: words in lower case, one blank before and
// after each; punctuation, line breaks and comment marks gone; "2.0" and "v2.0" stay one word;
// "licence" is spelled "license". So " the mit license " is found in it as a plain substring, at
// word boundaries.
std::string NormalizeWords(absl::string_view text);

// The same as a list, in which "." stands where a sentence or a paragraph ends. `lines`: if not
// null, the line of each, from 1.
std::vector<std::string> SentenceWords(absl::string_view text, std::vector<int>* lines = nullptr);

// Words in text[begin, end) of a normalized text.
size_t CountWords(absl::string_view normalized);

// The position in `normalized` of the blank before `phrase`, from `from` on; npos if it is not
// there.
size_t FindPhrase(const std::string& normalized, absl::string_view phrase, size_t from = 0);

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_TEXT_WORDS_H_
