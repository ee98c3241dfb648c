#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "services/deduplicator/core/sign/scan.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;

// The length of the operator at the start of `text`.
size_t OperatorLength(string_view text) {
  const char first = text.front();
  const char second = text.size() > 1 ? text[1] : '\0';
  const char third = text.size() > 2 ? text[2] : '\0';
  if (first == '.') return second == '.' && third == '.' ? 3 : 1;
  if (second == first && (first == '*' || first == '/' || first == '<' || first == '>')) {
    return third == '=' ? 3 : 2;
  }
  if (second == '=' && absl::StrContains("<>=!:+-*/%&|^@", first)) return 2;
  return first == '-' && second == '>' ? 2 : 1;
}

bool IsStringPrefix(string_view word) {
  if (word.size() > 2) return false;
  for (const char c : word) {
    if (!absl::StrContains("rRbBuUfF", c)) return false;
  }
  return true;
}

// The length of the string literal at the start of `text`, whose quotes begin at `quote`. A
// backslash takes the next byte with it, in raw strings too.
size_t StringLength(string_view text, size_t quote) {
  const char mark = text[quote];
  const bool triple =
      text.size() >= quote + 3 && text[quote + 1] == mark && text[quote + 2] == mark;
  size_t at = quote + (triple ? 3 : 1);
  while (at < text.size()) {
    if (text[at] == '\\') {
      at += 2;
    } else if (!triple && IsNewline(text[at])) {
      return at;
    } else if (text[at] != mark) {
      ++at;
    } else if (!triple) {
      return at + 1;
    } else if (text.size() >= at + 3 && text[at + 1] == mark && text[at + 2] == mark) {
      return at + 3;
    } else {
      ++at;
    }
  }
  return text.size();
}

class Tokenizer {
 public:
  explicit Tokenizer(string_view source) : rest_(source) {}

  std::vector<Token> Run() {
    tokens_.reserve(rest_.size() / 3);
    while (!rest_.empty()) Step();
    EndLine();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = rest_.front();
    if (IsNewline(c)) {
      if (depth_ == 0) EndLine();
      rest_.remove_prefix(1);
    } else if (IsBlank(c)) {
      rest_.remove_prefix(1);
    } else if (c == '#') {
      const size_t end = rest_.find_first_of("\r\n");
      rest_.remove_prefix(end == string_view::npos ? rest_.size() : end);
    } else if (const size_t length = ContinuationLength(rest_); length > 0) {
      rest_.remove_prefix(length);
    } else if (IsQuote(c)) {
      Take(StringLength(rest_, 0), TokenKind::kString);
    } else if (AtNumber(rest_)) {
      Take(NumberLength(rest_, '\0'), TokenKind::kNumber);
    } else if (IsWord(c)) {
      TakeWord();
    } else {
      TakeOperator();
    }
  }

  void TakeWord() {
    const size_t end = WordLength(rest_);
    if (end < rest_.size() && IsQuote(rest_[end]) && IsStringPrefix(rest_.substr(0, end))) {
      Take(StringLength(rest_, end), TokenKind::kString);
    } else {
      Take(end, TokenKind::kWord);
    }
  }

  void TakeOperator() {
    const char c = rest_.front();
    if (c == ';' && depth_ == 0) EndLine();
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    Take(OperatorLength(rest_), TokenKind::kOperator);
    if (c == ';' && depth_ == 0) statement_ = tokens_.size();
  }

  void Take(size_t length, TokenKind kind) {
    tokens_.push_back({rest_.substr(0, length), kind, tokens_.size() == statement_});
    rest_.remove_prefix(length);
  }

  // Ends a statement; drops it where it is one string.
  void EndLine() {
    if (tokens_.size() == statement_ + 1 && tokens_.back().kind == TokenKind::kString) {
      tokens_.pop_back();
    }
    statement_ = tokens_.size();
  }

  string_view rest_;
  std::vector<Token> tokens_;
  size_t statement_ = 0;  // index of the first token of the statement being read
  int depth_ = 0;         // of brackets
};

}  // namespace

std::vector<Token> TokenizePython(string_view source) { return Tokenizer(source).Run(); }

}  // namespace kernelmill::deduplicator
