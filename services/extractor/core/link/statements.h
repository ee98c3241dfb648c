#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_STATEMENTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_STATEMENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

// Python texts as tokens, for questions that do not need a syntax tree. Definitions reach the link
// stage as texts, and parsing each again would take longer than all the rest of linking.
namespace kernelmill::extractor {

// The tokens of a Python text, which view the text.
using Tokens = std::vector<code::Token>;

// Returns the tokens of a Python text without comments.
inline Tokens LexCode(absl::string_view text) {
  Tokens tokens = code::Lex(text, code::Language::kPython);
  std::erase_if(tokens,
                [](const code::Token& token) { return token.kind == code::Token::kComment; });
  return tokens;
}

// Returns whether the token exists and is `text`.
inline bool Is(const Tokens& tokens, size_t at, absl::string_view text) {
  return at < tokens.size() && tokens[at].text == text;
}

// Returns whether the token is the name of a keyword argument.
inline bool IsKeyword(const Tokens& tokens, size_t at) {
  return at > 0 && Is(tokens, at + 1, "=") && (Is(tokens, at - 1, "(") || Is(tokens, at - 1, ","));
}

// Returns the token after the statement that begins at `at`.
inline size_t EndOfStatement(const Tokens& tokens, size_t at) {
  do ++at;
  while (at < tokens.size() && !tokens[at].begins_statement);
  return at;
}

// The members that a text reads of each name, which may be a module: f and g.h of m in m.f(m.g.h).
// Immutable; owns all that it holds.
class MemberReads {
 public:
  explicit MemberReads(absl::string_view text);

  // Returns the chains of members that follow the name; sorted, each once. Null if the name is also
  // used by itself or in an f-string, so that the text may read other members of it.
  const std::vector<std::string>* Find(absl::string_view name) const;

 private:
  struct Reads {
    bool whole = false;  // the name is used by itself
    std::vector<std::string> chains;
  };

  void AddWords(absl::string_view literal);

  absl::flat_hash_map<std::string, Reads> reads_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_STATEMENTS_H_
