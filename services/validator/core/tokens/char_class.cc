#include "services/validator/core/tokens/char_class.h"

#include <utf8proc.h>

#include <array>

namespace kernelmill::validator::bpe {
namespace {

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

}  // namespace

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

}  // namespace kernelmill::validator::bpe
