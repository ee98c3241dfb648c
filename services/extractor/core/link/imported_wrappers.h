#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_WRAPPERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_WRAPPERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/module_paths.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// The names under which files of a source wrap a DSL's jit, for other files that import them. Add()
// all shards first. Refers to `paths`.
class ImportedWrappers {
 public:
  explicit ImportedWrappers(const python::ModulePaths& paths) : paths_(paths) {}

  // Adds the wrappers that the shard's files define.
  void Add(const v1::KernelShard& shard);

  // Turns the shard's candidates that are decorated with a wrapper into kernels. Drops all other
  // candidates, and the shard's own names. Returns how many became kernels.
  int DecideCandidates(v1::KernelShard& shard) const;

 private:
  // Returns the DSL that a dotted name in the file at `path` leads to, through all files that
  // import it from one another; DSL_UNSPECIFIED if it leads to no jit.
  v1::Dsl Find(absl::string_view path, absl::string_view imported) const;
  // `steps` is the number of names that may still be looked at.
  const v1::JitName* Lookup(const std::string& path, absl::string_view imported, int& steps) const;
  const v1::JitName* FindName(const std::string& path, absl::string_view name, int& steps) const;

  const python::ModulePaths& paths_;
  absl::flat_hash_map<std::pair<std::string, std::string>, v1::JitName> names_;  // by path and name
  // The modules that each file imports '*' from, by path; like JitName.imported without the '*'.
  absl::flat_hash_map<std::string, std::vector<std::string>> wildcards_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_WRAPPERS_H_
