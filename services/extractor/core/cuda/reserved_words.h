#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_RESERVED_WORDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_RESERVED_WORDS_H_

#include "absl/strings/string_view.h"

namespace kernelmill::extractor::cuda {

// class, struct and union.
bool IsClassKey(absl::string_view word);

// Words that are types by themselves, or parts of one.
bool IsTypeWord(absl::string_view word);

// Words that may stand between a type and a name, or before a type.
bool IsSpecifier(absl::string_view word);

// Words after which an expression stands, and no name that is declared.
bool IsExpressionWord(absl::string_view word);

// All of these, `enum`, and the other words that name nothing.
bool IsReserved(absl::string_view word);

// Words that may follow a function's parameters, or a macro's arguments within a declaration.
bool IsTrailer(absl::string_view word);

// Words that take parentheses and are not the name of what is declared.
bool IsAttribute(absl::string_view word);

// Words that take parentheses and call nothing.
bool IsKeyword(absl::string_view word);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_RESERVED_WORDS_H_
