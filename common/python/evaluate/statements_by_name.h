#ifndef KERNELMILL_COMMON_PYTHON_EVALUATE_STATEMENTS_BY_NAME_H_
#define KERNELMILL_COMMON_PYTHON_EVALUATE_STATEMENTS_BY_NAME_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// Which statements give a name what it stands for at some place of a file.
//
// The basic idea: what ran before a place is, in each block around it, the statements above; in
// the blocks outside the innermost function around it also those below, since it is called later.
// Of these the ones count that may bind the name, or change it: too many rather than too few, as
// whoever runs them fails over one that it does not know. Blocks are looked through once each.
class StatementsByName {
 public:
  explicit StatementsByName(const SyntaxTree& tree) : tree_(tree) {}
  StatementsByName(const StatementsByName&) = delete;
  StatementsByName& operator=(const StatementsByName&) = delete;

  // Of the innermost function, or else module, around `at` in which there are any; in the order of
  // the text. Nothing where there are none, or the name is a parameter or a loop's variable there.
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
