#ifndef KERNELMILL_COMMON_CODE_LEXER_H_
#define KERNELMILL_COMMON_CODE_LEXER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::code {

enum class Language : uint8_t { kPython, kC };  // kC: C, C++ and CUDA

// What kernels of a DSL are written in.
inline Language LanguageOf(v1::Dsl dsl) {
  return dsl == v1::DSL_CUDA ? Language::kC : Language::kPython;
}

// A piece of a source text. `text` points into it.
struct Token {
  enum Kind : uint8_t {
    kName,      // keywords too
    kNumber,    // see python.h and c.h, as for the next three
    kString,    // with its prefix and quotes
    kComment,   // with its marks
    kOperator,  // and delimiters; any byte that fits nowhere else
  };
  absl::string_view text;
  Kind kind = kOperator;
  // Python: the first of a logical line, a ';' outside brackets, or what follows one. No comment.
  bool begins_statement = false;
};

// Cuts a text into tokens, in order. Blanks, line ends and joined lines are none. Of C nothing is
// preprocessed: a directive is tokens like any other. Total on any bytes, in linear time.
std::vector<Token> Lex(absl::string_view text, Language language);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_LEXER_H_
