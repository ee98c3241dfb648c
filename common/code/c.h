#ifndef KERNELMILL_COMMON_CODE_C_H_
#define KERNELMILL_COMMON_CODE_C_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/code/bytes.h"

// The literals, comments and operators of C, C++ and CUDA, digraphs and trigraphs aside: whoever
// cuts up such code asks here. All are total on any bytes and take time linear in what they pass
// over.
namespace kernelmill::code {

namespace internal {
size_t EndOfCommentAtSlash(absl::string_view text, size_t at);
}  // namespace internal

// '$' is a letter to nvcc, gcc and clang.
inline bool IsCNameByte(char c) { return internal::kCNameBytes[static_cast<unsigned char>(c)]; }

inline size_t EndOfCName(absl::string_view text, size_t at) {
  while (at < text.size() && IsCNameByte(text[at])) ++at;
  return at;
}

// What the letters before a quote say.
enum class CPrefix : uint8_t {
  kNone,      // they are a name, which stands before the literal
  kEncoding,  // L, u, U, u8
  kRaw,       // R, LR, uR, UR, u8R: of strings alone
};
CPrefix ReadCPrefix(absl::string_view letters, char quote);

// One past the string or character literal whose opening quote is at `quote`. One that is not
// closed ends with its line; a raw string with the text. What has a raw string's prefix but not its
// beginning, R"delimiter(, is read as any other.
size_t EndOfCString(absl::string_view text, size_t quote, CPrefix prefix);

// One past the comment at `at`, without the line end; `at` if there is none. A backslash at the end
// of a // comment's line joins the next line to it.
inline size_t EndOfCComment(absl::string_view text, size_t at) {
  return text[at] == '/' ? internal::EndOfCommentAtSlash(text, at) : at;
}

// One past the number that begins at `at` (see IsNumberAt), as the preprocessor sees it: 1.5e-3f,
// 0x1p+2, 1'000, 0x1Fu. The sign behind the e of a hexadecimal number is an operator.
size_t EndOfCNumber(absl::string_view text, size_t at);

// One past the operator or delimiter at `at`, the longest that fits, CUDA's <<< and >>> among them;
// any other byte is one by itself.
size_t EndOfCOperator(absl::string_view text, size_t at);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_C_H_
