#include "common/code/python_escapes.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "common/base/utf8.h"
#include "common/code/bytes.h"

namespace kernelmill::code {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

std::string EncodeUtf8(uint32_t point) {
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) point = kReplacement;
  std::string encoded;
  AppendUtf8(point, &encoded);
  return encoded;
}

uint32_t DigitValue(char c) {
  return static_cast<uint32_t>(absl::ascii_isdigit(c) ? c - '0'
                                                      : absl::ascii_tolower(c) - 'a' + 10);
}

// Reads the backslash alone.
PythonEscape NoEscape(size_t at) { return {at + 1, "\\"}; }

// Reads a number of hexadecimal digits after the letter of \x, \u or \U.
PythonEscape ReadHex(absl::string_view text, size_t at, size_t digits, bool bytes) {
  const absl::string_view number = text.substr(std::min(at + 2, text.size()), digits);
  if (number.size() < digits || !std::all_of(number.begin(), number.end(), absl::ascii_isxdigit)) {
    return NoEscape(at);
  }
  uint32_t value = 0;
  for (const char c : number) value = value << 4 | DigitValue(c);
  const size_t end = at + 2 + digits;
  return {end, bytes ? std::string(1, static_cast<char>(value)) : EncodeUtf8(value)};
}

PythonEscape ReadOctal(absl::string_view text, size_t at, bool bytes) {
  constexpr size_t kMostDigits = 3;
  uint32_t value = 0;
  size_t end = at + 1;
  while (end < text.size() && end <= at + kMostDigits && text[end] >= '0' && text[end] <= '7') {
    value = value << 3 | DigitValue(text[end++]);
  }
  return {end, bytes ? std::string(1, static_cast<char>(value)) : EncodeUtf8(value)};
}

// Reads \N{name}.
PythonEscape ReadNamed(absl::string_view text, size_t at) {
  const size_t close = ByteAt(text, at + 2) == '{' ? text.find('}', at) : absl::string_view::npos;
  if (close == absl::string_view::npos) return NoEscape(at);
  return {close + 1, EncodeUtf8(kReplacement)};
}

}  // namespace

PythonEscape ReadPythonEscape(absl::string_view text, size_t at, bool bytes) {
  constexpr absl::string_view kLetters = "\\'\"abfnrtv";
  constexpr absl::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
  const char letter = ByteAt(text, at + 1);
  const size_t simple = at + 1 < text.size() ? kLetters.find(letter) : absl::string_view::npos;
  if (simple != absl::string_view::npos) return {at + 2, std::string(1, kValues[simple])};
  if (IsNewline(letter)) return {EndOfEscape(text, at), ""};
  if (letter >= '0' && letter <= '7') return ReadOctal(text, at, bytes);
  if (letter == 'x') return ReadHex(text, at, 2, bytes);
  if (bytes) return NoEscape(at);
  if (letter == 'u') return ReadHex(text, at, 4, bytes);
  if (letter == 'U') return ReadHex(text, at, 8, bytes);
  return letter == 'N' ? ReadNamed(text, at) : NoEscape(at);
}

}  // namespace kernelmill::code
