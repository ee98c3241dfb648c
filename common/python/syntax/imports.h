#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_IMPORTS_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_IMPORTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::python {

// The names that a file imports anywhere, and their origins. If two imports bind a name, the deeper
// nested one counts, then the later one: the order in which CPython's ast.walk visits them.
class ImportMap {
 public:
  explicit ImportMap(const SyntaxTree& tree);

  // Adds an import that the file leaves out: the file must not bind the name, nor import '*'.
  void Assume(absl::string_view name, absl::string_view origin);

  // Returns whether a dotted name, resolved, is what an assumed import stands for, or in it.
  bool IsAssumed(absl::string_view resolved) const;

  // `dotted` with its first name replaced by what it was imported as. Relative imports bind nothing
  // here.
  std::string Resolve(absl::string_view dotted) const;

  // The same for all imports, a relative one's name with the dots that it begins with; empty if the
  // first name is not imported.
  std::string Origin(absl::string_view dotted) const;

  // The modules that '*' is imported from, in the same order: each with a dot after it, relative
  // ones with their dots. A name that nothing else binds may come from any of them.
  const std::vector<std::string>& wildcards() const { return wildcards_; }

  // The names that stand for the package or for something in it: its own too, unless that is
  // imported as something else.
  std::vector<absl::string_view> NamesBelow(absl::string_view package) const;

  // Every imported name and its origin, by name.
  std::vector<std::pair<absl::string_view, absl::string_view>> Origins() const;

 private:
  using Names = absl::flat_hash_map<std::string, std::string>;

  void Add(const SyntaxTree& tree, NodeId statement);

  Names names_;
  Names relative_;  // those that a relative import binds last
  std::vector<std::string> wildcards_;
  absl::flat_hash_set<std::string> assumed_;  // names of assumed imports
};

// Returns whether nodes of that kind are import statements.
bool IsImport(Kind kind);

// The import statements in the subtree, in the order of the text.
std::vector<NodeId> ImportsIn(const SyntaxTree& tree, NodeId root);

// The names that an import statement binds, and what they stand for.
google::protobuf::RepeatedPtrField<v1::ImportedName> ImportedNames(const SyntaxTree& tree,
                                                                   NodeId statement);

// The modules that an import statement loads, dotted; a relative one with its dots.
std::vector<std::string> ImportedModules(const SyntaxTree& tree, NodeId statement);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_IMPORTS_H_
