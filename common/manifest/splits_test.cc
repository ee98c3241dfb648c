#include "common/manifest/splits.h"

#include <gtest/gtest.h>

#include "common/cas/digest.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::manifest {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::Clusters TwoKernels() {
  v1::Clusters clusters;
  clusters.add_decisions()->set_fate(v1::FATE_KEPT);
  clusters.add_decisions()->set_fate(v1::FATE_DUPLICATE);
  return clusters;
}

v1::Splits Of(v1::Split first, v1::Split second) {
  v1::Splits splits;
  splits.add_splits(first);
  splits.add_splits(second);
  return splits;
}

TEST(Splits, KeptKernelsHaveOneAndNoOthers) {
  const v1::Clusters clusters = TwoKernels();
  const auto refused = StatusIs(absl::StatusCode::kDataLoss);
  EXPECT_THAT(CheckSplits(Of(v1::SPLIT_TEST, v1::SPLIT_UNSPECIFIED), clusters), IsOk());
  EXPECT_THAT(CheckSplits(Of(v1::SPLIT_TEST, v1::SPLIT_TEST), clusters), refused);
  EXPECT_THAT(CheckSplits(Of(v1::SPLIT_UNSPECIFIED, v1::SPLIT_UNSPECIFIED), clusters), refused);
  EXPECT_THAT(CheckSplits(Of(static_cast<v1::Split>(4), v1::SPLIT_UNSPECIFIED), clusters), refused);
  EXPECT_THAT(CheckSplits(v1::Splits(), clusters), refused);
}

TEST(Splits, ADatasetThatIsNotDividedHasNone) {
  cas::MemoryBlobStore store;
  v1::DatasetManifest manifest;
  EXPECT_EQ(GetSplits(store, manifest, TwoKernels())->splits_size(), 0);
  *manifest.mutable_splits() = *cas::PutMessage(store, Of(v1::SPLIT_TRAIN, v1::SPLIT_UNSPECIFIED));
  EXPECT_EQ(GetSplits(store, manifest, TwoKernels())->splits(0), v1::SPLIT_TRAIN);
  *manifest.mutable_splits() = *cas::PutMessage(store, Of(v1::SPLIT_TRAIN, v1::SPLIT_TRAIN));
  EXPECT_THAT(GetSplits(store, manifest, TwoKernels()), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace kernelmill::manifest
