#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_STATEMENTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_STATEMENTS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::extractor {

// A Python text as its tokens, which statements are walked by. They view the text.
using Tokens = std::vector<code::Token>;

// Without comments.
inline Tokens LexedCode(absl::string_view text) {
  Tokens tokens = code::Lex(text, code::Language::kPython);
  std::erase_if(tokens,
                [](const code::Token& token) { return token.kind == code::Token::kComment; });
  return tokens;
}

// Whether there is a token at `at`, and it reads so.
inline bool Is(const Tokens& tokens, size_t at, absl::string_view text) {
  return at < tokens.size() && tokens[at].text == text;
}

// One past the last token of the statement that begins at `at`.
inline size_t EndOfStatement(const Tokens& tokens, size_t at) {
  do ++at;
  while (at < tokens.size() && !tokens[at].begins_statement);
  return at;
}

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_STATEMENTS_H_
