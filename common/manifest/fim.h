#ifndef KERNELMILL_COMMON_MANIFEST_FIM_H_
#define KERNELMILL_COMMON_MANIFEST_FIM_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::manifest {

// A fill-in-the-middle example: the part of a kernel that a model sees, and the part that it must
// write.
struct FimPair {
  std::string prompt;
  std::string completion;
  // The reason why it is not a row of fim_sft.csv, from the table below. If it is empty, the pair
  // is a row, unless an earlier kernel's pair is equal ("repeat").
  absl::string_view excluded = "";
};

// Cuts a kernel into prompt and completion. The prompt is the kernel's context
// (v1::Kernel.prompt_context), a blank line if there is a context, and its source up to the body:
// decorators, signature, and the docstring or, without one, the comment that begins the body. The
// completion is the rest of the body. Each ends with one newline, and there is no blank line
// between them. The source is at module level (code::AtModuleLevel), so that prompt and completion
// together are a module. An excluded pair may not fulfil this. A body offset outside the source
// counts as the nearer end.
//
// clang-format off
//   excluded        the kernel
//   language        is CUDA or HIP
//   template        is Python only after it is filled in, or has no role
//   syntax_error    contains a syntax error
//   indentation     has a statement with less indentation than its first line
//   signature_line  has its body on the signature's last line
//   no_body         has only a docstring and comments
//   trivial         has a body of only pass, ..., raise, or return with at most one token, or of one
//                   simple statement with less than 32 tokens
//   short           has a body with less than 16 tokens
// clang-format on
FimPair MakeFimPair(const v1::Kernel& kernel);

// Applies normalize_code of the dataset's write-up, to bytes: \r\n becomes \n; white space around
// the whole text is removed (ASCII's, as Python's str.strip does, including 0x1c to 0x1f); runs of
// blanks and tabs become one blank; three or more newlines become two. Records keep the original
// text.
std::string NormalizeCode(absl::string_view code);

// Returns the identity by which the write-up drops exact duplicates: the 20 raw bytes of the SHA-1
// of normalize(prompt), "|||", normalize(completion). The write-up's prose has blanks around the
// bars; the hash does not, since both sides are stripped.
std::string FimPairSha1(const FimPair& pair);

// The distinct words of a prompt and its completion, separated by white space: the number in both,
// and in either.
struct WordCounts {
  uint32_t common = 0;
  uint32_t total = 0;
};
WordCounts CountWords(const FimPair& pair);

// The overlap of words (common over total) from which a prompt may give its completion away. The
// write-up's leakage filter flags such pairs for review.
inline constexpr double kWordOverlapFlag = 0.8;

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_FIM_H_
