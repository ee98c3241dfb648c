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

inline constexpr int kManifestSchema = 1;  // DatasetManifest.schema

// What a visitor makes of a shard ahead of its visit.
class PreparedShard {
 public:
  virtual ~PreparedShard() = default;
};

// One kernel shard of a dataset with what was said of it. Valid during the visit alone.
struct ShardView {
  int source = 0;                              // index in DatasetManifest.sources
  int shard = 0;                               // index in ManifestSource.kernels
  uint32_t first_number = 0;                   // of kernels->kernels(0); the rest follow in order
  const v1::SourceTree* tree = nullptr;        // of the source
  const v1::KernelShard* kernels = nullptr;    // with their ids
  const v1::VerdictShard* verdicts = nullptr;  // one a kernel; null for a holdout's shard
  PreparedShard* prepared = nullptr;           // what PrepareShard gave
};

// Called for each part of a dataset in order: a source's tree, then its shards. A visit that fails
// ends the walk with its status.
class DatasetVisitor {
 public:
  virtual ~DatasetVisitor() = default;
  virtual absl::Status VisitTree(int source, const v1::SourceTree& tree) = 0;
  virtual absl::Status VisitShard(const ShardView& view) = 0;

  // Work on a shard that needs no order: on any thread, on several at once, before its visit and
  // perhaps before that of its tree. `prepared` is not set.
  virtual absl::StatusOr<std::unique_ptr<PreparedShard>> PrepareShard(const ShardView& view) {
    (void)view;
    return nullptr;
  }
};

// Gives the kernels of a source's shard their ids, the names of kernels across jobs. Stages do not:
// a shard whose files a commit left alone is the same blob for both commits, and what was made of
// it is found again. A shard that has ids, as shards once had, keeps them: they are these.
void SetKernelIds(const v1::SourceTree& tree, v1::KernelShard* shard);

bool IsHoldout(const v1::Source& source);

// Whether it is no kernel but a whole file. It is counted and numbered among the kernels of its
// shard, before those of its own, and is a duplicate of other files alone.
bool IsFile(const v1::Kernel& kernel);

// A dataset's manifest. INVALID_ARGUMENT: the digest is of something else; UNIMPLEMENTED: a schema
// that is not known; else those of the store.
absl::StatusOr<v1::DatasetManifest> GetManifest(cas::BlobStore& store, const cas::Digest& dataset);

// Walks everything that `manifest` names, apart from its clusters. Shards are loaded and prepared
// on `threads` threads; in memory are two more shards than these, and as many visited ones at most.
// Visits are on the calling thread. This is the numbering of kernels: by source, then shard, then
// place in the shard, holdouts included. The decisions of Clusters and the numbers in PairSet
// follow it.
//
// Errors: those of the store; INTERNAL where the manifest or a shard does not fit together
// (verdicts and kernels that are not as many).
absl::Status WalkDataset(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                         DatasetVisitor& visitor, int threads = 1);

// Visits one shard alone, `view` with its place as that walk had it. Errors as above.
absl::Status WalkShard(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                       const ShardView& view, DatasetVisitor& visitor);

// Every blob that a dataset needs, itself first: all that an export reads. What is held for it, and
// what a collection must not drop of it.
std::vector<cas::Digest> ListBlobs(const v1::DatasetManifest& manifest, const cas::Digest& digest);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_WALK_H_
