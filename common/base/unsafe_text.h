#ifndef KERNELMILL_COMMON_BASE_UNSAFE_TEXT_H_
#define KERNELMILL_COMMON_BASE_UNSAFE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill {

// A character at the start of a text: its code point and its number of bytes, which is 0 if the
// text does not begin with UTF-8.
struct Utf8Character {
  uint32_t code = 0;
  size_t size = 0;
};

// Decodes the first character of a text that is not empty. Overlong forms, surrogates and numbers
// above 0x10ffff are not UTF-8: they could hide another character.
Utf8Character DecodeUtf8(absl::string_view text);

// Returns whether a terminal acts on the character, or shows different text because of it: control
// characters, also those from 0x80 on, and characters that reorder or hide text.
bool IsUnsafeCodePoint(uint32_t code);

// Returns a JSON text whose unsafe characters are escaped, which changes no value of it.
std::string EscapeUnsafeJson(std::string json);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_UNSAFE_TEXT_H_
