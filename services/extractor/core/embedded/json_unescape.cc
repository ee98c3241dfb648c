#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "services/extractor/core/embedded/json_strings.h"

namespace kernelmill::extractor::json {
namespace {

constexpr size_t kUnitSize = 6;  // of \uXXXX
constexpr uint32_t kReplacement = 0xfffd;

std::optional<uint32_t> DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// The UTF-16 unit that \uXXXX at `at` stands for; nothing where there is none.
std::optional<uint32_t> UnitAt(absl::string_view raw, size_t at) {
  if (raw.size() < kUnitSize || at > raw.size() - kUnitSize) return std::nullopt;
  if (raw[at] != '\\' || raw[at + 1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  for (size_t i = at + 2; i < at + kUnitSize; ++i) {
    const std::optional<uint32_t> digit = DigitOf(raw[i]);
    if (!digit.has_value()) return std::nullopt;
    unit = unit * 16 + *digit;
  }
  return unit;
}

bool IsHighSurrogate(uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool IsLowSurrogate(uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

void AppendUtf8(uint32_t code_point, std::string& out) {
  const auto continuation = [&](int shift) {
    out += static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | code_point >> 6);
    continuation(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | code_point >> 12);
    continuation(6);
    continuation(0);
  } else {
    out += static_cast<char>(0xf0 | code_point >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

// Appends what the escape \uXXXX at `at` stands for, with the other half of its pair; how long it
// is. 0 where there is none.
size_t AppendUnit(absl::string_view raw, size_t at, std::string& out) {
  const std::optional<uint32_t> unit = UnitAt(raw, at);
  if (!unit.has_value()) return 0;
  if (IsHighSurrogate(*unit)) {
    const std::optional<uint32_t> low = UnitAt(raw, at + kUnitSize);
    if (low.has_value() && IsLowSurrogate(*low)) {
      AppendUtf8(0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00), out);
      return 2 * kUnitSize;
    }
  }
  const bool is_half = IsHighSurrogate(*unit) || IsLowSurrogate(*unit);
  AppendUtf8(is_half ? kReplacement : *unit, out);
  return kUnitSize;
}

// What a backslash before `c` stands for together with it; nothing for what is no such escape.
std::optional<char> Escaped(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string Unescape(absl::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t at = 0; at < raw.size();) {
    const size_t escape = raw.find('\\', at);
    out.append(raw.data() + at, std::min(escape, raw.size()) - at);
    if (escape == absl::string_view::npos) break;
    at = escape;
    if (const size_t size = AppendUnit(raw, at, out); size > 0) {
      at += size;
      continue;
    }
    const std::optional<char> known =
        at + 1 < raw.size() ? Escaped(raw[at + 1]) : std::optional<char>();
    out += known.value_or('\\');
    at += known.has_value() ? 2 : 1;
  }
  return out;
}

}  // namespace kernelmill::extractor::json
