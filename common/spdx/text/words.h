#ifndef KERNELMILL_COMMON_SPDX_TEXT_WORDS_H_
#define KERNELMILL_COMMON_SPDX_TEXT_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::spdx {

// A word of a legal text, or a wildcard: a place that each user of the licence fills in, such as
// "<owner>".
struct LegalWord {
  std::string text;  // empty: a wildcard
  int line = 0;      // from 1
  size_t at = 0;     // the offset of its first byte
};

// Returns the words by which two legal texts are compared, following the SPDX list's matching
// guidelines: in lower case, without punctuation, quotes, comment marks, bullets, clause numbers
// and copyright lines, and with one spelling for words that vary ("licence", "sub-license",
// "copyright owner", "https"). `placeholders`: text in angle brackets is a wildcard, as in the
// list's own texts.
std::vector<LegalWord> LegalWords(absl::string_view text, bool placeholders = false);

// Returns whether a line, without comment marks, names a copyright holder: "Copyright (c) 2020 X",
// but not "copyright notice".
bool IsCopyrightLine(absl::string_view line);

// Returns a text in the form in which phrases are looked for: lower-case words with one blank
// before and after each, without punctuation, line breaks and comment marks. "2.0" and "v2.0" stay
// one word, and "licence" is spelled "license". So " the mit license " can be found as a plain
// substring at word boundaries.
std::string NormalizeWords(absl::string_view text);

// Returns the same words as a list, with "." at the end of each sentence and paragraph. `lines`: if
// not null, gets the line of each, from 1.
std::vector<std::string> SentenceWords(absl::string_view text, std::vector<int>* lines = nullptr);

// Returns the number of words in a normalized text.
size_t CountWords(absl::string_view normalized);

// Returns the position in `normalized` of the blank before `phrase`, from `from` on; npos if it is
// not there.
size_t FindPhrase(const std::string& normalized, absl::string_view phrase, size_t from = 0);

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_TEXT_WORDS_H_
