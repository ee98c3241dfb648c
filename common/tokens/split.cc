#include "common/tokens/split.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace kernelmill::bpe {
namespace {

// What the patterns of the encodings ask of a character, as bits. Categories are Unicode 15's.
enum CharClass : uint8_t {
  kUpper = 1 << 0,     // \p{Lu}, \p{Lt}
  kLower = 1 << 1,     // \p{Ll}
  kCaseless = 1 << 2,  // \p{Lm}, \p{Lo}
  kMark = 1 << 3,      // \p{M}
  kNumber = 1 << 4,    // \p{N}
  kSpace = 1 << 5,     // \s, line ends among them
  kLineEnd = 1 << 6,   // \r, \n
};
constexpr uint8_t kLetter = kUpper | kLower | kCaseless;

// The character at a place of a text, and its class.
struct Char {
  int32_t code = -1;  // -1: the text is over
  uint8_t size = 0;   // bytes
  uint8_t classes = 0;

  bool Is(uint8_t any) const { return (classes & any) != 0; }
  bool Ended() const { return size == 0; }
};

// White_Space beside the ASCII ones: separators by category, and one control character.
constexpr int32_t kNextLine = 0x85;

uint8_t ClassOf(int32_t code) {
  if (code == '\r' || code == '\n') return kSpace | kLineEnd;
  if (code == '\t' || code == '\v' || code == '\f' || code == kNextLine) return kSpace;
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kCaseless;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return kSpace;
    default:
      return 0;
  }
}

std::array<uint8_t, 128> AsciiClasses() {
  std::array<uint8_t, 128> classes{};
  for (int32_t code = 0; code < 128; ++code) classes[code] = ClassOf(code);
  return classes;
}

// The character at `at` of UTF-8 text.
Char CharAt(absl::string_view text, size_t at) {
  static const std::array<uint8_t, 128> ascii = AsciiClasses();
  if (at >= text.size()) return {};
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 128) return {*bytes, 1, ascii[*bytes]};
  utf8proc_int32_t code = 0;
  const auto left = static_cast<utf8proc_ssize_t>(text.size() - at);
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, left, &code);
  if (size <= 0) return {-1, 1, 0};  // not UTF-8: a symbol of one byte
  return {code, static_cast<uint8_t>(size), ClassOf(code)};
}

constexpr size_t kNoMatch = 0;     // no piece ends at the text's begin
constexpr int32_t kLongS = 0x17f;  // that (?i:s) matches too

// The end of the run of characters of any of `classes` that begins at `at`.
size_t RunEnd(absl::string_view text, size_t at, uint8_t classes) {
  for (Char c = CharAt(text, at); c.Is(classes); c = CharAt(text, at)) at += c.size;
  return at;
}

char AsciiLower(const Char& c) {
  if (c.code == kLongS) return 's';
  return c.code >= 'A' && c.code <= 'Z'
             ? static_cast<char>(c.code - 'A' + 'a')
             : (c.code >= 0 && c.code < 128 ? static_cast<char>(c.code) : '\0');
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)
size_t Contraction(absl::string_view text, size_t at) {
  if (CharAt(text, at).code != '\'') return kNoMatch;
  const Char first = CharAt(text, at + 1);
  const char letter = AsciiLower(first);
  const size_t end = at + 1 + first.size;
  if (letter == 's' || letter == 't' || letter == 'm' || letter == 'd') return end;
  const Char second = CharAt(text, end);
  const char next = AsciiLower(second);
  const bool two =
      ((letter == 'r' || letter == 'v') && next == 'e') || (letter == 'l' && next == 'l');
  return two ? end + second.size : kNoMatch;
}

// \p{N}{1,3}
size_t Numbers(absl::string_view text, size_t at) {
  size_t end = at;
  for (int count = 0; count < 3; ++count) {
    const Char c = CharAt(text, end);
    if (!c.Is(kNumber)) break;
    end += c.size;
  }
  return end > at ? end : kNoMatch;
}

bool IsSymbol(const Char& c) { return !c.Ended() && !c.Is(kSpace | kLetter | kNumber); }

