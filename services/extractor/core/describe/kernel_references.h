#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNEL_REFERENCES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNEL_REFERENCES_H_

#include <optional>
#include <span>
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

// A kernel's name and the innermost function or class that it is defined in, kNoNode outside any.
// Kernels with the same key are not distinguished.
using KernelKey = std::pair<std::string, NodeId>;

// All that an expression may mean when it is launched or handed on.
struct KernelReference {
  std::vector<KernelKey> kernels;  // kernels of the text
  // Methods of classes below that of `self`, or beside it; and those of an unknown object that
  // several classes have.
  std::vector<KernelKey> overrides;
  std::vector<KernelKey> ambiguous;
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
//     else it has the values that its scope gives it, or an assignment to an attribute of this
//     name;
//   - a member of `self`, a class or its instance is the class's, else one of its bases';
//   - a condition, and `or`, has the values of both branches;
//   - a dictionary or list has its elements; a subscript by a literal string only those under this
//   key;
//   - a call has its first argument, as in partial(k), wrap_triton(k) and triton.autotune(...)(k),
//     all that the called function of the text returns, and the kernel that a method prepares.
// The number of steps is bounded. Immutable; refers to the tree.
class KernelReferences {
 public:
  KernelReferences(const SyntaxTree& tree, const std::vector<JitFunction>& functions);

  KernelReference Follow(NodeId expression) const;

  // Returns the functions of the text that a call may call. Methods are those of the object's
  // class; of an unknown object, all with that name.
  std::vector<NodeId> FunctionsCalled(NodeId call) const;

  // Returns the classes of the text whose members the expression has: those of `self`, of a class
  // and of what a call of it makes. Empty if they are not known.
  std::vector<NodeId> FindClasses(NodeId object) const { return FindClasses(object, 0); }

  KernelKey MakeKey(NodeId definition) const;
  // Returns the innermost function around a node; kNoNode outside any.
  NodeId FunctionAround(NodeId node) const { return around_[node]; }
  const LocalNames& names() const { return names_; }

 private:
  struct Search;
  using Nodes = std::vector<NodeId>;
  // A member of a class: a function, a value, or the class itself if that has a kernel of a name.
  struct Member {
    NodeId node;
    NodeId of;  // the class; kNoNode if it is not known
  };
  using MembersByName = absl::flat_hash_map<absl::string_view, std::vector<Member>>;

  void AddAttribute(NodeId assignment);
  void AddMethod(NodeId function);
  void AddAncestors(NodeId class_definition);
  NodeId ClassAround(NodeId node) const;
  std::span<const NodeId> GetAncestors(NodeId class_definition) const;
  Nodes FindBases(NodeId super) const;
  bool IsBound(NodeId name) const;
  bool IsSelf(NodeId object) const;
  Nodes FindClasses(NodeId object, int depth) const;
  bool AreInOneObject(NodeId a, NodeId b) const;
  Nodes SelectOwn(const std::vector<Member>& members, const Nodes& classes) const;
  Nodes SelectOverrides(const std::vector<Member>& members, const Nodes& classes) const;
  Nodes GetAttributes(NodeId attribute) const;
  bool AddMemberKernels(NodeId attribute, Search& search) const;
  std::optional<KernelKey> FindKernel(absl::string_view name, NodeId at) const;
  void FollowNode(NodeId node, Search& search) const;
  void FollowName(NodeId node, Search& search) const;
  void FollowSubscript(NodeId node, Search& search) const;
  void FollowCall(NodeId node, Search& search) const;
  void FollowElements(NodeId node, absl::string_view key, Search& search) const;

  const SyntaxTree& tree_;
  const LocalNames names_;
  const std::vector<NodeId> around_;  // by node: the function around
  const std::vector<NodeId> owners_;  // by node: the function or class around
  absl::flat_hash_set<KernelKey> kernels_;
  std::vector<std::pair<NodeId, Nodes>> ancestors_;  // each class, and it with its bases
  // Values that attributes are assigned, functions in classes, and classes with a kernel.
  MembersByName attributes_;
  MembersByName methods_;
  MembersByName kernels_of_classes_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_KERNEL_REFERENCES_H_
