#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::deduplicator {

using code::Language;
using code::Token;

// The tokens of a text that make it do what it does: what two copies of a kernel share when they
// differ in layout and documentation alone. So comments are none, nor is in Python a string that is
// a whole statement by itself: it documents (a docstring, code commented out) and does nothing.
std::vector<Token> Tokenize(absl::string_view source, Language language);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_
