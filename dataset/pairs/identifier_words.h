#ifndef KERNELMILL_DATASET_PAIRS_IDENTIFIER_WORDS_H_
#define KERNELMILL_DATASET_PAIRS_IDENTIFIER_WORDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// The words of an identifier or a file's name, in small letters: LayerNormBackward2 and
// layer_norm_backward have the same. What is no letter and no digit divides words, and so does a
// capital that begins one (QKNorm: qk, norm); digits stay with their word (fp8, conv1d), but those
// that only number a long one go. At most 32 words.
std::vector<std::string> IdentifierWords(absl::string_view name);

// The one word for words of the same meaning: "fwd" for "forward". Others are their own.
absl::string_view FoldSynonym(absl::string_view word);

// Whether two words are known to be one: "layernorm", "topk".
bool IsKnownCompound(absl::string_view word);

// Whether the word says nothing of what a kernel does: "kernel", "cuda", "impl", a single letter.
bool IsFiller(absl::string_view word);

// "forward" and "backward", folded.
inline constexpr absl::string_view kForward = "fwd";
inline constexpr absl::string_view kBackward = "bwd";

// A parameter's name without what only says how it is passed: x_ptr, X and stride_x are x. Empty
// for one that has no name of its own, such as a block's size.
std::string FoldParameter(absl::string_view name);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PAIRS_IDENTIFIER_WORDS_H_
