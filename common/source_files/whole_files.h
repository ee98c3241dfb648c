#ifndef KERNELMILL_COMMON_SOURCE_FILES_WHOLE_FILES_H_
#define KERNELMILL_COMMON_SOURCE_FILES_WHOLE_FILES_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::source_files {

// Files that go into a dataset whole, of sources that keep files.

// Larger ones are data or generated; it is the bound that the usual corpora of code have.
inline constexpr size_t kMaxWholeFileBytes = 1 << 20;

// Why a file is no text to train on, as a short stable word; empty if it is one. "binary": a NUL
// stands in it, which is how git tells too; "too_large"; "empty": nothing but white space.
absl::string_view WholeFileProblem(absl::string_view content);

// The language that a file is written in, by its name alone, in lower case: "python", "c++",
// "cuda", "markdown"; empty where the name says nothing.
absl::string_view LanguageOfFile(absl::string_view path);

// The lexer for a kernel's text, or for a whole file's, by its name.
code::Language LexedAs(const v1::Kernel& kernel);

// Whether the lexer knows comments and strings of the language from its code: false of prose, of
// data, and of what has no lexer.
bool IsLexed(absl::string_view language);

}  // namespace kernelmill::source_files

#endif  // KERNELMILL_COMMON_SOURCE_FILES_WHOLE_FILES_H_
