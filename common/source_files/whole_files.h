#ifndef KERNELMILL_COMMON_SOURCE_FILES_WHOLE_FILES_H_
#define KERNELMILL_COMMON_SOURCE_FILES_WHOLE_FILES_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::source_files {

// Files that go into a dataset whole, for sources that keep files (SourceKeep).

// Larger files are data or generated. The common code corpora have the same bound.
inline constexpr size_t kMaxWholeFileBytes = 1 << 20;

// Returns why a file is not a text to train on, as a short stable word; empty if it is one:
// "binary" (it has a NUL, which is git's test too), "too_large", or "empty" (nothing except white
// space).
absl::string_view WholeFileProblem(absl::string_view content);

// Returns the language of a file by its name only, in lower case: "python", "c++", "cuda",
// "markdown"; empty if the name does not tell.
absl::string_view LanguageOfFile(absl::string_view path);

// Returns the lexer for a kernel's text, or for a whole file's by its name.
code::Language LexedAs(const v1::Kernel& kernel);

// Returns whether the kernel is code within text of another kind: a string of a JSON file, a cell
// of a notebook, a fence. Comments of the file are then not comments on the kernel.
bool IsEmbedded(const v1::Kernel& kernel);

// Returns whether the lexer can tell comments and strings of the language from code. False for
// prose, for data, and for languages without a lexer.
bool IsLexed(absl::string_view language);

}  // namespace kernelmill::source_files

#endif  // KERNELMILL_COMMON_SOURCE_FILES_WHOLE_FILES_H_
