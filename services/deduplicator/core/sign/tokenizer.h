#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/code/lexer.h"

namespace kernelmill::deduplicator {

using code::Language;
using code::Token;

// Returns the tokens that decide what the text does: what two copies of a kernel share if they
// differ only in layout and documentation. Comments are left out. So is, in Python, a string that
// is a whole statement: a docstring or commented-out code does nothing.
std::vector<Token> Tokenize(absl::string_view source, Language language);

// Returns the names that a kernel is free to choose: its own, its parameters' and its variables',
// as far as the tokens alone tell. Attributes and the functions that it calls are not among them.
// The views point into the tokens. Accepts any tokens, and takes linear time.
//
//   Python  the word after `def` and `class`; the parameters of `def` and `lambda`; the targets of
//           assignments, `for`, `as` and ':='
//   C       a word after a type or another word's '*', '&' or '>', if '=', ';', ',', ')', '[',
//           '{' or ':' follows it; a word that is assigned to; the types of a template
absl::flat_hash_set<absl::string_view> LocalNames(absl::Span<const Token> tokens,
                                                  Language language);

// Marks each token that is one of these names or the kernel's own. Attributes and the names of
// keyword arguments are never marked: renaming a variable does not change them.
std::vector<bool> MarkLocalNames(absl::Span<const Token> tokens, Language language,
                                 absl::string_view kernel_name);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_TOKENIZER_H_
