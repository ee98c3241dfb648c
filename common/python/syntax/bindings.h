#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_BINDINGS_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_BINDINGS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// The places where the names of a file are bound and read, by Python's scopes: functions, lambdas,
// classes and comprehensions; decorators, defaults and annotations belong to the scope around the
// function.
//
// The basic idea: one walk over the tree in pre-order gives every node its scope and lists each
// identifier as a binding or a reading. For each name that a scope reads it is then known which
// scope around binds it; the names free in a subtree are its readings that no scope within the
// subtree binds. The order of execution does not matter.
//
// Immutable; refers to the tree.
class Bindings {
 public:
  explicit Bindings(const SyntaxTree& tree);

  // Returns the names that the subtree reads from outside, sorted, each once. With `keep_own`, also
  // those that its outermost scope reads and binds, as in x = x + 1. Names that Python itself
  // defines are left out, unless a scope around the subtree binds them to something else.
  std::vector<absl::string_view> FreeNames(NodeId root, bool keep_own = false) const;

  // Returns the names that the subtree binds in the scope around it, sorted, each once; "*" for a
  // wildcard import.
  std::vector<absl::string_view> BoundNames(NodeId root) const;

  // Returns whether any scope binds the name, also by an import.
  bool BindsAnywhere(absl::string_view name) const;

  // Returns whether the module's own scope binds the name by anything but an import.
  bool Defines(absl::string_view name) const;

 private:
  using ScopeId = uint32_t;
  using NameId = uint32_t;
  using SymbolId = uint32_t;
  static constexpr ScopeId kNoScope = 0xffffffff;
  static constexpr SymbolId kNoSymbol = 0xffffffff;
  enum class Use : uint8_t { kRead, kBind };
  enum class ScopeKind : uint8_t { kModule, kFunction, kClass, kComprehension };
  struct Scope {
    NodeId node;
    ScopeId parent;
    ScopeKind kind;
  };
  struct Name {
    absl::string_view text;
    SymbolId last;  // the symbol that was used last: most often the next is the same
  };
  // A name in a scope that reads, binds or declares it.
  struct Symbol {
    NameId name;
    ScopeId scope;
    ScopeId binder = kNoScope;  // the scope, itself or around, whose name is meant; if any
    bool bound = false;
    bool defined = false;   // bound, and not by an import alone
    bool declared = false;  // global or nonlocal there
  };
  struct Occurrence {
    NodeId node;
    SymbolId symbol;
    Use use;
  };

  void EnterNode(NodeId node);
  void OpenScope(NodeId node, ScopeKind kind);
  ScopeId FindChildScope(NodeId node) const;
  bool IsTarget(NodeId node) const;
  void AddIdentifier(NodeId node);
  void AddPartOfDottedName(NodeId node);
  void Bind(NodeId node);
  void Read(NodeId node);
  void Declare(NodeId node);
  NameId InternName(absl::string_view text);
  SymbolId InternSymbol(NodeId node, ScopeId scope);
  const Symbol* Find(ScopeId scope, NameId name) const;
  void FindBinder(Symbol& symbol) const;
  bool BoundWithin(NodeId root, const Symbol& symbol) const;
  bool IsPythons(const Symbol& symbol) const;
  std::span<const Occurrence> OccurrencesIn(NodeId root) const;
  std::vector<absl::string_view> GetTexts(const std::vector<NameId>& names) const;
  static uint64_t Key(ScopeId scope, NameId name) { return (uint64_t{scope} << 32) | name; }

  const SyntaxTree& tree_;
  std::vector<ScopeId> scope_of_;  // by node: the scope around it
  std::vector<bool> target_;       // by node: what an assignment or the like binds
  absl::flat_hash_map<NodeId, ScopeId> opened_;
  std::vector<Scope> scopes_;
  std::vector<Name> names_;
  absl::flat_hash_map<absl::string_view, NameId> name_ids_;
  std::vector<Occurrence> occurrences_;  // in the order of the nodes
  std::vector<Symbol> symbols_;
  absl::flat_hash_map<uint64_t, SymbolId> symbol_ids_;  // by Key
};

// Returns whether every module of CPython 3.11 has the name without binding it.
bool IsBuiltin(absl::string_view name);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_BINDINGS_H_
