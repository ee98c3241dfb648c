#include "common/manifest/splits.h"

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/digest.h"

namespace kernelmill::manifest {

absl::string_view SplitName(v1::Split split) {
  switch (split) {
    case v1::SPLIT_TRAIN:
      return "train";
    case v1::SPLIT_VALIDATION:
      return "validation";
    case v1::SPLIT_TEST:
      return "test";
    default:
      return "unspecified";
  }
}

absl::Status CheckSplits(const v1::Splits& splits, const v1::Clusters& clusters) {
  if (splits.splits_size() != clusters.decisions_size()) {
    return absl::DataLossError(
        absl::StrCat(splits.splits_size(), " splits of ", clusters.decisions_size(), " kernels"));
  }
  for (int i = 0; i < splits.splits_size(); ++i) {
    const bool kept = clusters.decisions(i).fate() == v1::FATE_KEPT;
    const int split = splits.splits(i);
    const bool known = split >= v1::SPLIT_TRAIN && split <= v1::SPLIT_TEST;
    if (kept ? known : split == v1::SPLIT_UNSPECIFIED) continue;
    return absl::DataLossError(
        absl::StrCat("kernel ", i, " is ", kept ? "" : "not ", "kept, and its split is ", split));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Splits> GetSplits(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters) {
  if (!manifest.has_splits()) return v1::Splits();
  ASSIGN_OR_RETURN(auto splits, cas::GetMessage<v1::Splits>(store, manifest.splits()));
  RETURN_IF_ERROR(Annotate(CheckSplits(splits, clusters), "splits"));
  return splits;
}

}  // namespace kernelmill::manifest
