#ifndef KERNELMILL_COMMON_CODE_BRACKETS_H_
#define KERNELMILL_COMMON_CODE_BRACKETS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/code/lexer.h"

// Round, square and curly brackets of a lexed text, for readers that need no grammar.
//
// All functions here are total: foreign texts have brackets that nothing closes or opens. They
// count depth and do not compare kinds, so that "(]" is a pair; the lexers' strings and comments
// hide the brackets in them. Each takes linear time. C++'s angle brackets are not counted, since
// only a declaration tells them from comparisons.
namespace kernelmill::code {

inline bool IsOpeningBracket(char c) { return c == '(' || c == '[' || c == '{'; }
inline bool IsClosingBracket(char c) { return c == ')' || c == ']' || c == '}'; }

inline bool IsOpeningBracket(absl::string_view token) {
  return token.size() == 1 && IsOpeningBracket(token[0]);
}
inline bool IsClosingBracket(absl::string_view token) {
  return token.size() == 1 && IsClosingBracket(token[0]);
}

// By how much a token changes the number of open brackets: 1, -1 or 0.
inline int BracketDepthChange(absl::string_view token) {
  return IsOpeningBracket(token) ? 1 : IsClosingBracket(token) ? -1 : 0;
}

// Returns the index of the token that closes the bracket at `open`; the number of tokens if none
// does.
size_t FindClosingBracket(absl::Span<const Token> tokens, size_t open);

// Returns the index of the first `mark` of [begin, end) that is outside all brackets opened since
// `begin`; `end` if there is no such token. `mark` is no bracket.
size_t FindOutsideBrackets(absl::Span<const Token> tokens, size_t begin, size_t end,
                           absl::string_view mark);

// Returns for each opening bracket the index of the token that closes it, or the number of tokens
// if none does; for each other token its own index. For readers that jump over brackets often.
std::vector<size_t> MatchBrackets(absl::Span<const Token> tokens);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_BRACKETS_H_
