#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_VOCABULARY_TEXT_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_VOCABULARY_TEXT_H_

#include "absl/strings/string_view.h"

namespace kernelmill::validator::bpe {

// Files of the npm package tiktoken, linked in by the assembler.
absl::string_view Cl100kBaseText();
absl::string_view O200kBaseText();

}  // namespace kernelmill::validator::bpe

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_TOKENS_VOCABULARY_TEXT_H_
