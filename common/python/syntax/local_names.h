#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_LOCAL_NAMES_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_LOCAL_NAMES_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// The values of a file's names: its own functions, classes, assignments and parameters, by Python's
// scopes. An assignment to several names counts as far as the text shows each value: a, b = x, y.
// Imports and other bindings are not part of it. Immutable; refers to the tree.
class LocalNames {
 public:
  explicit LocalNames(const SyntaxTree& tree);

  // Returns what the name is in the innermost scope around `at` that binds it: function and class
  // definitions and the expressions that it is assigned, in the order of the text; a bounded number
  // of those near `at`.
  std::span<const NodeId> GetValues(absl::string_view name, NodeId at) const;

  // Returns whether that scope binds it as a parameter; it may be assigned anew as well.
  bool IsParameter(absl::string_view name, NodeId at) const;

  // Returns the values of a name in the body of a class, like GetValues.
  std::span<const NodeId> GetMembers(absl::string_view name, NodeId class_definition) const;

  // Returns the functions, classes and assignments in the body of a class, with their names, each
  // kind in the order of the text.
  std::vector<std::pair<absl::string_view, NodeId>> ListMembers(NodeId class_definition) const;

  // Every value of a name of the module, in the order of the text.
  std::vector<std::pair<absl::string_view, NodeId>> ListModuleValues() const;

  // Returns the functions that the name may mean at `at`: the last one above, and those in other
  // branches of the same if, try or match; else the first below.
  std::vector<NodeId> FunctionsNamed(absl::string_view name, NodeId at) const;

 private:
  using Key = std::pair<NodeId, absl::string_view>;  // a scope, which its node names
  struct Bound {
    absl::InlinedVector<NodeId, 2> values;
    bool parameter = false;
  };

  using Bindings = absl::InlinedVector<std::pair<absl::string_view, NodeId>, 1>;

  // Returns the names that a definition or an assignment binds, and their values.
  Bindings ReadBindings(NodeId node) const;
  void Declare(NodeId statement, bool global);
  NodeId FindBindingScope(absl::string_view name, NodeId node) const;
  void BindParameter(NodeId node, NodeId parent);
  const Bound* Find(absl::string_view name, NodeId at) const;
  bool InOtherBranch(NodeId a, NodeId b) const;

  const SyntaxTree& tree_;
  std::vector<NodeId> scope_of_;  // by node: the function, lambda, class or module around it
  absl::flat_hash_map<Key, NodeId> declared_;  // global and nonlocal names: the scope that has them
  absl::flat_hash_map<Key, Bound> bound_;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_LOCAL_NAMES_H_
