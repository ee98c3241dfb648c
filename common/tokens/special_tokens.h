#ifndef KERNELMILL_COMMON_TOKENS_SPECIAL_TOKENS_H_
#define KERNELMILL_COMMON_TOKENS_SPECIAL_TOKENS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill {

// A special token of language models in a text. A tokenizer may read it as the end of a message, or
// as another control, where the text means its characters.
struct SpecialToken {
  std::string token;         // as the models have it: <|im_start|>, [INST]
  absl::string_view models;  // the families that have it; "unknown" if it only has the form of one
  int32_t count = 0;
  // It is written with other characters that look the same, or that normalization makes the same.
  bool look_alike = false;
};

// Returns the special tokens in a text, sorted, each spelling once. Accepts any bytes, and takes
// time linear in them. Thread-safe.
//
// The known tokens are a table in the .cc with its sources. Any other <|name|> is a token of the
// form that most models use. A digit matches the table's '#': <|reserved_special_token_#|>.
std::vector<SpecialToken> FindSpecialTokens(absl::string_view text);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_TOKENS_SPECIAL_TOKENS_H_
