#include "common/code/brackets.h"

namespace kernelmill::code {

size_t FindClosingBracket(absl::Span<const Token> tokens, size_t open) {
  int depth = 0;
  for (size_t at = open; at < tokens.size(); ++at) {
    if (tokens[at].kind != Token::kOperator) continue;
    depth += BracketDepthChange(tokens[at].text);
    if (depth == 0) return at;
  }
  return tokens.size();
}

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
