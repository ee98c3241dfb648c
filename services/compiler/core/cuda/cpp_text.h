#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUDA_CPP_TEXT_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUDA_CPP_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// Pieces of C++ text, read without a parser. All are linear in the text.
namespace kernelmill::compiler::cuda {

bool IsWord(char c);

// Removes comments, and makes each run of white space one blank.
std::string OneLine(absl::string_view text);

// Splits a list of template parameters or arguments at its commas. Commas within brackets are no
// ends of an entry.
std::vector<std::string> SplitList(absl::string_view list);

// Takes the last word from a text.
std::string TakeLastWord(absl::string_view& text);

// Returns the place of the word from `begin` on, or npos.
size_t FindWord(absl::string_view text, absl::string_view word, size_t begin = 0);

// Returns whether a text has the word.
bool HasWord(absl::string_view text, absl::string_view word);

// Returns the place behind the bracket that closes the one at `open`, or npos.
size_t FindClose(absl::string_view text, size_t open);

}  // namespace kernelmill::compiler::cuda

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUDA_CPP_TEXT_H_
