#include "common/code/brackets.h"

// Searches over the tokens of a lexer. Strings and comments are tokens of their own, so a bracket
// in them is never taken for one of the code. Each search is one pass.
namespace kernelmill::code {

// Returns tokens.size() if the bracket is never closed. Only the depth is counted: which kind of
// bracket closes which is the parser's business, and code in repositories may be broken.
size_t FindClosingBracket(absl::Span<const Token> tokens, size_t open) {
  int depth = 0;
  for (size_t at = open; at < tokens.size(); ++at) {
    if (tokens[at].kind != Token::kOperator) continue;
    depth += BracketDepthChange(tokens[at].text);
    if (depth == 0) return at;
  }
  return tokens.size();
}

// Returns `end` if the mark is not found. It is compared before the depth changes, so that a
// bracket can be the mark.
size_t FindOutsideBrackets(absl::Span<const Token> tokens, size_t begin, size_t end,
                           absl::string_view mark) {
  int depth = 0;
  for (size_t at = begin; at < end; ++at) {
    if (tokens[at].kind != Token::kOperator) continue;
    if (depth == 0 && tokens[at].text == mark) return at;
    depth += BracketDepthChange(tokens[at].text);
  }
  return end;
}

// Matches all brackets in one pass with a stack. A bracket that is never closed gets tokens.size(),
// and any other token its own index.
std::vector<size_t> MatchBrackets(absl::Span<const Token> tokens) {
  std::vector<size_t> closes(tokens.size());
  std::vector<size_t> open;
  for (size_t at = 0; at < tokens.size(); ++at) {
    closes[at] = at;
    if (tokens[at].kind != Token::kOperator) continue;
    if (IsOpeningBracket(tokens[at].text)) {
      closes[at] = tokens.size();
      open.push_back(at);
    } else if (IsClosingBracket(tokens[at].text) && !open.empty()) {
      closes[open.back()] = at;
      open.pop_back();
    }
  }
  return closes;
}

}  // namespace kernelmill::code
