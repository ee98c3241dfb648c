#ifndef KERNELMILL_COMMON_SPDX_TEXT_LEGAL_WORDS_H_
#define KERNELMILL_COMMON_SPDX_TEXT_LEGAL_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::spdx {

// A word of a legal text, or a wildcard: a place that each user fills in, as "<owner>" is.
struct LegalWord {
  std::string text;  // empty: a wildcard
  int line = 0;      // from 1
  size_t at = 0;     // the byte where it begins
};

// The words by which two legal texts are compared, as the SPDX list's matching guidelines say: in
// lower case, without punctuation, quotes, comment marks, bullets, numbers of clauses and copyright
// lines; of varieties of spelling ("licence", "sub-license", "copyright owner", "https") one.
// `placeholders`: what stands in angle brackets is a wildcard, as it is in the list's own texts.
std::vector<LegalWord> LegalWords(absl::string_view text, bool placeholders = false);

// Whether a line, without comment marks, says who holds a copyright: "Copyright (c) 2020 X", not
// "copyright notice".
bool IsCopyrightLine(absl::string_view line);

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_TEXT_LEGAL_WORDS_H_
