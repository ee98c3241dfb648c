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

// The names with which files of a source wrap a DSL's jit, for its files that import them. Refers
// to `paths`.
class ImportedWrappers {
 public:
  explicit ImportedWrappers(const python::ModulePaths& paths) : paths_(paths) {}

  // Adds what the shard's files define.
  void Add(const v1::KernelShard& shard);

  // Makes kernels of the shard's candidates that are decorated with a wrapper, and drops the
  // others, and the shard's own names. Returns how many became kernels.
  int DecideCandidates(v1::KernelShard& shard) const;

 private:
  // The DSL that a dotted name leads to, as it is imported in the file at `path`, through files
  // that import it in turn; DSL_UNSPECIFIED if to none.
  v1::Dsl Find(absl::string_view path, absl::string_view imported) const;
  // `steps` are those left: how many names are looked at.
  const v1::JitName* Lookup(const std::string& path, absl::string_view imported, int& steps) const;
  const v1::JitName* Named(const std::string& path, absl::string_view name, int& steps) const;

  const python::ModulePaths& paths_;
  absl::flat_hash_map<std::pair<std::string, std::string>, v1::JitName> names_;  // by path and name
  // By path: the modules that the file imports '*' from, as JitName.imported without the '*'.
  absl::flat_hash_map<std::string, std::vector<std::string>> wildcards_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_WRAPPERS_H_
