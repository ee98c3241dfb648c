#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_LAUNCHES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_LAUNCHES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/describe/launcher.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// The file's host functions that launch what its import statements, wherever in it, may bind: each
// function once for each name. Their texts together are not larger than the file; those beyond that
// are empty.
std::vector<v1::ImportedLaunch> FindImportedLaunches(const ParsedFile& file,
                                                     const Launches& launches);

// Who launches, or uses, the kernels of a source from other files than their own.
class ImportedLaunches {
 public:
  // Texts of host functions beyond so many bytes are dropped, in the order of their coming.
  explicit ImportedLaunches(size_t max_bytes) : left_(max_bytes) {}

  void Add(v1::ImportedLaunch launch);

  // What a kernel calls or names may be a helper of another file.
  void AddUses(const v1::Kernel& kernel);

  // Once all are added: finds out what they launch and use.
  void Resolve(SourceScope& scope);

  // Gives those of the shard's kernels a launcher that have none and are launched elsewhere. They
  // are no device functions then. Those that nothing launches, but kernels of other files use, are.
  void FillIn(v1::KernelShard& shard) const;

 private:
  using PathAndName = std::pair<std::string, std::string>;

  void ResolveUses(SourceScope& scope);

  size_t left_;
  std::vector<v1::ImportedLaunch> launches_;
  // By a kernel's path and name: with its count.
  absl::flat_hash_map<PathAndName, v1::Launcher> launchers_;
  // Names, and dotted names of what is called, by the path of the file that uses them; then what
  // they stand for.
  absl::flat_hash_set<PathAndName> uses_;
  absl::flat_hash_set<PathAndName> used_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_LAUNCHES_H_
