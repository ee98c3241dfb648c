#ifndef KERNELMILL_COMMON_CODE_C_H_
#define KERNELMILL_COMMON_CODE_C_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/code/bytes.h"

// The literals, comments and operators of C, C++ and CUDA, without digraphs and trigraphs. All code
// that cuts up C uses these functions. They accept any bytes, and take time linear in the bytes
// that they pass. An EndOf function returns the offset after the thing at `at`.
namespace kernelmill::code {

namespace internal {
size_t EndOfCommentAtSlash(absl::string_view text, size_t at);
}  // namespace internal

// Returns true for a byte of an identifier. nvcc, gcc and clang allow '$'.
inline bool IsCNameByte(char c) { return internal::kCNameBytes[static_cast<unsigned char>(c)]; }

inline size_t EndOfCName(absl::string_view text, size_t at) {
  while (at < text.size() && IsCNameByte(text[at])) ++at;
  return at;
}

// The meaning of the letters before a quote.
enum class CPrefix : uint8_t {
  kNone,      // a name, and not part of the literal
  kEncoding,  // L, u, U, u8
  kRaw,       // R, LR, uR, UR, u8R; only before strings
};
CPrefix ReadCPrefix(absl::string_view letters, char quote);

// Returns the end of the string or character literal whose opening quote is at `quote`. An unclosed
// literal ends with its line, an unclosed raw string with the text. A raw string's prefix without
// its beginning, R"delimiter(, is read as a plain string.
size_t EndOfCString(absl::string_view text, size_t quote, CPrefix prefix);

// Returns the end of the comment at `at`, before the line end, or `at` if there is no comment. A
// backslash at the end of a // comment's line continues it on the next line.
inline size_t EndOfCComment(absl::string_view text, size_t at) {
  return text[at] == '/' ? internal::EndOfCommentAtSlash(text, at) : at;
}

// Returns the end of the number at `at` (see IsNumberAt), as the preprocessor reads it: 1.5e-3f,
// 0x1p+2, 1'000, 0x1Fu. The sign after the e of a hexadecimal number is an operator.
size_t EndOfCNumber(absl::string_view text, size_t at);

// Returns the end of the longest operator or delimiter at `at`, including CUDA's <<< and >>>. Any
// other byte counts as an operator of one byte.
size_t EndOfCOperator(absl::string_view text, size_t at);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_C_H_
