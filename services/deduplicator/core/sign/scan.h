#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SCAN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SCAN_H_

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

// What the tokenizers of all languages look for in a text.
namespace kernelmill::deduplicator {

namespace internal {

constexpr std::array<bool, 256> WordBytes() {
  std::array<bool, 256> word{};
  for (int c = 0; c < 256; ++c) {
    word[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c >= 0x80;
  }
  return word;
}

inline constexpr std::array<bool, 256> kWordBytes = WordBytes();

}  // namespace internal

inline bool IsWord(char c) { return internal::kWordBytes[static_cast<unsigned char>(c)]; }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsQuote(char c) { return c == '"' || c == '\''; }
inline bool IsNewline(char c) { return c == '\n' || c == '\r'; }
inline bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v'; }

inline size_t WordLength(absl::string_view text) {
  size_t end = 1;
  while (end < text.size() && IsWord(text[end])) ++end;
  return end;
}

// Whether a number begins the text: a digit, or a point and a digit.
bool AtNumber(absl::string_view text);

// The length of the number at the start of `text`: digits, letters, points, and a sign after the
// exponent of one that is not hexadecimal. `separator` may stand between two digits ('\0': none).
size_t NumberLength(absl::string_view text, char separator);

// The length of the backslash and the line end at the start of `text`; 0 if it has none.
size_t ContinuationLength(absl::string_view text);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_SCAN_H_
