#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_IMPORTS_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_IMPORTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::python {

// What a file's names stand for by its imports, wherever in the file they are. Of two imports that
// bind a name the deeper nested one counts, then the later: the order in which CPython's ast.walk
// comes by them. Immutable.
class ImportMap {
 public:
  explicit ImportMap(const SyntaxTree& tree);

  // `dotted` with its first name replaced by what it was imported as. Relative imports bind nothing
  // here.
  std::string Resolve(absl::string_view dotted) const;

  // The same for all imports, a relative one's name with the dots that it begins with; empty if the
  // first name is not imported.
  std::string Origin(absl::string_view dotted) const;

  // What imports of '*' are from, in the order of the names above: modules with a dot after them,
  // relative ones with their dots. A name that nothing else binds may be of any.
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
};

// Whether the node is one of the import statements.
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
