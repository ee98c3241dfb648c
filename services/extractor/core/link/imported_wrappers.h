#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_WRAPPERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_WRAPPERS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/dsl/languages.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/import_paths.h"

namespace kernelmill::extractor {

// The names under which files of a source, and of its used sources, wrap a DSL's jit, for other
// files that import them. Add() all shards first. Refers to `paths`, which may still get used
// sources until the first call of DecideCandidates.
//
// A name from a module that none of these sources has is taken at its word (dsl::FindSaidName):
// the `triton` of `from vllm.triton_utils import triton` is Triton. The kernel's found_by then
// begins with "name:", because the name alone is the ground.
class ImportedWrappers {
 public:
  explicit ImportedWrappers(const ImportPaths& paths) : paths_(paths) {}

  // Adds the wrappers that the shard's files define.
  void Add(const v1::KernelShard& shard);
  // Adds those of a shard of the used source with the number `used`.
  void AddUsed(size_t used, const v1::KernelShard& shard);

  // Finds out which functions of other files the files make kernels. Call it once, after all Add().
  void ResolveMade();

  // Turns the shard's candidates that are decorated with a wrapper of a wanted language into
  // kernels. Drops all other candidates, and the shard's own names. Returns how many became
  // kernels.
  int DecideCandidates(const dsl::LanguageSet& wanted, v1::KernelShard& shard) const;

 private:
  // A DSL, and the name that says so if the name alone is the ground for it.
  struct Found {
    std::string dsl;
    std::string said = "";
  };

  // Returns the DSL that a decorator of the kernel, a dotted name, leads to, through all files that
  // import it from one another; none if it leads to no jit.
  Found Find(const v1::Kernel& kernel, absl::string_view imported) const;
  // Returns the DSL that a name says which the file at `importer` imports.
  Found FindByName(const v1::Kernel& kernel, const std::string& importer,
                   absl::string_view imported) const;
  // Returns the DSL that a bare name says which only an import of '*' can bring.
  Found FindByWildcard(const v1::Kernel& kernel, const std::string& path, absl::string_view name,
                       int& steps) const;
  Found FindBehindWildcard(const v1::Kernel& kernel, const std::string& importer,
                           absl::string_view imported, int& steps) const;
  // Returns the DSL whose maker a relative name is within the maker's own package, by the folders
  // of the file at `importer`: `from ..compiler import jit` in flydsl.
  absl::string_view FindOwnMaker(const std::string& importer, absl::string_view imported) const;
  std::string FindModule(const std::string& importer, absl::string_view dotted) const;
  void AddNames(const v1::KernelShard& shard, absl::string_view folder);
  void AddImports(const v1::Definition& definition, const std::string& path);
  // `steps` is the number of names that may still be looked at.
  const v1::JitName* Lookup(const std::string& path, absl::string_view imported, int& steps) const;
  const v1::JitName* FindName(const std::string& path, absl::string_view name, int& steps) const;

  const ImportPaths& paths_;
  absl::flat_hash_set<std::string> files_;  // paths of all files that were read
  absl::flat_hash_map<std::pair<std::string, std::string>, v1::JitName> names_;  // by path and name
  // The own definitions of files that import '*', by path and name.
  absl::flat_hash_set<std::pair<std::string, std::string>> defined_;
  // The modules that each file imports '*' from, by path; like JitName.imported without the '*'.
  absl::flat_hash_map<std::string, std::vector<std::string>> wildcards_;
  // The functions that other files make kernels: as the files name them, and then by path and name.
  std::vector<v1::JitName> made_names_;
  absl::flat_hash_map<std::pair<std::string, std::string>, v1::JitName> made_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_WRAPPERS_H_
