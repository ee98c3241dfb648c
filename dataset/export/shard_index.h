#ifndef KERNELMILL_DATASET_EXPORT_SHARD_INDEX_H_
#define KERNELMILL_DATASET_EXPORT_SHARD_INDEX_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/manifest/walk.h"
#include "dataset/analysis/analysis.h"
#include "dataset/export/dataset_index.h"

namespace kernelmill::dataset {

// A shard's part of the index, and what is counted of its kernels alone: made where the shard is
// prepared, so that whoever visits the shards has only to join them.
struct ShardIndex final : public manifest::PreparedShard {
  std::vector<FileEntry> files;
  std::vector<KernelEntry> kernels;               // their `file` is a place in `files`
  std::map<uint32_t, std::string> json_pointers;  // by place in `kernels`
  std::map<uint32_t, std::string> withheld;       // by place in `files`
  std::vector<std::string> launchers;             // paths of those that are a holdout's
  SourceCounts counts;                            // what it adds to those of its source
  std::map<std::string, SplitCounts> by_split;    // what it adds to those of each split
  Analysis analysis;
};

// `view` as PrepareShard has it; of `index` the manifest, the clusters and the splits are there.
// DATA_LOSS: a kernel is of no file of the shard.
absl::StatusOr<std::unique_ptr<ShardIndex>> IndexShard(const DatasetIndex& index,
                                                       const manifest::ShardView& view);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_SHARD_INDEX_H_