// ` ?[^\s\p{L}\p{N}]+[\r\n]*`, or [\r\n/]* with `slash`.
size_t Symbols(absl::string_view text, size_t at, bool slash) {
  size_t end = at;
  if (CharAt(text, end).code == ' ') ++end;
  const size_t begin = end;
  for (Char c = CharAt(text, end); IsSymbol(c); c = CharAt(text, end)) end += c.size;
  if (end == begin) return kNoMatch;
  for (Char c = CharAt(text, end); c.Is(kLineEnd) || (slash && c.code == '/');
       c = CharAt(text, end)) {
    end += c.size;
  }
  return end;
}

// \s*[\r\n]+|\s+(?!\S)|\s+ : white space up to its last line end; without one all of it, but for
// its last character where something follows.
size_t Spaces(absl::string_view text, size_t at) {
  size_t end = at;
  size_t last = at;
  size_t line_end = kNoMatch;
  for (Char c = CharAt(text, end); c.Is(kSpace); c = CharAt(text, end)) {
    last = end;
    end += c.size;
    if (c.Is(kLineEnd)) line_end = end;
  }
  if (line_end != kNoMatch) return line_end;
  return end == text.size() || last == at ? end : last;
}

// [^\r\n\p{L}\p{N}]?
size_t Prefix(absl::string_view text, size_t at) {
  const Char c = CharAt(text, at);
  return c.Ended() || c.Is(kLineEnd | kLetter | kNumber) ? at : at + c.size;
}

constexpr uint8_t kUpperPart = kUpper | kCaseless | kMark;  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
constexpr uint8_t kLowerPart = kLower | kCaseless | kMark;  // [\p{Ll}\p{Lm}\p{Lo}\p{M}]

// kUpperPart* kLowerPart+, in the order in which a matcher gives back what the first part took.
size_t Lowered(absl::string_view text, size_t at) {
  size_t end = at;
  size_t given_back = kNoMatch;  // behind the last character that the second part could take
  for (Char c = CharAt(text, end); c.Is(kUpperPart); c = CharAt(text, end)) {
    end += c.size;
    if (c.Is(kLowerPart)) given_back = end;
  }
  const size_t lower_end = RunEnd(text, end, kLowerPart);
  return lower_end > end ? lower_end : given_back;
}

// kUpperPart+ kLowerPart*
size_t Uppered(absl::string_view text, size_t at) {
  const size_t end = RunEnd(text, at, kUpperPart);
  return end > at ? RunEnd(text, end, kLowerPart) : kNoMatch;
}

// A word with what may stand before it, and behind it.
size_t Word(absl::string_view text, size_t at, size_t (*part)(absl::string_view, size_t)) {
  const size_t prefix = Prefix(text, at);
  size_t end = part(text, prefix);
  if (end == kNoMatch && prefix > at) end = part(text, at);
  return end == kNoMatch ? kNoMatch : std::max(end, Contraction(text, end));
}

size_t Letters(absl::string_view text, size_t at) {
  const size_t begin = Prefix(text, at);
  const size_t end = RunEnd(text, begin, kLetter);
  return end > begin ? end : kNoMatch;
}

}  // namespace

// '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|
// \s++$|\s*[\r\n]|\s+(?!\S)|\s
size_t SplitCl100kBase(absl::string_view text, size_t begin) {
  if (const size_t end = Contraction(text, begin); end != kNoMatch) return end;
  if (const size_t end = Letters(text, begin); end != kNoMatch) return end;
  if (const size_t end = Numbers(text, begin); end != kNoMatch) return end;
  if (const size_t end = Symbols(text, begin, false); end != kNoMatch) return end;
  if (RunEnd(text, begin, kSpace) == text.size()) return text.size();
  return Spaces(text, begin);
}

// PREFIX?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+CONTRACTION?|
// PREFIX?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*CONTRACTION?|\p{N}{1,3}|
// ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+ with PREFIX [^\r\n\p{L}\p{N}]
size_t SplitO200kBase(absl::string_view text, size_t begin) {
  if (const size_t end = Word(text, begin, Lowered); end != kNoMatch) return end;
  if (const size_t end = Word(text, begin, Uppered); end != kNoMatch) return end;
  if (const size_t end = Numbers(text, begin); end != kNoMatch) return end;
  if (const size_t end = Symbols(text, begin, true); end != kNoMatch) return end;
  return Spaces(text, begin);
}

}  // namespace kernelmill::bpe
