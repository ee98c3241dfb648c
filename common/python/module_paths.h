#ifndef KERNELMILL_COMMON_PYTHON_MODULE_PATHS_H_
#define KERNELMILL_COMMON_PYTHON_MODULE_PATHS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kernelmill::python {

// Which file of a source an import statement loads, by the files that there are.
//
// Where the source is put on sys.path nobody says. A folder can be there if it has no __init__.py:
// so an absolute import is looked for from the folder that the importer's own package stands in,
// then beside the importer if that is a script, then from every such folder, be it the root, src/
// or python/; if several have the module it is in doubt which one is meant. Triton, torch, JAX
// (which Pallas is a part of) and the standard library are never looked for in a source: their
// names mean the installed ones.
// Immutable.
class ModulePaths {
 public:
  struct Found {
    bool in_source = false;  // the module is the source's own
    std::string path;        // its file; empty where there is none, or several
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
  // By the name of a folder: those that it stands in and that are no packages; sorted.
  absl::flat_hash_map<std::string, std::vector<std::string>> roots_;
};

// Whether a module, dotted, comes with Triton, torch, JAX or Python.
bool IsInstalledModule(absl::string_view module);

// Whether CPython 3.11's standard library has a top-level module of the name.
bool IsStandardModule(absl::string_view name);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_MODULE_PATHS_H_
