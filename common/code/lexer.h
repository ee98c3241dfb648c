#ifndef KERNELMILL_COMMON_CODE_LEXER_H_
#define KERNELMILL_COMMON_CODE_LEXER_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::code {

// A piece of a source text, blanks aside. `text` points into it.
struct Token {
  enum Kind { kName, kNumber, kString, kComment, kPunctuation };
  Kind kind;
  absl::string_view text;  // a string with its prefix and quotes; a comment with its marks
};

// Cuts Python text into tokens. Never fails: a string that is not closed ends with its line, or
// with the text if it is triple-quoted; bytes that fit nowhere are punctuation. Linear in time.
std::vector<Token> LexPython(absl::string_view text);

// The same for C, C++ and CUDA.
std::vector<Token> LexC(absl::string_view text);

// What a string token holds, without prefix and quotes; escapes are left as written.
absl::string_view StringContent(absl::string_view token);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_LEXER_H_
