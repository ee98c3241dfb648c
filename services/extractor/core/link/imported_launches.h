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

// Finds the file's host functions that launch a name which an import statement, anywhere in the
// file, may bind. Each function comes once for each name. All their texts together are at most as
// large as the file; further texts are empty.
std::vector<v1::ImportedLaunch> FindImportedLaunches(const ParsedFile& file,
                                                     const Launches& launches);

// The launches and uses of a source's kernels from other files than their own. Call Add and AddUses
// for everything, then Resolve, then FillIn.
class ImportedLaunches {
 public:
  // The texts of host functions over `max_bytes` in all are dropped, in the order of Add.
  explicit ImportedLaunches(size_t max_bytes) : left_(max_bytes) {}

  void Add(v1::ImportedLaunch launch);

  // Notes the names that a kernel uses: each may be a helper in another file.
  void AddUses(const v1::Kernel& kernel);

  // Finds out what the launches and uses refer to.
  void Resolve(SourceScope& scope);

  // Gives a launcher to kernels of the shard that have none and are launched in another file: they
  // are kernels, not device functions. A kernel without launches that kernels of other files use
  // becomes a device function.
  void FillIn(v1::KernelShard& shard) const;

 private:
  using PathAndName = std::pair<std::string, std::string>;

  void ResolveUses(SourceScope& scope);

  size_t left_;
  std::vector<v1::ImportedLaunch> launches_;
  // The launcher of each kernel, with the count, by the kernel's path and name.
  absl::flat_hash_map<PathAndName, v1::Launcher> launchers_;
  // Names and dotted calls, each with the path of the file that uses it.
  absl::flat_hash_set<PathAndName> uses_;
  // The definitions that they lead to.
  absl::flat_hash_set<PathAndName> used_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_LAUNCHES_H_
