#ifndef KERNELMILL_COMMON_MANIFEST_FIM_H_
#define KERNELMILL_COMMON_MANIFEST_FIM_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::manifest {

// A fill-in-the-middle example: what a model is shown of a kernel, and what it is to write.
struct FimPair {
  std::string prompt;
  std::string completion;
  // Why it is no row of fim_sft.csv, by the table below; empty where it is one, if no earlier
  // kernel's pair is equal ("repeat").
  absl::string_view excluded = "";
};

// Prompt: the kernel's context (v1::Kernel.prompt_context), a blank line where there is any, and
// its source up to the body: decorators, signature, and the docstring or, without one, the comment
// that the body begins with. Completion: the rest of the body. Prompt and completion end with one
// newline each, and no blank line stands where they meet. The source is there as it may stand at
// module level (code::AtModuleLevel): prompt and completion joined are a module. A pair that is
// excluded may be less than that. A body offset outside the source counts as its nearer end.
//
//   excluded        the kernel
//   language        is CUDA or HIP
//   template        is Python only once it is filled in, or has no role
//   syntax_error    holds a syntax error
//   indentation     begins statements with less indentation than its first line has
//   signature_line  has its body on the signature's last line
//   no_body         has nothing but a docstring and comments
//   trivial         has a body of pass, ..., raise, or return with at most one token alone, or of
//   one
//                   simple statement that has less than 32 tokens
//   short           has a body of less than 16 tokens
FimPair MakeFimPair(const v1::Kernel& kernel);

// The dataset write-up's normalize_code, on bytes: \r\n becomes \n, white space around the whole
// goes (ASCII's, as Python's str.strip sees it, 0x1c to 0x1f included), runs of blanks and tabs
// become one blank, three or more newlines become two. A derived form: records keep the text
// itself.
std::string NormalizeCode(absl::string_view code);

// The identity by which the write-up drops exact duplicates: the 20 raw bytes of the SHA-1 of
// normalize(prompt), "|||", normalize(completion). The write-up sets blanks around the bars in
// prose; here there are none, since both sides are stripped.
std::string FimPairSha1(const FimPair& pair);

// The words of a prompt and its completion, which are what white space is between, each counted
// once: how many are in both, and in either.
struct WordCounts {
  uint32_t common = 0;
  uint32_t total = 0;
};
WordCounts CountWords(const FimPair& pair);

// From this overlap of words on (common over total) a prompt gives its completion away: the
// write-up's leakage filter flags such pairs for review.
inline constexpr double kWordOverlapFlag = 0.8;

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_FIM_H_
