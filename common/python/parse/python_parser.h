#ifndef KERNELMILL_COMMON_PYTHON_PARSE_PYTHON_PARSER_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_PYTHON_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// Parses Python, errors and all. The port that adapters/tree_sitter fills. Thread-safe.
//
// RESOURCE_EXHAUSTED: the text costs more work or more nodes than its size allows; the message is
// one short stable word, and the same text always fails so. DEADLINE_EXCEEDED: the clock ran out on
// this machine; another try may end well.
class PythonParser {
 public:
  virtual ~PythonParser() = default;
  // The tree refers to `text`.
  virtual absl::StatusOr<SyntaxTree> Parse(absl::string_view text) const = 0;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_PYTHON_PARSER_H_
