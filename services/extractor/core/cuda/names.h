#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"

// Words of C++ and the names that they make up. Without a parser a keyword's role depends on who
// asks, so there are several overlapping lists of words.
namespace kernelmill::extractor::cuda {

// Returns whether the word is class, struct or union.
bool IsClassKey(absl::string_view word);

// Returns whether the word is a type by itself or part of one: unsigned, auto, float.
bool IsTypeWord(absl::string_view word);

// Returns whether the word may come before a type, or between a type and a name: const, __shared__.
bool IsSpecifier(absl::string_view word);

// Returns whether an expression follows the word, so that it is no type: return, sizeof, case.
bool IsExpressionWord(absl::string_view word);

// Returns whether the word names nothing: all of the above, `enum`, and the other keywords.
bool IsReserved(absl::string_view word);

// Returns whether the word may follow a function's parameters, or a macro's arguments within a
// declaration: const, noexcept.
bool IsTrailer(absl::string_view word);

// Returns whether the word takes parentheses and is not the declared name: alignas, __declspec.
bool IsAttribute(absl::string_view word);

// Returns whether the word takes parentheses and calls nothing: if, sizeof, int.
bool IsKeyword(absl::string_view word);

// The result of a search for the '>' of a '<'.
struct AngleSearch {
  uint32_t token;  // the '>', or the token at which the search ended
  bool found;
};

// Finds the '>' that closes the '<' at `open`. Looks at `most` tokens at most.
AngleSearch FindAngleEnd(const Code& code, const Brackets& brackets, uint32_t open,
                         uint32_t most = kNoToken);

// Returns the word at end - 1, or the word before the template arguments that end there: f of f and
// of f<T>. kNoToken if neither is there.
uint32_t NameBefore(const Code& code, const Brackets& brackets, uint32_t end);

// Returns the first token of the qualified name whose last part is at `name`: a of a::b<c>::f.
uint32_t QualifiedBegin(const Code& code, const Brackets& brackets, uint32_t name);

// Returns the words of [begin, end) outside template arguments, joined by "::".
std::string JoinedWords(const Code& code, const Brackets& brackets, uint32_t begin, uint32_t end);

// Reads the declaration of a class from its class key at `key` to the '{' at `brace`. Returns false
// if it defines no class. Sets `name`, which is empty for an unnamed class.
bool ClassName(const Code& code, const Brackets& brackets, uint32_t key, uint32_t brace,
               std::string& name);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_NAMES_H_
