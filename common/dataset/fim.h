#ifndef KERNELMILL_COMMON_DATASET_FIM_H_
#define KERNELMILL_COMMON_DATASET_FIM_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// A fill-in-the-middle example: what a model is shown of a kernel, and what it is to write.
struct FimPair {
  std::string prompt;
  std::string completion;
};

// Prompt: the kernel's import lines, a blank line where there are any, and its source up to the
// body: decorators, signature, and the docstring or, without one, the comment that the body begins
// with. Completion: the rest of the body. Both are bytes as the file has them. A body offset
// outside the source counts as its nearer end.
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

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_COMMON_DATASET_FIM_H_
