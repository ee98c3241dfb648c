#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNEL_REFERENCES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNEL_REFERENCES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/local_names.h"
#include "common/python/syntax/syntax_tree.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

using python::LocalNames;
using python::NodeId;
using python::SyntaxTree;

// A kernel's name and the function that it is defined in, kNoNode outside any. Kernels with the
// same key are not distinguished.
using KernelKey = std::pair<std::string, NodeId>;

// All that an expression may mean when it is launched or handed on.
struct KernelReference {
  std::vector<KernelKey> kernels;    // kernels of the text
  std::vector<std::string> imports;  // dotted names, as written, that the text does not bind
  // Parameters of functions around the expression: the function, and the parameter's name.
  std::vector<std::pair<NodeId, absl::string_view>> parameters;
  bool looked_up = false;  // it goes through a display or a subscript
};

// Finds the kernels that an expression of a text may be.
//
// The basic idea: follow the expression backwards to the values that it may have, with a list of
// pending expressions, until only kernels, imports and parameters are left. Nothing is executed, so
// all possible values count:
//   - a name is the kernel with this last part in the innermost function around that defines one;
//   else
//     it has the values that its scope, or any assignment to an attribute of this name, gives it;
//   - a condition, and `or`, has the values of both branches;
//   - a dictionary or list has its elements; a subscript by a literal string only those under this
//   key;
//   - a call has its first argument, as in partial(k), wrap_triton(k) and triton.autotune(...)(k),
//   and
//     all that the called function of the text returns.
// The number of steps is bounded. Immutable; refers to the tree.
class KernelReferences {
 public:
  KernelReferences(const SyntaxTree& tree, const std::vector<JitFunction>& functions);

  KernelReference Follow(NodeId expression) const;

  // Returns the functions of the text that a call may call; methods are found by their names.
  std::vector<NodeId> FunctionsCalled(NodeId call) const;

  KernelKey MakeKey(NodeId definition) const;
  // Returns the innermost function around a node; kNoNode outside any.
  NodeId FunctionAround(NodeId node) const { return around_[node]; }
  const LocalNames& names() const { return names_; }

 private:
  struct Search;

  std::optional<KernelKey> FindKernel(absl::string_view name, NodeId at) const;
  void FollowNode(NodeId node, Search& search) const;
  void FollowName(NodeId node, Search& search) const;
  void FollowSubscript(NodeId node, Search& search) const;
  void FollowCall(NodeId node, Search& search) const;
  void FollowElements(NodeId node, absl::string_view key, Search& search) const;

  const SyntaxTree& tree_;
  const LocalNames names_;
  const std::vector<NodeId> around_;
  absl::flat_hash_set<KernelKey> kernels_;
  // Values that attributes are assigned, and functions in classes, by name.
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> attributes_;
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> methods_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNEL_REFERENCES_H_
