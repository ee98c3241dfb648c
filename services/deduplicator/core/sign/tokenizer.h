#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::deduplicator {

enum class Language : uint8_t { kPython, kC };

enum class TokenKind : uint8_t { kWord, kNumber, kString, kOperator };

struct Token {
  absl::string_view text;  // a view into the source
  TokenKind kind = TokenKind::kOperator;
  bool begins_statement = false;  // Python: the first of a logical line, or after a ';'
};

// The code tokens of a text, in order: what two copies of a kernel share when they differ in layout
// and documentation alone.
//
//   words      runs of letters, digits, '_' and bytes from 0x80
//   numbers    one token each, as C's preprocessor sees them: 1.5e-3, 0x1Fu, 1_000
//   strings    one token each, as written: prefix, quotes and all; an unclosed one ends with its
//              line, or with the text where it may span lines
//   operators  the language's, the longest that fits; any other byte by itself
//
// Blanks, newlines, line continuations and comments are dropped. So is, in Python, a string that is
// a whole statement by itself, outside brackets: it documents (a docstring, code commented out) and
// does nothing. Total on any bytes, in linear time.
std::vector<Token> TokenizePython(absl::string_view source);
std::vector<Token> TokenizeC(absl::string_view source);

inline std::vector<Token> Tokenize(absl::string_view source, Language language) {
  return language == Language::kC ? TokenizeC(source) : TokenizePython(source);
}

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_
