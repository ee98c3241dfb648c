#ifndef KERNELMILL_COMMON_PYTHON_PARSE_PARSED_TEXT_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_PARSED_TEXT_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::python {

// A text of Python and its tree, read around its errors: a file, or a string in a file. Immutable;
// refers to the text.
class ParsedText {
 public:
  // Imports that a text may leave out: names and the dotted names that they stand for.
  using Assumed = std::vector<std::pair<std::string, std::string>>;

  // Parses a text. The names of `assumed` that the text binds nowhere count as imported, unless it
  // imports '*'. Errors: see PythonParser.
  static absl::StatusOr<std::unique_ptr<const ParsedText>> Parse(absl::string_view text,
                                                                 const PythonParser& parser,
                                                                 const Assumed& assumed = {});

  absl::string_view text() const { return text_; }
  const SyntaxTree& tree() const { return *tree_; }
  const LineIndex& lines() const { return lines_; }
  const ImportMap& imports() const { return *imports_; }
  const Calls& calls() const { return *calls_; }
  bool has_errors() const { return has_errors_; }
  // The first line that is not Python; 0 if all are.
  int first_error_line() const { return first_error_line_; }

 private:
  explicit ParsedText(absl::string_view text) : text_(text), lines_(text) {}
  absl::StatusOr<SyntaxTree> ParseTolerantly(const PythonParser& parser);
  void Assume(const Assumed& assumed);

  const absl::string_view text_;
  const LineIndex lines_;
  std::optional<std::string> copy_;  // the same text made fit for the parser
  std::optional<SyntaxTree> tree_;   // of the copy if there is one
  std::optional<ImportMap> imports_;
  std::optional<Calls> calls_;
  bool has_errors_ = false;
  int first_error_line_ = 0;
};

// Returns a copy of broken Python in which brackets that were never closed are blanks, so that a
// parser loses only the statement around them and not the rest of the file. Nothing if all are
// closed.
//
// The basic idea: no line within brackets can begin with `def` or `class`. A line that does shows
// that the brackets that are open there were never closed.
std::optional<std::string> ReplaceUnclosedBrackets(absl::string_view text);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_PARSED_TEXT_H_
