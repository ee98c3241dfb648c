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

// Checks a shard of kernels against the files that it was extracted from:
//
// clang-format off
//   each file        is in the file shard, with its size, its number of lines and its SHA-256
//   each kernel      is in one of these files. Its `source` has its `sha256`, and equals the lines
//                    first_line to last_line byte for byte, which begin at first_byte: of the file,
//                    of the JSON string or the notebook's cell that json_pointer and string_begin
//                    name, or of a document's text (common/documents/document.h)
//   each whole file  (KERNEL_FORM_FILE) equals its file, which has only one
// clang-format on
//
// Workers and action caches are not trusted: this check is what makes kernels byte-exact. Returns
// DATA_LOSS with the path, the line and the difference.
absl::Status CheckSources(const v1::FileShard& files, const v1::KernelShard& kernels);

// Checks that the tree has the source's name and its pinned commit or hash. Returns DATA_LOSS if it
// does not.
absl::Status CheckTree(const v1::Source& source, const v1::SourceTree& tree);

// A visitor that checks a dataset against its sources, each tree, each shard and the ids of its
// kernels, before `inner` visits them. It checks shards while they are prepared, so on several
// threads, with the files of each in memory.
//
// Errors: DATA_LOSS as above, with the source's name; FAILED_PRECONDITION if the manifest does not
// name the files; those of the store and of `inner`.
class CheckingVisitor final : public DatasetVisitor {
 public:
  // All arguments must outlive it.
  CheckingVisitor(cas::BlobStore& store, const v1::DatasetManifest& manifest, DatasetVisitor& inner)
      : store_(store), manifest_(manifest), inner_(inner) {}

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override;
  absl::Status VisitShard(const ShardView& view) override;
  absl::StatusOr<std::unique_ptr<PreparedShard>> PrepareShard(const ShardView& view) override;

 private:
  // Checks the shard against its files, which it returns.
  absl::StatusOr<v1::FileShard> CheckShard(const ShardView& view);

  cas::BlobStore& store_;
  const v1::DatasetManifest& manifest_;
  DatasetVisitor& inner_;
};

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_SOURCE_CHECK_H_
