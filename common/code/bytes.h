#ifndef KERNELMILL_COMMON_CODE_BYTES_H_
#define KERNELMILL_COMMON_CODE_BYTES_H_

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

// Tests of single bytes and line ends that the lexers of all languages share.
namespace kernelmill::code {

namespace internal {

constexpr std::array<bool, 256> NameBytes(bool with_dollar) {
  std::array<bool, 256> name{};
  for (int c = 0; c < 256; ++c) {
    name[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c >= 0x80 || (c == '$' && with_dollar);
  }
  return name;
}

inline constexpr std::array<bool, 256> kNameBytes = NameBytes(/*with_dollar=*/false);
inline constexpr std::array<bool, 256> kCNameBytes = NameBytes(/*with_dollar=*/true);

}  // namespace internal

// Returns true for a byte of an identifier: a letter, a digit, '_', or any byte of a non-ASCII
// character.
inline bool IsNameByte(char c) { return internal::kNameBytes[static_cast<unsigned char>(c)]; }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsQuote(char c) { return c == '"' || c == '\''; }
inline bool IsNewline(char c) { return c == '\n' || c == '\r'; }
inline bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v'; }

// Returns the byte at `at`, or NUL past the end.
inline char ByteAt(absl::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

// Returns true if a number begins at `at`: a digit, or a point and a digit.
inline bool IsNumberAt(absl::string_view text, size_t at) {
  return IsDigit(text[at]) || (text[at] == '.' && IsDigit(ByteAt(text, at + 1)));
}

inline size_t EndOfName(absl::string_view text, size_t at) {
  while (at < text.size() && IsNameByte(text[at])) ++at;
  return at;
}

inline size_t EndOfLine(absl::string_view text, size_t at) {
  while (at < text.size() && !IsNewline(text[at])) ++at;
  return at;
}

// Returns the offset after the backslash at `at` and the byte that it escapes; "\r\n" counts as
// one.
inline size_t EndOfEscape(absl::string_view text, size_t at) {
  const bool pair = ByteAt(text, at + 1) == '\r' && ByteAt(text, at + 2) == '\n';
  return std::min(at + (pair ? 3 : 2), text.size());
}

// Returns the offset after the backslash at `at` and the line end that follows, or `at` if none
// does.
inline size_t EndOfLineSplice(absl::string_view text, size_t at) {
  return text[at] == '\\' && IsNewline(ByteAt(text, at + 1)) ? EndOfEscape(text, at) : at;
}

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_BYTES_H_
