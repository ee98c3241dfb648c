#ifndef KERNELMILL_COMMON_PYTHON_PARSE_BUDGETED_PARSER_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_BUDGETED_PARSER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/parse/python_parser.h"

namespace kernelmill::python {

// A parser that reads no more bytes than it was given, however often it is asked: the same texts
// end it at the same one on every machine, which a clock would not. Not thread-safe.
class BudgetedParser : public PythonParser {
 public:
  BudgetedParser(const PythonParser& parser, uint64_t bytes) : parser_(parser), left_(bytes) {}

  // RESOURCE_EXHAUSTED also once the bytes are spent.
  absl::StatusOr<SyntaxTree> Parse(absl::string_view text) const override {
    Spend(kBytesPerParse + text.size());
    if (IsSpent()) return absl::ResourceExhaustedError("work_budget");
    return parser_.Parse(text);
  }

  // Takes what something else than a parse has read.
  void Spend(uint64_t bytes) const { left_ -= bytes < left_ ? bytes : left_; }
  bool IsSpent() const { return left_ == 0; }

 private:
  // What a parse costs beside its text.
  static constexpr uint64_t kBytesPerParse = 256;

  const PythonParser& parser_;
  mutable uint64_t left_;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_BUDGETED_PARSER_H_
