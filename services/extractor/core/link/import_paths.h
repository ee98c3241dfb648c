#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORT_PATHS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORT_PATHS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/module_paths.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {

// The paths of a tree's files.
std::vector<std::string> PathsOf(const v1::SourceTree& tree);

// Which file an import loads: of the source, or of one that it uses (v1::Source.uses).
//
// A used source's files have paths of their own here, /0/fla/ops/utils.py, which no path of a
// source can be: those never begin with '/'. What the source has itself comes first; then the used
// ones in their order, for absolute imports. The files of a used source import from that one alone.
// Immutable.
class ImportPaths {
 public:
  struct Found {
    bool in_source = false;  // of the source or a used one
    std::string path;        // as python::ModulePaths has it
  };

  explicit ImportPaths(const v1::SourceTree& tree);

  // The used sources come in their order.
  void AddUsed(const std::string& name, const v1::SourceTree& tree);

  Found Find(absl::string_view importer, int level, absl::string_view module) const;

  const python::ModulePaths& own() const { return own_; }

  // The path here of a file of the used source that was added as the `used`-th.
  static std::string PathOfUsed(size_t used, absl::string_view path);
  // Which source a path is of, and the path there; of the source itself the name is empty.
  struct Place {
    std::string source;
    std::string path;
  };
  Place PlaceOf(const std::string& path) const;

 private:
  struct Used {
    std::string name;
    python::ModulePaths paths;
  };

  // Nothing (npos) of the source itself; else `path` is without what stands before it.
  size_t SplitUsed(absl::string_view& path) const;

  const python::ModulePaths own_;
  std::vector<Used> used_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORT_PATHS_H_
