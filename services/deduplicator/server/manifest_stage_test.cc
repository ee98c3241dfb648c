#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/manifest/manifest_blobs.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/server/deduplicator_stages_fixture.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using ManifestStageTest = DeduplicatorStagesTest;

TEST_F(ManifestStageTest, ManifestNamesEverythingInTheJobsOrder) {
  const cas::Digest clusters = Clusters();
  const absl::StatusOr<v1::StageResult> result = Run(ManifestAction(clusters), "manifest");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->outputs(0).name(), "manifest");
  EXPECT_EQ(result->outputs(0).items(), 1);
  EXPECT_THAT(Counters(*result),
              ElementsAre(Pair("dataset.files.extracted", 3), Pair("dataset.files.seen", 4),
                          Pair("dataset.files.skipped.symlink", 1)));
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, result->outputs(0).digest());
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->schema(), 1);
  ASSERT_EQ(manifest->sources_size(), 3);
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).tree(), trees_[0]));
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).files(1), files_[1]));
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).kernels(1), kernels_[1]));
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).verdicts(1), verdicts_[1]));
  EXPECT_TRUE(manifest->sources(1).failed());
  EXPECT_EQ(manifest->sources(1).source().git(), "gone");
  EXPECT_TRUE(cas::SameDigest(manifest->sources(2).files(0), files_[2]));
  EXPECT_TRUE(cas::SameDigest(manifest->sources(2).kernels(0), kernels_[2]));
  EXPECT_EQ(manifest->sources(2).verdicts_size(), 0);
  EXPECT_TRUE(cas::SameDigest(manifest->clusters(), clusters));
  ASSERT_EQ(manifest->stages_size(), 3);
  EXPECT_EQ(manifest->stages(0).stage(), "fetch");
  EXPECT_EQ(manifest->stages(2).stage(), "sign");
}

TEST_F(ManifestStageTest, ManifestNamesTheSplitsAndRefusesThoseOfAnotherDataset) {
  const cas::Digest clusters = Clusters();
  v1::Splits splits;
  for (int i = 0; i < 5; ++i) splits.add_splits(i == 0 ? v1::SPLIT_TEST : v1::SPLIT_UNSPECIFIED);
  v1::Action action = ManifestAction(clusters);
  action.mutable_params()->mutable_manifest()->mutable_splits()->set_test(0.5);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument));
  AddInputs(&action, "splits", {Put(splits)});
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, result->outputs(0).digest());
  ASSERT_THAT(manifest, IsOk());
  EXPECT_TRUE(cas::SameDigest(manifest->splits(), Put(splits)));
  EXPECT_EQ(manifest->split_policy().test(), 0.5);

  splits.set_splits(1, v1::SPLIT_TRAIN);  // a duplicate has none
  *action.mutable_inputs(action.inputs_size() - 1)->mutable_digest() = Put(splits);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ManifestStageTest, ManifestNamesTheCompilersAndTheirTextsOfEachShard) {
  for (cas::Digest& digest : verdicts_) {
    auto shard = *cas::GetMessage<v1::VerdictShard>(store_, digest);
    for (v1::Verdict& verdict : *shard.mutable_verdicts()) verdict.mutable_compiled();
    digest = Put(shard);
  }
  v1::Action action = ManifestAction(Clusters());
  std::vector<cas::Digest> texts;
  for (uint32_t i = 0; i < 3; ++i) {
    v1::IrShard shard;
    shard.add_texts()->set_kernel(i);
    texts.push_back(Put(shard));
  }
  AddInputs(&action, "ir", texts);
  v1::ManifestParams& params = *action.mutable_params()->mutable_manifest();
  params.mutable_compile()->add_toolchains()->set_name("triton-3.5.1");
  params.mutable_compile()->add_targets("cuda:90");
  params.mutable_compile()->add_keep("ptx");
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument)) << "whose?";
  params.mutable_sources(0)->add_ir(1);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument)) << "one shard";
  params.mutable_sources(0)->add_ir(2);
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  const cas::Digest digest = result->outputs(0).digest();
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, digest);
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->compile().toolchains(0), "triton-3.5.1");
  EXPECT_EQ(manifest->compile().keep(0), "ptx");
  EXPECT_EQ(manifest->toolchains(0).name(), "triton-3.5.1");
  EXPECT_THAT(manifest->sources(0).ir_parts(), ElementsAre(1, 2));
  ASSERT_EQ(manifest->sources(0).ir_size(), 3);
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).ir(2), texts[2]));
  for (const cas::Digest& text : texts) {
    EXPECT_THAT(manifest::BlobsOf(*manifest, digest),
                ::testing::Contains(::testing::Truly(
                    [&](const cas::Digest& blob) { return cas::SameDigest(blob, text); })));
  }
  params.mutable_sources(0)->set_ir(1, -1);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ManifestStageTest, ManifestNamesThePairsAndSaysWhichCouldNotBeMade) {
  v1::Action action = ManifestAction(Clusters());
  v1::CuratedPair* pair = action.mutable_params()->mutable_manifest()->add_pairs();
  pair->mutable_cuda()->set_path("gone.cu");
  pair->mutable_triton()->set_path("gone.py");
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->failures_size(), 1);
  EXPECT_EQ(result->failures(0).path(), "pairs[0]");
  EXPECT_EQ(result->failures(0).reason(), "cuda: no such kernel; triton: no such kernel");
  EXPECT_THAT(Counters(*result), ::testing::Contains(Pair("dataset.pairs.unmade", 1)));
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, result->outputs(0).digest());
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->pairs(0).triton().path(), "gone.py");
}

