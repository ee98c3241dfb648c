#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SUPPORT_FILES_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_SUPPORT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/dsl/languages.h"
#include "common/python/module_paths.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// The module in a "from module import ...": dotted, after `level` dots.
struct ImportedModule {
  int level = 0;
  std::string module;
};

// Returns the modules of the "from ... import" lines of a Python text, in order, each once, at most
// `most`. Strings and comments are not told from code, since code in them may be meant as well.
// Runs at memory speed.
std::vector<ImportedModule> FindImportLines(absl::string_view text, size_t most);

// Bounds on the files without kernels that go on. Beyond them modules stay less complete.
struct SupportLimits {
  int64_t file_bytes = 1 << 20;
  // Together not more bytes than the files that import them, but at least the first bound and never
  // more than the second: most of what a package imports is host code.
  int64_t least_bytes = 1 << 20;
  int64_t most_bytes = 32 << 20;
  size_t imports = 4 << 20;  // that are followed, of all files
  size_t imports_of_file = 1024;
  size_t path_bytes = 64 << 20;  // all paths together; a tree with more gets no such files
};

// The selection of files without kernels that go on nonetheless, because files that may hold Python
// kernels of the wanted languages import helpers and constants from them, directly or through other
// files.
//
// The basic idea: while each file is read, the modules in its import lines are looked up among the
// source's paths. Once all are read, a breadth-first walk from the files that may hold kernels
// meets the wanted files. Nearer files come first, then lower paths, until a limit is reached.
class SupportFiles {
 public:
  SupportFiles(const std::vector<Entry>& files, const SupportLimits& limits,
               const dsl::LanguageSet& wanted);

  // Adds a file's content; `index` is its index in `files`. Each file at most once, in order.
  void AddContent(size_t index, absl::string_view content, bool marked);

  // Makes the wanted files of the tree, whose files are in the same order, SHARDED.
  void Mark(v1::SourceTree& tree) const;

 private:
  using Indexes = std::vector<uint32_t>;

  // Returns the files that `files` import and that are not seen yet; sorted.
  Indexes FindNext(const Indexes& files, std::vector<bool>& seen) const;

  const SupportLimits limits_;
  const dsl::LanguageSet wanted_;
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
