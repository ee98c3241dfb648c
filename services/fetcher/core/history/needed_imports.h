#ifndef KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_NEEDED_IMPORTS_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_NEEDED_IMPORTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::fetcher {

// The needs of some of a Python file's names.
struct Needed {
  std::vector<v1::ImportedName> imports;  // in the order of the text
  std::set<std::string> unbound;          // names that the file does not bind: they come from a '*'
};

// Finds what a Python file needs.
//
// The basic idea: a module-level statement binds names and reads names. From the names that are
// asked for, it goes to the statements that bind them, to the names that these read, and so on; the
// imports among these statements are needed, and the others are not. It takes too many statements
// rather than too few: which of them a kernel gets is for the stage that links. Does not refer to
// the tree. Immutable.
class NeededImports {
 public:
  explicit NeededImports(const python::SyntaxTree& tree);

  // Returns what the statements need that may hold kernels (MayHoldKernel).
  Needed OfKernels() const;

  // Returns what the names need; without a value: all names of the file.
  Needed OfNames(const std::optional<std::set<std::string>>& names) const;

 private:
  struct Statement {
    std::vector<uint32_t> bound, read;
    std::vector<v1::ImportedName> imports;
    bool kernel = false;
  };

  uint32_t Intern(absl::string_view name);
  // `whole`: the statements that are taken with all imports in them, also those of functions.
  Needed Follow(const std::vector<size_t>& whole, std::set<uint32_t> names) const;

  std::vector<Statement> statements_;
  std::vector<std::string> names_;
  absl::flat_hash_map<std::string, uint32_t> ids_;  // the places in names_
  std::vector<std::vector<size_t>> binders_;        // by name: the statements that bind it
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_NEEDED_IMPORTS_H_
