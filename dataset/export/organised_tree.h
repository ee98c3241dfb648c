#ifndef KERNELMILL_DATASET_EXPORT_ORGANISED_TREE_H_
#define KERNELMILL_DATASET_EXPORT_ORGANISED_TREE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "dataset/export/dataset_index.h"

namespace kernelmill::dataset {

// A source file in the organised tree.
struct TreeFile {
  std::string path;    // below the tree's root
  std::string sha256;  // of what was written
  bool redacted =
      false;  // text that policies have redacted is written over; else it is the source's bytes
  // Why the file is not in the tree, and all of the above says nothing; empty where it is:
  // "holds:contaminated" and the like where a kernel of it must not get out, "sensitive:KIND" where
  // it holds what policies reject, the reason of a whole file that was rejected.
  std::string left_out;
};

// By number in DatasetIndex.files.
using TreeFiles = std::map<uint32_t, TreeFile>;

// Writes each file that has a kept kernel or is kept whole to `root`, a folder that is new, under
// CATEGORY/REPOSITORY/PATH (tree_paths.h), from the shards that the sources were fetched into. Text
// that must not get out with the kernels does not get out so either. A function of the dataset.
//
// DATA_LOSS: a shard has another text than was extracted; RESOURCE_EXHAUSTED: the disk is full;
// else those of the store.
absl::StatusOr<TreeFiles> WriteOrganisedTree(cas::BlobStore& store, const DatasetIndex& index,
                                             const std::string& root, int threads);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_ORGANISED_TREE_H_