TEST_F(ManifestStageTest, ManifestSaysWhichGatesTheDatasetMisses) {
  v1::Action action = ManifestAction(Clusters());
  v1::Gates* gates = action.mutable_params()->mutable_manifest()->mutable_gates();
  gates->set_min_kept(2);
  gates->set_max_duplicate(0.25);
  gates->set_max_failed_sources(0);
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->outputs(0).name(), "manifest") << "the dataset is named all the same";
  ASSERT_EQ(result->failures_size(), 2);
  EXPECT_EQ(result->failures(0).path(), "gates.min_kept");
  EXPECT_EQ(result->failures(0).reason(), "1, but at least 2 is asked for");
  EXPECT_EQ(result->failures(1).path(), "gates.max_failed_sources");
}

TEST_F(ManifestStageTest, ManifestRefusesALedgerThatDoesNotAddUp) {
  auto clusters = *cas::GetMessage<v1::Clusters>(store_, Clusters());
  clusters.mutable_decisions()->RemoveLast();
  const absl::StatusOr<v1::StageResult> result = Run(ManifestAction(Put(clusters)), "manifest");
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("decisions"));

  AddTree("a", 1, "");  // of fewer files
  trees_.front() = trees_.back();
  trees_.pop_back();
  EXPECT_THAT(Run(ManifestAction(Clusters()), "manifest"), StatusIs(absl::StatusCode::kInternal));
}

// A worker, or a poisoned cache, may hand in any text with a genuine path.
TEST_F(ManifestStageTest, ManifestRefusesASourceThatItsFileDoesNotHave) {
  const cas::Digest clusters = Clusters();
  for (const int shard : {0, 2}) {  // a holdout's too
    auto kernels = *cas::GetMessage<v1::KernelShard>(store_, kernels_[shard]);
    kernels.mutable_kernels(0)->set_source(Text(900, 40));
    v1::Action action = ManifestAction(clusters);
    // Two trees and three files stand before the kernels.
    *action.mutable_inputs(5 + shard)->mutable_digest() = Put(kernels);
    const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kDataLoss));
    const std::string message(result.status().message());
    EXPECT_THAT(message, HasSubstr(shard == 0 ? "source 0: \"a\"" : "source 2: \"holdout\""));
    EXPECT_THAT(message, HasSubstr("\"a.py\": line 1"));
    EXPECT_THAT(message, HasSubstr("retry JOB --no-cache"));
  }
}

TEST_F(ManifestStageTest, ManifestRefusesTheTreeOfAnotherCommit) {
  v1::Action action = ManifestAction(Clusters());
  action.mutable_params()->mutable_manifest()->mutable_sources(0)->mutable_source()->set_ref(
      std::string(40, 'f'));
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ManifestStageTest, ManifestRefusesTooFewOrTooManyInputs) {
  const cas::Digest clusters = Clusters();
  for (const int shards : {-1, 0, 1, 3}) {
    v1::Action action = ManifestAction(clusters);
    action.mutable_params()->mutable_manifest()->mutable_sources(0)->set_shards(shards);
    EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument)) << shards;
  }
}

}  // namespace
}  // namespace kernelmill::deduplicator
