#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_COMMENT_BLOCKS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_COMMENT_BLOCKS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::validator {

// A line of a comment or a docstring, without comment marks.
struct CommentLine {
  absl::string_view text;
  int number = 0;  // the line of the file, from 1
  // It is in a docstring, or below code: what it says is more likely about the code than about the
  // licence of the file.
  bool prose = false;
};

// Comments on consecutive lines, or one docstring.
struct CommentBlock {
  std::vector<CommentLine> lines;
  // It is above all code except imports, and not right above the first function.
  bool in_head = false;

  int first_line() const { return lines.front().number; }
  int last_line() const { return lines.back().number; }
};

// Removes the marks that open, close or continue a comment from both ends.
absl::string_view StripCommentMarks(absl::string_view line);

// Returns whether a file's language has C's comments. Other files are read as Python.
bool HasCComments(absl::string_view path);

// Returns the language whose comments a file has.
code::Language CommentsOfFile(absl::string_view path);

// Returns every comment of a text, and in Python every string that is a statement. Linear.
std::vector<CommentBlock> CommentBlocks(code::Language language, absl::string_view text);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_WORDS_COMMENT_BLOCKS_H_
