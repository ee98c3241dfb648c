#include "common/dataset/walk.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"

namespace kernelmill::dataset {
namespace {

// 32 hexadecimal digits of SHA-256 over repository, commit, path, first line, content hash and any
// JSON pointer, a NUL between them; of a whole file something more.
std::string KernelId(absl::string_view repository, absl::string_view commit,
                     const v1::Kernel& kernel) {
  const absl::string_view nul("\0", 1);
  std::string place = absl::StrCat(repository, nul, commit, nul, kernel.path(), nul,
                                   kernel.first_line(), nul, kernel.sha256());
  if (kernel.has_json_pointer()) absl::StrAppend(&place, nul, kernel.json_pointer());
  if (IsFile(kernel)) absl::StrAppend(&place, nul, nul, "file");  // no kernel of the same lines
  return Sha256Hex(place).substr(0, 32);
}

// Loads one shard, visits it and answers how many kernels it has.
absl::StatusOr<int> LoadShard(cas::BlobStore& store, const v1::ManifestSource& source,
                              const v1::SourceTree& tree, ShardView view, DatasetVisitor& visitor) {
  std::vector<cas::Digest> digests = {source.kernels(view.shard)};
  const bool holdout = IsHoldout(source.source());
  if (!holdout) digests.push_back(source.verdicts(view.shard));
  ASSIGN_OR_RETURN(const std::vector<std::string> blobs, store.Get(digests));
  ASSIGN_OR_RETURN(v1::KernelShard kernels,
                   cas::ParseMessage<v1::KernelShard>(blobs[0], digests[0]));
  SetKernelIds(tree, &kernels);
  v1::VerdictShard verdicts;
  if (!holdout) {
    ASSIGN_OR_RETURN(verdicts, cas::ParseMessage<v1::VerdictShard>(blobs[1], digests[1]));
    if (verdicts.verdicts_size() != kernels.kernels_size()) {
      return absl::InternalError(absl::StrCat(verdicts.verdicts_size(), " verdicts for ",
                                              kernels.kernels_size(), " kernels"));
    }
    view.verdicts = &verdicts;
  }
  view.kernels = &kernels;
  RETURN_IF_ERROR(visitor.VisitShard(view));
  return kernels.kernels_size();
}

absl::Status WalkSource(cas::BlobStore& store, const v1::ManifestSource& source, int index,
                        uint32_t* number, DatasetVisitor& visitor) {
  const int verdicts = IsHoldout(source.source()) ? 0 : source.kernels_size();
  if (source.verdicts_size() != verdicts) {
    return absl::InternalError(absl::StrCat(source.verdicts_size(), " verdict shards for ",
                                            source.kernels_size(), " kernel shards"));
  }
  ASSIGN_OR_RETURN(const v1::SourceTree tree,
                   cas::GetMessage<v1::SourceTree>(store, source.tree()));
  RETURN_IF_ERROR(visitor.VisitTree(index, tree));
  for (int shard = 0; shard < source.kernels_size(); ++shard) {
    ASSIGN_OR_RETURN(const int kernels,
                     LoadShard(store, source, tree, {index, shard, *number}, visitor));
    if (static_cast<uint32_t>(kernels) > std::numeric_limits<uint32_t>::max() - *number) {
      return absl::InternalError("more than 2^32 kernels");
    }
    *number += static_cast<uint32_t>(kernels);
  }
  return absl::OkStatus();
}

}  // namespace

void SetKernelIds(const v1::SourceTree& tree, v1::KernelShard* shard) {
  for (v1::Kernel& kernel : *shard->mutable_kernels()) {
    if (kernel.id().empty()) kernel.set_id(KernelId(tree.repository(), tree.commit(), kernel));
  }
}

bool IsHoldout(const v1::Source& source) { return source.role() == v1::SOURCE_ROLE_HOLDOUT; }

bool IsFile(const v1::Kernel& kernel) { return kernel.form() == v1::KERNEL_FORM_FILE; }

absl::StatusOr<v1::DatasetManifest> GetManifest(cas::BlobStore& store, const cas::Digest& dataset) {
  ASSIGN_OR_RETURN(const std::vector<std::string> blobs, store.Get({dataset}));
  v1::DatasetManifest manifest;
  if (!manifest.ParseFromString(blobs.front()) || manifest.schema() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(cas::ToString(dataset), " is the digest of something else than a dataset"));
  }
  if (manifest.schema() != kManifestSchema) {
    return absl::UnimplementedError(absl::StrCat("the dataset's schema is ", manifest.schema(),
                                                 "; ", kManifestSchema, " is known"));
  }
  return manifest;
}

absl::Status WalkShard(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                       const ShardView& view, DatasetVisitor& visitor) {
  const v1::ManifestSource& source = manifest.sources(view.source);
  ASSIGN_OR_RETURN(const v1::SourceTree tree,
                   cas::GetMessage<v1::SourceTree>(store, source.tree()));
  return LoadShard(store, source, tree, view, visitor).status();
}

absl::Status WalkDataset(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                         DatasetVisitor& visitor) {
  uint32_t number = 0;
  for (int i = 0; i < manifest.sources_size(); ++i) {
    if (manifest.sources(i).failed()) continue;
    RETURN_IF_ERROR(Annotate(WalkSource(store, manifest.sources(i), i, &number, visitor),
                             absl::StrCat("source ", i)));
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
