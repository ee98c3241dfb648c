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

// A kernel's name and the function that it is defined in, kNoNode outside any: kernels of one name
// and place are not told apart.
using KernelKey = std::pair<std::string, NodeId>;

// What an expression that is launched, or handed on, may stand for.
struct KernelReference {
  std::vector<KernelKey> kernels;    // of the text
  std::vector<std::string> imports;  // dotted names, as written, that nothing of the text binds
  // Parameters of functions around it: the function, and the parameter's name.
  std::vector<std::pair<NodeId, absl::string_view>> parameters;
  bool looked_up = false;  // in a display, or with a subscript
};

// Tells which kernels an expression may be.
//
// The basic idea: a name is a kernel of the text by its last part, in the innermost function around
// that defines one so called; else it is whatever its scope, or any assignment to an attribute of
// its name, gives it. From there on it is: either branch of a condition and of `or`, a dictionary's
// or list's elements (of a subscript by a literal string those under that key), what a call is
// given first, as in partial(k), wrap_triton(k) and triton.autotune(...)(k), and what a function of
// the text returns. Nothing is executed: all that may be meant is meant. Bounded in steps.
class KernelReferences {
 public:
  KernelReferences(const SyntaxTree& tree, const std::vector<JitFunction>& functions);

  KernelReference Of(NodeId expression) const;

  // The functions of the text that a call may call, methods by their names.
  std::vector<NodeId> FunctionsCalled(NodeId call) const;

  KernelKey KeyOf(NodeId definition) const;
  // The innermost function that a node stands in; kNoNode outside any.
  NodeId FunctionAround(NodeId node) const { return around_[node]; }
  const LocalNames& names() const { return names_; }

 private:
  struct Search;

  std::optional<KernelKey> KernelNamed(absl::string_view name, NodeId at) const;
  void Follow(NodeId node, Search& search) const;
  void FollowName(NodeId node, Search& search) const;
  void FollowSubscript(NodeId node, Search& search) const;
  void FollowCall(NodeId node, Search& search) const;
  void FollowElements(NodeId node, absl::string_view key, Search& search) const;

  const SyntaxTree& tree_;
  const LocalNames names_;
  const std::vector<NodeId> around_;
  absl::flat_hash_set<KernelKey> kernels_;
  // Values that attributes are assigned, and functions in classes, by the attribute's name.
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> attributes_;
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> methods_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNEL_REFERENCES_H_
