#ifndef KERNELMILL_COMMON_MANIFEST_SOURCE_CHECK_H_
#define KERNELMILL_COMMON_MANIFEST_SOURCE_CHECK_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::manifest {

// Whether a shard of kernels tells the truth of the files that it was extracted from:
//
//   each file     is one of the shard's, with its size, its lines and its SHA-256
//   each kernel   is of one of these files; its `source` has its
//   `sha256`, and is byte for byte the
//                 lines first_line to last_line, which begin at first_byte: of the file, or of what
//                 the string of a JSON file stands for that json_pointer and string_begin name
//   each whole    (KERNEL_FORM_FILE) is all of its file, which has one
//   file
//
// What a worker hands in, and what an action cache answers, may be anything: this holds it to the
// files. DATA_LOSS names the path, the line and what differs.
absl::Status CheckSources(const v1::FileShard& files, const v1::KernelShard& kernels);

// Whether the tree is the source's: of its name, and of the commit or the hash that it is pinned
// to. DATA_LOSS: it is not.
absl::Status CheckTree(const v1::Source& source, const v1::SourceTree& tree);

// Holds a dataset to its sources on a walk: each tree, each shard, and the ids of its kernels,
// before `inner` visits them. For whoever vouches for what it visits. Shards are checked where they
// are prepared, each with its files in memory.
//
// DATA_LOSS as above, naming the source; FAILED_PRECONDITION: the manifest does not name the files;
// else those of the store and of `inner`.
class CheckingVisitor final : public DatasetVisitor {
 public:
  // All must outlive it.
  CheckingVisitor(cas::BlobStore& store, const v1::DatasetManifest& manifest, DatasetVisitor& inner)
      : store_(store), manifest_(manifest), inner_(inner) {}

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;
  absl::StatusOr<std::unique_ptr<PreparedShard>> PrepareShard(const ShardView& view) override;

 private:
  absl::Status CheckShard(const ShardView& view);

  cas::BlobStore& store_;
  const v1::DatasetManifest& manifest_;
  DatasetVisitor& inner_;
};

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_SOURCE_CHECK_H_
