#include "common/code/c.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::code {
namespace {

using absl::string_view;

// Reads "..." or '...' from the opening quote on. Ends with the line if it is not closed.
size_t EndOfPlainString(string_view text, size_t quote) {
  size_t at = quote + 1;
  while (at < text.size() && !IsNewline(text[at])) {
    if (text[at] == text[quote]) return at + 1;
    at = text[at] == '\\' ? EndOfEscape(text, at) : at + 1;
  }
  return at;
}

// Reads R"delimiter( ... )delimiter".
size_t EndOfRawString(string_view text, size_t quote) {
  constexpr size_t kMaxDelimiter = 16;  // the limit of C++
  const string_view head = text.substr(quote + 1, kMaxDelimiter + 1);
  const size_t paren = head.find_first_of("() \\\t\v\f\r\n\"");
  if (paren == string_view::npos || head[paren] != '(') return EndOfPlainString(text, quote);
  const std::string close = absl::StrCat(")", head.substr(0, paren), "\"");
  const size_t end = text.find(close, quote + 1 + paren);
  return end == string_view::npos ? text.size() : end + close.size();
}

}  // namespace

// An R makes a raw string only before a double quote: in R'x' it is a name before a character.
CPrefix ReadCPrefix(string_view letters, char quote) {
  const bool raw = absl::ConsumeSuffix(&letters, "R");
  const bool encoding = letters == "L" || letters == "u" || letters == "U" || letters == "u8";
  if (raw) return quote == '"' && (encoding || letters.empty()) ? CPrefix::kRaw : CPrefix::kNone;
  return encoding ? CPrefix::kEncoding : CPrefix::kNone;
}

// `quote` is the place of the opening quote, after the prefix.
size_t EndOfCString(string_view text, size_t quote, CPrefix prefix) {
  return prefix == CPrefix::kRaw ? EndOfRawString(text, quote) : EndOfPlainString(text, quote);
}

// Reads /* ... */ up to its end or the text's end, or // ... up to the line's end. A backslash
// before the newline continues a line comment.
size_t internal::EndOfCommentAtSlash(string_view text, size_t at) {
  const char next = ByteAt(text, at + 1);
  if (next == '*') {
    const size_t end = text.find("*/", at + 2);
    return end == string_view::npos ? text.size() : end + 2;
  }
  if (next != '/') return at;
  while (at < text.size() && !IsNewline(text[at])) {
    const size_t spliced = EndOfLineSplice(text, at);
    at = spliced > at ? spliced : at + 1;
  }
  return at;
}

// Reads a number as C's preprocessor does: names, dots, a sign after an exponent's letter, and the
// separator ' of C++. It does not check that the number is valid.
size_t EndOfCNumber(string_view text, size_t at) {
  const char second = ByteAt(text, at + 1);
  const bool hex = text[at] == '0' && (second == 'x' || second == 'X');
  for (++at; at < text.size(); ++at) {
    const char c = text[at];
    if (IsCNameByte(c) || c == '.') continue;
    const char last = absl::ascii_tolower(static_cast<unsigned char>(text[at - 1]));
    // In a hexadecimal number e is a digit, and only p begins an exponent.
    const bool sign = (c == '+' || c == '-') && (last == 'p' || (last == 'e' && !hex));
    const bool separator =
        c == '\'' && IsCNameByte(text[at - 1]) && IsCNameByte(ByteAt(text, at + 1));
    if (!sign && !separator) break;
  }
  return at;
}

// Takes the longest operator that begins at `at`. CUDA's <<< and >>> count as operators.
size_t EndOfCOperator(string_view text, size_t at) {
  const char first = text[at];
  const char second = ByteAt(text, at + 1);
  if (!absl::ascii_ispunct(static_cast<unsigned char>(second))) return at + 1;
  const string_view three = text.substr(at, 3);
  // Longer operators first, or << would be taken from <<<.
  for (const string_view known : {"<<<", ">>>", "<<=", ">>=", "...", "->*", "<=>"}) {
    if (three == known) return at + 3;
  }
  if (second == first && absl::StrContains(":+-<>=&|#", first)) return at + 2;
  if (second == '=' && absl::StrContains("<>=!+-*/%&|^", first)) return at + 2;
  return at + (first == '-' && second == '>' ? 2 : 1);
}

}  // namespace kernelmill::code
