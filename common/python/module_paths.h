#ifndef KERNELMILL_COMMON_PYTHON_MODULE_PATHS_H_
#define KERNELMILL_COMMON_PYTHON_MODULE_PATHS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kernelmill::python {

// The files that the import statements of a source load. Immutable.
//
// The basic idea: a source does not say which of its folders is on sys.path, but a folder can be
// there only if it has no __init__.py. An absolute import is therefore searched from the folder
// around the importer's own package, then beside the importer if that is a script, then from every
// folder without __init__.py: the root, src/, python/. If several of these have the module, the
// import is in doubt. Triton, torch, JAX (with Pallas) and the standard library are never searched
// in a source: their names mean the installed ones.
class ModulePaths {
 public:
  struct Found {
    bool in_source = false;  // the module is the source's own
    std::string path;        // its file; empty if no file has it, or several
  };

  explicit ModulePaths(const std::vector<std::string>& paths);

  // `module` is dotted and follows `level` dots, as in v1::ImportedName.
  Found Find(absl::string_view importer, int level, absl::string_view module) const;

 private:
  // The file of the module at a path without suffix; empty: none.
  std::string FileAt(absl::string_view folder, absl::string_view module) const;
  bool IsPackage(absl::string_view folder) const;
  Found FindRelative(absl::string_view importer, int level, const std::string& module) const;
  Found FindInOwnPackage(absl::string_view importer, const std::string& module) const;
  Found FindFromRoots(const std::string& module) const;

  absl::flat_hash_map<std::string, std::string> files_;  // by path without suffix
  absl::flat_hash_set<std::string> packages_;            // folders with an __init__.py
  // By a folder's name: the folders around it that are not packages; sorted.
  absl::flat_hash_map<std::string, std::vector<std::string>> roots_;
};

// Returns whether a module, dotted, comes with Triton or a dialect of it, torch, JAX or Python.
bool IsInstalledModule(absl::string_view module);

// Returns whether CPython 3.11's standard library has a top-level module of the name.
bool IsStandardModule(absl::string_view name);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_MODULE_PATHS_H_
