#ifndef KERNELMILL_COMMON_MANIFEST_SPLITS_H_
#define KERNELMILL_COMMON_MANIFEST_SPLITS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::manifest {

// A split as records, reports and counters spell it: "train", "validation", "test".
absl::string_view SplitName(v1::Split split);

// Whether each kernel that is kept has a split, and no other.
// DATA_LOSS: they have not, or there are not as many splits as decisions.
absl::Status CheckSplits(const v1::Splits& splits, const v1::Clusters& clusters);

// The split of every kernel of a dataset, by its number; none where it is not divided: then every
// row is of train. Errors: those of the store, and as above.
absl::StatusOr<v1::Splits> GetSplits(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                                     const v1::Clusters& clusters);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_SPLITS_H_
