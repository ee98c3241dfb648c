#ifndef KERNELMILL_COMMON_MANIFEST_WALK_H_
#define KERNELMILL_COMMON_MANIFEST_WALK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::manifest {

// DatasetManifest.schema. Datasets of 1, which had numbers for languages, are read as well.
inline constexpr int kManifestSchema = 2;

// The result of a visitor's work on a shard before its visit. Visitors derive from it.
class PreparedShard {
 public:
  virtual ~PreparedShard() = default;
};

// A view of one kernel shard of a dataset with its verdicts. Valid only during the visit.
struct ShardView {
  int source = 0;                              // the index in DatasetManifest.sources
  int shard = 0;                               // the index in ManifestSource.kernels
  uint32_t first_number = 0;                   // the number of kernels(0); the rest follow in order
  const v1::SourceTree* tree = nullptr;        // the source's
  const v1::KernelShard* kernels = nullptr;    // with their ids
  const v1::VerdictShard* verdicts = nullptr;  // one per kernel; null for a holdout's shard
  PreparedShard* prepared = nullptr;           // the result of PrepareShard
  // The files that the kernels were extracted from: only in PrepareShard, behind a CheckingVisitor.
  const v1::FileShard* files = nullptr;
};

// The interface for walking a dataset. The walk calls it for each part in order: a source's tree,
// then its shards. A visit that fails ends the walk with its status.
class DatasetVisitor {
 public:
  virtual ~DatasetVisitor() = default;
  virtual absl::Status VisitTree(int source, const v1::SourceTree& tree) = 0;
  virtual absl::Status VisitShard(const ShardView& view) = 0;

  // Does the work on a shard that needs no order. Called on any thread, on several at once, before
  // the visit of the shard, and possibly before that of its tree. `prepared` is not set.
  virtual absl::StatusOr<std::unique_ptr<PreparedShard>> PrepareShard(const ShardView& view) {
    (void)view;
    return nullptr;
  }
};

// Sets the ids of the kernels of a source's shard, which name kernels across jobs. Stages do not
// set them, since an id contains the commit: so a shard whose files a commit did not change is the
// same blob for both commits, and its results are found in the cache. Ids that are already set, as
// in old shards, stay; they are the same.
void SetKernelIds(const v1::SourceTree& tree, v1::KernelShard* shard);

bool IsHoldout(const v1::Source& source);

// Returns true for a source of evidence: it has a tree and files, and no shard of kernels.
bool IsEvidence(const v1::Source& source);

// Returns true if the source's kernels may go into the dataset: it is neither of these.
bool IsCandidate(const v1::Source& source);

// Returns true for a whole file. It is counted and numbered like a kernel of its shard, before the
// kernels in the file, and can only be a duplicate of other files.
bool IsFile(const v1::Kernel& kernel);

// Reads a dataset's manifest. Errors: INVALID_ARGUMENT if the digest is not that of a dataset;
// UNIMPLEMENTED for an unknown schema; those of the store.
absl::StatusOr<v1::DatasetManifest> GetManifest(cas::BlobStore& store, const cas::Digest& dataset);

// Walks everything that `manifest` names, except its clusters. `threads` threads load and prepare
// shards; visits are on the calling thread. Memory holds up to two shards more than threads, and as
// many visited ones.
//
// The walk defines the numbers of kernels: by source, then shard, then index in the shard,
// including holdouts. The decisions of Clusters and the numbers in PairSet use them.
//
// Errors are those of the store and the visitor, and INTERNAL if the manifest or a shard does not
// fit together (different numbers of verdicts and kernels).
absl::Status WalkDataset(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                         DatasetVisitor& visitor, int threads = 1);

// Visits one shard only; `view` gives its place, from an earlier walk. Errors as above.
absl::Status WalkShard(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                       const ShardView& view, DatasetVisitor& visitor);

// Lists every blob that a dataset needs, which is all that an export reads, the manifest first. The
// garbage collector must not drop them while the dataset is retained.
std::vector<cas::Digest> ListBlobs(const v1::DatasetManifest& manifest, const cas::Digest& digest);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_WALK_H_
