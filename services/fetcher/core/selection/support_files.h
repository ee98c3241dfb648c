#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SUPPORT_FILES_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SUPPORT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/module_paths.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// The module of a "from module import ...": dotted, after `level` dots.
struct ImportedModule {
  int level = 0;
  std::string module;
};

// The modules that names are imported from on the lines of a text of Python, in their order, each
// once. Strings and comments are not told from code: what stands there may be meant as well. At
// memory speed; of a text that imports from more modules than `most` the first ones.
std::vector<ImportedModule> FindImportLines(absl::string_view text, size_t most);

// Bounds on what is handed on of files without kernels. Beyond them modules stay less complete.
struct SupportLimits {
  int64_t file_bytes = 1 << 20;
  // Together not more than the files that import them, but as much as the first anyway and never
  // more than the second: most that a package imports is host code.
  int64_t least_bytes = 1 << 20;
  int64_t most_bytes = 32 << 20;
  size_t imports = 4 << 20;  // that are followed, of all files
  size_t imports_of_file = 1024;
  size_t path_bytes = 64 << 20;  // of all files; of a tree with more nothing is
};

// Which files that hold no kernels are handed on nonetheless, since files that may hold Python
// kernels import helpers and constants from them, directly or through other files.
//
// The basic idea: while each file is read, the modules that its lines import from are looked up
// among the source's paths; once all are read, a walk from the files that may make kernels meets
// those that are wanted. Nearer files come first, then those with lower paths, until a limit.
class SupportFiles {
 public:
  SupportFiles(const std::vector<Entry>& files, const SupportLimits& limits);

  // `index` counts in the files. Each at most once, in their order.
  void AddContent(size_t index, absl::string_view content, bool marked);

  // Makes the wanted ones of the tree's files, which are in the same order, SHARDED.
  void Mark(v1::SourceTree& tree) const;

 private:
  using Indexes = std::vector<uint32_t>;

  // Those that the files import which are not seen yet; sorted.
  Indexes NextOf(const Indexes& files, std::vector<bool>& seen) const;

  const SupportLimits limits_;
  const std::vector<Entry>& files_;
  const python::ModulePaths paths_;
  absl::flat_hash_map<absl::string_view, uint32_t> index_of_;
  std::vector<Indexes> imports_;  // by file
  Indexes roots_;
  int64_t root_bytes_ = 0;
  size_t followed_ = 0;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SUPPORT_FILES_H_
