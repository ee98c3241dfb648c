#ifndef KERNELMILL_COMMON_PYTHON_EVALUATE_STATEMENTS_BY_NAME_H_
#define KERNELMILL_COMMON_PYTHON_EVALUATE_STATEMENTS_BY_NAME_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// The statements that give names their values, by places of a file. Refers to the tree. Not
// thread-safe: it remembers the blocks that it read.
//
// The basic idea: the statements that ran before a place are those above it in each block around
// it; in the blocks outside the innermost function also those below, since the function is called
// later. Those that may bind or change the name are returned: too many rather than too few, because
// the evaluator fails over a statement that it does not know. Each block is read once.
class StatementsByName {
 public:
  explicit StatementsByName(const SyntaxTree& tree) : tree_(tree) {}
  StatementsByName(const StatementsByName&) = delete;
  StatementsByName& operator=(const StatementsByName&) = delete;

  // Returns the statements of the innermost function around `at` that has any, else of the module,
  // in the order of the text. Nothing if no scope has any, or if the name is a parameter or a
  // loop's variable there.
  std::optional<std::vector<NodeId>> Find(absl::string_view name, NodeId at);

 private:
  using ByName = absl::flat_hash_map<absl::string_view, std::vector<NodeId>>;

  const ByName& In(NodeId block);
  void AddStatement(NodeId statement, ByName& names) const;

  const SyntaxTree& tree_;
  absl::flat_hash_map<NodeId, ByName> blocks_;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_EVALUATE_STATEMENTS_BY_NAME_H_
