#ifndef KERNELMILL_COMMON_PYTHON_PARSE_PYTHON_PARSER_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_PYTHON_PARSER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// A parser of Python that also reads broken code. Thread-safe unless a subclass says otherwise.
class PythonParser {
 public:
  virtual ~PythonParser() = default;

  // Returns the tree of `text`, which must outlive it.
  //
  // RESOURCE_EXHAUSTED: the text costs more work or more nodes than its size allows; the message is
  // one short stable word, and the same text always fails so. DEADLINE_EXCEEDED: the clock ran out
  // on this machine; another try may succeed.
  virtual absl::StatusOr<SyntaxTree> Parse(absl::string_view text) const = 0;
};

// The parser that all programs use: plain text is read by our own parser (see plain_parser.h), and
// everything else by tree-sitter, whose tree of plain text is the same. Thread-safe.
//
// The basic idea of its bounds: tree-sitter calls back for every token that it tries, and a count
// of these calls ends a hostile parse at the same point on every machine, which a clock does not.
class StandardParser : public PythonParser {
 public:
  struct Options {
    // Lexer calls allowed: a fixed sum and so many per byte. An ordinary file needs about 2 per
    // byte. The same number bounds the bytes that the scanner reads again on runs of line
    // continuations.
    uint64_t work = 1'000'000;
    uint64_t work_per_byte = 8;
    // Nodes of the tree (24 bytes each). A larger tree is refused: "too_many_nodes".
    uint32_t max_nodes = 4'000'000;
    // If set, our own parser reads plain text.
    bool plain_first = true;
    // If set, text with a syntax error is refused: INVALID_ARGUMENT. Most of the time that a tree
    // of such text takes goes into finding the fewest errors.
    bool refuse_errors = false;
    // The last resort: a parse that has work left ends after this time.
    absl::Duration timeout = absl::Seconds(120);
  };

  StandardParser() = default;
  explicit StandardParser(const Options& options) : options_(options) {}

  absl::StatusOr<SyntaxTree> Parse(absl::string_view text) const override;

 private:
  Options options_;
};

// A parser that reads a bounded number of bytes over all its calls. The same texts exhaust it at
// the same one on every machine, which a clock does not. Not thread-safe.
class BudgetedParser : public PythonParser {
 public:
  BudgetedParser(const PythonParser& parser, uint64_t bytes) : parser_(parser), left_(bytes) {}

  // RESOURCE_EXHAUSTED also when the bytes are spent.
  absl::StatusOr<SyntaxTree> Parse(absl::string_view text) const override {
    Spend(kBytesPerParse + text.size());
    if (IsSpent()) return absl::ResourceExhaustedError("work_budget");
    return parser_.Parse(text);
  }

  // Takes bytes that were read without a parse.
  void Spend(uint64_t bytes) const { left_ -= bytes < left_ ? bytes : left_; }
  bool IsSpent() const { return left_ == 0; }

 private:
  // The cost of a parse beside its text.
  static constexpr uint64_t kBytesPerParse = 256;

  const PythonParser& parser_;
  mutable uint64_t left_;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_PYTHON_PARSER_H_
