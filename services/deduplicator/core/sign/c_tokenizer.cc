// C, C++ and CUDA. Nothing is preprocessed: a directive is tokens like any other.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "services/deduplicator/core/sign/scan.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;

constexpr size_t kMaxRawDelimiter = 16;  // the language's own limit

// Longer ones first, so that the first that fits is the longest.
constexpr std::array<string_view, 27> kOperators = {
    "<<<", ">>>", "<<=", ">>=", "->*", "...", "<=>", "->", "::", "<<", ">>", "<=", ">=", "==",
    "!=",  "&&",  "||",  "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^="};

size_t OperatorLength(string_view text) {
  for (const string_view op : kOperators) {
    if (absl::StartsWith(text, op)) return op.size();
  }
  return absl::StartsWith(text, "##") ? 2 : 1;
}

bool IsStringPrefix(string_view word) {
  if (absl::EndsWith(word, "R")) word.remove_suffix(1);
  return word.empty() || word == "u8" || word == "u" || word == "U" || word == "L";
}

// The length of the literal at the start of `text`, whose quote stands at `quote`.
size_t QuotedLength(string_view text, size_t quote) {
  for (size_t at = quote + 1; at < text.size(); ++at) {
    if (const size_t length = ContinuationLength(text.substr(at)); length > 0) {
      at += length - 1;
    } else if (text[at] == '\\') {
      ++at;
    } else if (IsNewline(text[at])) {
      return at;
    } else if (text[at] == text[quote]) {
      return at + 1;
    }
  }
  return text.size();
}

// R"delimiter( ... )delimiter"; what has no such beginning is a plain literal.
size_t RawLength(string_view text, size_t quote) {
  const size_t open = text.find('(', quote + 1);
  if (open == string_view::npos || open - quote - 1 > kMaxRawDelimiter) {
    return QuotedLength(text, quote);
  }
  const string_view delimiter = text.substr(quote + 1, open - quote - 1);
  for (size_t at = text.find(')', open); at != string_view::npos; at = text.find(')', at + 1)) {
    const string_view rest = text.substr(at + 1);
    if (absl::StartsWith(rest, delimiter) && rest.size() > delimiter.size() &&
        rest[delimiter.size()] == '"') {
      return at + delimiter.size() + 2;
    }
  }
  return text.size();
}

// The length of the comment at the start of `text`; 0 if it has none.
size_t CommentLength(string_view text) {
  if (absl::StartsWith(text, "/*")) {
    const size_t end = text.find("*/", 2);
    return end == string_view::npos ? text.size() : end + 2;
  }
  if (!absl::StartsWith(text, "//")) return 0;
  size_t at = 2;
  while (at < text.size() && !IsNewline(text[at])) {
    at += std::max<size_t>(ContinuationLength(text.substr(at)), 1);
  }
  return at;
}

class Tokenizer {
 public:
  explicit Tokenizer(string_view source) : rest_(source) {}

  std::vector<Token> Run() {
    tokens_.reserve(rest_.size() / 3);
    while (!rest_.empty()) Step();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = rest_.front();
    if (IsBlank(c) || IsNewline(c)) {
      rest_.remove_prefix(1);
    } else if (const size_t length = CommentLength(rest_); length > 0) {
      rest_.remove_prefix(length);
    } else if (const size_t skipped = ContinuationLength(rest_); skipped > 0) {
      rest_.remove_prefix(skipped);
    } else if (IsQuote(c)) {
      Take(QuotedLength(rest_, 0), TokenKind::kString);
    } else if (AtNumber(rest_)) {
      Take(NumberLength(rest_, '\''), TokenKind::kNumber);
    } else if (IsWord(c)) {
      TakeWord();
    } else {
      Take(OperatorLength(rest_), TokenKind::kOperator);
    }
  }

  void TakeWord() {
    const size_t end = WordLength(rest_);
    const string_view word = rest_.substr(0, end);
    if (end == rest_.size() || !IsQuote(rest_[end]) || !IsStringPrefix(word)) {
      return Take(end, TokenKind::kWord);
    }
    const bool is_raw = word.back() == 'R' && rest_[end] == '"';
    Take(is_raw ? RawLength(rest_, end) : QuotedLength(rest_, end), TokenKind::kString);
  }

  void Take(size_t length, TokenKind kind) {
    tokens_.push_back({rest_.substr(0, length), kind});
    rest_.remove_prefix(length);
  }

  string_view rest_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> TokenizeC(string_view source) { return Tokenizer(source).Run(); }

}  // namespace kernelmill::deduplicator
