#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_LOCAL_NAMES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_LOCAL_NAMES_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {

// The names that a kernel is free to choose: its own, its parameters' and its variables', as far as
// the tokens alone tell. Attributes and functions that it calls are none of them. Views into the
// tokens. Total on any tokens, in linear time.
//
//   Python  what follows `def` and `class`; the parameters of `def` and `lambda`; targets of
//           assignments, `for`, `as` and ':='
//   C       a word that follows a type or another word's '*', '&' or '>' and that '=', ';', ',',
//           ')', '[', '{' or ':' follows; a word that is assigned to; a template's types
absl::flat_hash_set<absl::string_view> LocalNames(absl::Span<const Token> tokens,
                                                  Language language);

// Of each token whether it is one of these names, or the kernel's own: attributes and the names of
// keyword arguments are none, whatever they are called.
std::vector<bool> MarkLocalNames(absl::Span<const Token> tokens, Language language,
                                 absl::string_view kernel_name);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_LOCAL_NAMES_H_
