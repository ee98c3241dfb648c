#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORT_PATHS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORT_PATHS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/module_paths.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {

// Returns the paths of a tree's files.
std::vector<std::string> ListPaths(const v1::SourceTree& tree);

// The files that imports load, in a source and its used sources (v1::Source.uses).
//
// A file of a used source gets a path that no file of the source can have: /0/fla/ops/utils.py
// begins with '/'. An import is looked up in the source itself first. If that fails and the import
// is absolute, it is looked up in the used sources in their order. Files of a used source import
// only from their own source. Thread-safe once all used sources are added.
class ImportPaths {
 public:
  struct Found {
    bool in_source = false;  // in the source or a used one
    std::string path;        // see python::ModulePaths::Found
  };

  explicit ImportPaths(const v1::SourceTree& tree);

  // Call it for the used sources in their order.
  void AddUsed(const std::string& name, const v1::SourceTree& tree);

  // Finds the file that an import in the file `importer` loads.
  Found Find(absl::string_view importer, int level, absl::string_view module) const;

  const python::ModulePaths& own() const { return own_; }

  // Returns the path here for a file of the used source with the number `used`.
  static std::string MakeUsedPath(size_t used, absl::string_view path);
  // A source's name, empty for the source itself, and a path within it.
  struct Place {
    std::string source;
    std::string path;
  };
  Place FindPlace(const std::string& path) const;

 private:
  struct Used {
    std::string name;
    python::ModulePaths paths;
  };

  // Returns the number of the used source, and removes it from `path`; npos for the source itself.
  size_t SplitUsed(absl::string_view& path) const;

  const python::ModulePaths own_;
  std::vector<Used> used_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORT_PATHS_H_
