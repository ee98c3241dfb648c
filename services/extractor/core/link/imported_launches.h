#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_LAUNCHES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_LAUNCHES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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

// Who launches the kernels of a source from other files than their own.
class ImportedLaunches {
 public:
  // Texts of host functions beyond so many bytes are dropped, in the order of their coming.
  explicit ImportedLaunches(size_t max_bytes) : left_(max_bytes) {}

  void Add(v1::ImportedLaunch launch);

  // Once all are added: finds out what they launch.
  void Resolve(SourceScope& scope);

  // Gives those of the shard's kernels a launcher that have none and are launched elsewhere. They
  // are no device functions then.
  void FillIn(v1::KernelShard& shard) const;

 private:
  size_t left_;
  std::vector<v1::ImportedLaunch> launches_;
  // By a kernel's path and name: with its count.
  absl::flat_hash_map<std::pair<std::string, std::string>, v1::Launcher> launchers_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_IMPORTED_LAUNCHES_H_
