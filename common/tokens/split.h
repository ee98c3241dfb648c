#ifndef KERNELMILL_COMMON_TOKENS_SPLIT_H_
#define KERNELMILL_COMMON_TOKENS_SPLIT_H_

#include <cstddef>

#include "absl/strings/string_view.h"

// The pieces that an encoding cuts a text into before it merges bytes: what the regular expressions
// in tiktoken's openai_public.py match (pat_str; version 0.14.0), written out, since they need
// look-ahead and ordered alternatives, and speed.
namespace kernelmill::bpe {

// The end of the piece that begins at `begin`, an offset within UTF-8 text: always behind it.
using Split = size_t (*)(absl::string_view text, size_t begin);

size_t SplitCl100kBase(absl::string_view text, size_t begin);
size_t SplitO200kBase(absl::string_view text, size_t begin);

}  // namespace kernelmill::bpe

#endif  // KERNELMILL_COMMON_TOKENS_SPLIT_H_
