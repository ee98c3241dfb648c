#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_BINDINGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_BINDINGS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/syntax_tree.h"

namespace kernelmill::extractor {

// Where the names of a file are bound and read, by Python's scopes: functions, lambdas, classes and
// comprehensions; decorators, defaults and annotations belong to the scope around the function.
//
// The basic idea: one walk over the tree in pre-order gives every node its scope and lists each
// identifier as a binding or a reading. The names free in a subtree are then its readings that no
// scope within the subtree binds. The order of execution is not looked at.
//
// Immutable; refers to the tree.
class Bindings {
 public:
  explicit Bindings(const SyntaxTree& tree);

  // Names that the subtree reads from outside, sorted, each once. With `keep_own`, also those that
  // its outermost scope reads and binds, as in x = x + 1. Names that Python itself defines are left
  // out.
  std::vector<absl::string_view> FreeNames(NodeId root, bool keep_own = false) const;

  // Names that the subtree binds in the scope that it stands in, sorted, each once; "*" for a
  // wildcard import.
  std::vector<absl::string_view> BoundNames(NodeId root) const;

 private:
  using ScopeId = uint32_t;
  using NameId = uint32_t;
  enum class Use { kRead, kBind };
  enum class ScopeKind { kModule, kFunction, kClass, kComprehension };
  struct Scope {
    NodeId node;
    ScopeId parent;
    ScopeKind kind;
  };
  struct Occurrence {
    NodeId node;
    NameId name;
    ScopeId scope;
    Use use;
  };

  void EnterNode(NodeId node);
  void OpenScope(NodeId node, ScopeKind kind);
  ScopeId ScopeOfChild(NodeId node) const;
  bool IsTarget(NodeId node) const;
  void AddIdentifier(NodeId node);
  void AddPartOfDottedName(NodeId node);
  void Bind(NodeId node);
  void Read(NodeId node);
  void Declare(NodeId node);
  NameId NameOf(absl::string_view text);
  bool BoundWithin(NodeId root, const Occurrence& read) const;
  std::pair<size_t, size_t> OccurrencesIn(NodeId root) const;
  static uint64_t Key(ScopeId scope, NameId name) { return (uint64_t{scope} << 32) | name; }

  const SyntaxTree& tree_;
  std::vector<ScopeId> scope_of_;  // by node: the scope that it stands in
  std::vector<bool> target_;       // by node: what an assignment or the like binds
  absl::flat_hash_map<NodeId, ScopeId> opened_;
  std::vector<Scope> scopes_;
  std::vector<absl::string_view> names_;
  absl::flat_hash_map<absl::string_view, NameId> name_ids_;
  std::vector<Occurrence> occurrences_;  // in the order of the nodes
  absl::flat_hash_set<uint64_t> bound_;
  absl::flat_hash_set<uint64_t> declared_;  // global or nonlocal there
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_BINDINGS_H_
