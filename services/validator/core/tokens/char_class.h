#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_CHAR_CLASS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_CHAR_CLASS_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace kernelmill::validator::bpe {

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

// The character at `at` of UTF-8 text.
Char CharAt(absl::string_view text, size_t at);

}  // namespace kernelmill::validator::bpe

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_CHAR_CLASS_H_
