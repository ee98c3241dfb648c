#ifndef KERNELMILL_COMMON_CODE_LEXER_H_
#define KERNELMILL_COMMON_CODE_LEXER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::code {

enum class Language : uint8_t { kPython, kC };  // kC: C, C++ and CUDA

// A token of a source text. `text` points into it. python.h and c.h define the kinds.
struct Token {
  enum Kind : uint8_t {
    kName,  // also keywords
    kNumber,
    kString,    // with its prefix and quotes
    kComment,   // with its marks
    kOperator,  // also delimiters, and any byte that fits nowhere else
  };
  absl::string_view text;
  Kind kind = kOperator;
  // Python only: true for the first token of a logical line, a ';' outside brackets, and the token
  // after one. Never true for a comment.
  bool begins_statement = false;
};

// Cuts a text into tokens, in order, without blanks, line ends and line joins. C is not
// preprocessed: a directive is a sequence of ordinary tokens. Accepts any bytes, and takes linear
// time. Thread-safe.
std::vector<Token> Lex(absl::string_view text, Language language);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_LEXER_H_
