// Comments on consecutive lines are one block, since a sentence may go on over several of them. A
// block in the head of its file is about the whole file; another block is about the code below it.
#include "services/validator/core/license/words/comment_blocks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/code/python.h"
#include "common/cpp/include_paths.h"

namespace kernelmill::validator {
namespace {

using code::Language;
using code::Token;

// Collects blocks from the tokens of a file. Positions become lines by counting line ends from
// token to token, which keeps it linear.
class BlockReader {
 public:
  BlockReader(absl::string_view content, bool c_like) : at_(content.data()), c_like_(c_like) {}

  void Read(const Token& token) {
    line_ += static_cast<int>(std::count(at_, token.text.data(), '\n'));
    at_ = token.text.data();
    const bool docstring = !c_like_ && token.kind == Token::kString && token.begins_statement;
    if (token.kind == Token::kComment) {
      Add(token.text, /*joins=*/true);
    } else if (docstring) {
      Add(code::PythonStringContent(token.text), /*joins=*/false);
    } else {
      ReadCode(token);
    }
  }

  std::vector<CommentBlock> Take() && { return std::move(blocks_); }

 private:
  // Adds lines to the last block, or to a new one if there is a gap, a docstring, or the end of the
  // head between.
  void Add(absl::string_view text, bool joins) {
    int number = line_;
    const bool new_block = blocks_.empty() || !joins || !joins_ ||
                           blocks_.back().last_line() + 1 < number ||
                           blocks_.back().in_head != in_head_;
    if (new_block) {
      blocks_.emplace_back();
      blocks_.back().in_head = in_head_;
    }
    joins_ = joins;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      blocks_.back().lines.push_back({StripCommentMarks(line), number++});
    }
  }

  // Notes where the head ends: at the first definition. In C everything except preprocessor lines
  // counts as one.
  void ReadCode(const Token& token) {
    if (!in_head_ || line_ == directive_) return;
    if (c_like_ && token.text == "#") {
      directive_ = line_;
      after_imports_ = true;
      return;
    }
    constexpr absl::string_view kDefinitions[] = {"@", "def", "class", "async"};
    const bool defines =
        c_like_ || (token.begins_statement && absl::c_linear_search(kDefinitions, token.text));
    if (!defines) {
      after_imports_ = true;
      return;
    }
    in_head_ = false;
    // A comment below the imports and right above the first definition is about that definition.
    if (!blocks_.empty() && after_imports_ && blocks_.back().last_line() + 1 == line_) {
      blocks_.back().in_head = false;
    }
  }

  const char* at_;
  const bool c_like_;
  int line_ = 1;  // the line of at_
  int directive_ = 0;
  bool in_head_ = true;
  bool after_imports_ = false;
  bool joins_ = false;  // the last block consists of comments
  std::vector<CommentBlock> blocks_;
};

}  // namespace

// Removes the marks of comments at both ends of a line, whatever the language.
absl::string_view StripCommentMarks(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  for (const absl::string_view mark : {"*/", "-->", "#}", "\"\"\"", "'''"}) {
    if (absl::ConsumeSuffix(&line, mark)) line = absl::StripAsciiWhitespace(line);
  }
  while (!line.empty() && absl::StrContains("#/*<!-;%{", line[0])) line.remove_prefix(1);
  return absl::StripAsciiWhitespace(line);
}

// Returns whether the file's comments are those of C. All other files are read as Python.
bool HasCComments(absl::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == absl::string_view::npos) return false;
  const std::string extension = absl::AsciiStrToLower(path.substr(dot + 1));
  for (const absl::string_view known : {"c", "cl", "js", "rs"}) {
    if (extension == known) return true;
  }
  return cpp::IsCppPath(path);
}

code::Language CommentsOfFile(absl::string_view path) {
  return HasCComments(path) ? Language::kC : Language::kPython;
}

std::vector<CommentBlock> CommentBlocks(code::Language language, absl::string_view text) {
  BlockReader reader(text, language == Language::kC);
  for (const Token& token : code::Lex(text, language)) reader.Read(token);
  return std::move(reader).Take();
}

}  // namespace kernelmill::validator
