#ifndef KERNELMILL_COMMON_PYTHON_TREE_SITTER_TREE_SITTER_PARSER_H_
#define KERNELMILL_COMMON_PYTHON_TREE_SITTER_TREE_SITTER_PARSER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/python/parse/python_parser.h"

namespace kernelmill::python {

// PythonParser on tree-sitter, which plain text (see plain_parser.h) need not go through.
// Thread-safe: every parse has a parser of its own.
class TreeSitterParser : public PythonParser {
 public:
  struct Options {
    // Lexer calls allowed: a fixed sum and so many a byte. An ordinary file needs about 2 a byte.
    // Bytes that runs of line continuations have the scanner read again may not be more either.
    uint64_t work = 1'000'000;
    uint64_t work_per_byte = 8;
    // Nodes of the tree handed on (24 bytes each): "too_many_nodes".
    uint32_t max_nodes = 4'000'000;
    // Whether plain text is read by our own parser, of which tree-sitter's tree is the same.
    bool plain_first = true;
    // The last resort, should work be left and time not.
    absl::Duration timeout = absl::Seconds(120);
  };

  TreeSitterParser() = default;
  explicit TreeSitterParser(const Options& options) : options_(options) {}

  absl::StatusOr<SyntaxTree> Parse(absl::string_view text) const override;

 private:
  Options options_;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_TREE_SITTER_TREE_SITTER_PARSER_H_
