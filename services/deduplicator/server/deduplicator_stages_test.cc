#include "services/deduplicator/server/deduplicator_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/server/deduplicator_stages_fixture.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST_F(DeduplicatorStagesTest, ResolveDecidesOnEveryKernel) {
  const absl::StatusOr<v1::StageResult> result = Run(ResolveAction(2), "resolve");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->outputs(0).name(), "clusters");
  EXPECT_EQ(result->outputs(0).items(), 5);
  EXPECT_THAT(Counters(*result),
              ElementsAre(Pair("dataset.contaminated.exact", 1), Pair("dataset.duplicate.near", 1),
                          Pair("dataset.holdout", 1), Pair("dataset.kept", 1),
                          Pair("dataset.kernels", 4), Pair("dataset.rejected.license", 1)));
  const auto clusters = cas::GetMessage<v1::Clusters>(store_, result->outputs(0).digest());
  ASSERT_THAT(clusters, IsOk());
  EXPECT_EQ(clusters->decisions(0).fate(), v1::FATE_KEPT);
  EXPECT_EQ(clusters->decisions(1).leader(), 0u);
  EXPECT_EQ(clusters->decisions(2).reason(), "license:NOASSERTION");
  EXPECT_EQ(clusters->decisions(3).leader(), 4u);
  EXPECT_EQ(clusters->decisions(4).fate(), v1::FATE_HOLDOUT);
}

TEST_F(DeduplicatorStagesTest, ResolveFindsCopiesOfWhatIsOptedOutAndWhatTakesThemAlong) {
  // The third kernel opts out; the first is its copy, the second is like it, the fourth has the
  // third in its module.
  auto kernels = *cas::GetMessage<v1::KernelShard>(store_, kernels_[1]);
  v1::Kernel& opted_out = *kernels.mutable_kernels(0);
  opted_out.set_first_line(10);
  opted_out.set_last_line(20);
  v1::ModulePiece* piece = kernels.mutable_kernels(1)->add_pieces();
  piece->set_path(opted_out.path());
  piece->set_first_line(10);
  piece->set_last_line(20);
  kernels_[1] = *cas::PutMessage(store_, kernels);
  v1::VerdictShard verdicts;
  verdicts.add_verdicts()->add_reasons("opt_out");
  verdicts.add_verdicts()->set_accepted(true);
  verdicts_[1] = *cas::PutMessage(store_, verdicts);
  v1::Action action = ResolveAction(2);
  AddInputs(&action, "kernels", {kernels_[0], kernels_[1]});
  const absl::StatusOr<v1::StageResult> result = Run(action, "resolve");
  ASSERT_THAT(result, IsOk());
  const auto clusters = cas::GetMessage<v1::Clusters>(store_, result->outputs(0).digest());
  ASSERT_THAT(clusters, IsOk());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(clusters->decisions(i).fate(), v1::FATE_REJECTED) << i;
    EXPECT_EQ(clusters->decisions(i).reason(), i == 3 ? "opt_out:module" : "opt_out");
    EXPECT_EQ(clusters->decisions(i).leader(), 2u) << i;
  }
  EXPECT_THAT(Counters(*result), ::testing::Contains(Pair("dataset.rejected.opt_out", 4)));

  action.mutable_inputs()->RemoveLast();
  EXPECT_THAT(Run(action, "resolve"), StatusIs(absl::StatusCode::kInvalidArgument));
  AddInputs(&action, "kernels", {kernels_[2]});  // of another shard
  EXPECT_THAT(Run(action, "resolve"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DeduplicatorStagesTest, ResolveFindsWhatIsOptedOutInTextsThatAnotherSourceLends) {
  // The third kernel opts out; the first, of the source that lends, is its copy, and stands in the
  // fourth's module.
  auto lent = *cas::GetMessage<v1::KernelShard>(store_, kernels_[0]);
  lent.mutable_kernels(0)->set_first_line(10);
  lent.mutable_kernels(0)->set_last_line(20);
  lent.mutable_kernels(0)->set_tokens(100);
  kernels_[0] = Put(lent);
  auto kernels = *cas::GetMessage<v1::KernelShard>(store_, kernels_[1]);
  v1::ModulePiece* piece = kernels.mutable_kernels(1)->add_pieces();
  piece->set_path(lent.kernels(0).path());
  piece->set_first_line(10);
  piece->set_last_line(20);
  v1::VerdictShard verdicts;
  verdicts.add_verdicts()->add_reasons("opt_out");
  verdicts.add_verdicts()->set_accepted(true);
  verdicts_[1] = Put(verdicts);
  for (const char* lender : {"", "lender", "another"}) {
    piece->set_used_source(lender);
    kernels_[1] = Put(kernels);
    v1::Action action = ResolveAction(1);
    auto* shards = action.mutable_params()->mutable_resolve()->mutable_shards();
    shards->Mutable(0)->set_repository("lender");
    shards->Mutable(1)->set_repository("user");
    shards->Mutable(1)->set_source(1);
    AddInputs(&action, "kernels", {kernels_[0], kernels_[1]});
    const absl::StatusOr<v1::StageResult> result = Run(action, "resolve");
    ASSERT_THAT(result, IsOk());
    const auto clusters = cas::GetMessage<v1::Clusters>(store_, result->outputs(0).digest());
    ASSERT_THAT(clusters, IsOk());
    const bool has = lender == std::string("lender");
    EXPECT_EQ(clusters->decisions(3).reason() == "opt_out:module", has) << lender;
  }
}

TEST_F(DeduplicatorStagesTest, ClustersDoNotDependOnThePartitions) {
  const absl::StatusOr<v1::StageResult> one = Run(ResolveAction(1), "resolve");
  const absl::StatusOr<v1::StageResult> many = Run(ResolveAction(7), "resolve");
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(many, IsOk());
  EXPECT_EQ(one->SerializeAsString(), many->SerializeAsString());
}

TEST_F(DeduplicatorStagesTest, PairsAreTheSameWhereSetsAreSpilled) {
  const Signed all = RunSign();
  const absl::StatusOr<v1::StageResult> in_memory = Run(PairAction(all, 0, 1), "pair");
  ASSERT_THAT(in_memory, IsOk());
  PairStage tiny(SpillOptions{.memory_bytes = 1000});
  const absl::StatusOr<v1::StageResult> spilled = tiny.Run(PairAction(all, 0, 1), store_);
  ASSERT_THAT(spilled, IsOk());
  EXPECT_TRUE(cas::SameDigest(spilled->outputs(0).digest(), in_memory->outputs(0).digest()));
  EXPECT_THAT(Counters(*in_memory),
              ::testing::Not(::testing::Contains(::testing::Key("sets.spilled"))));
  EXPECT_THAT(Counters(*spilled), ::testing::Contains(Pair("sets.spilled", ::testing::Gt(0))));
}

TEST_F(DeduplicatorStagesTest, PairRefusesShardsThatDoNotMatchItsParameters) {
  const Signed all = RunSign();
  v1::Action action = PairAction(all, 0, 1);
  action.mutable_params()->mutable_pair()->add_holdouts(false);
  EXPECT_THAT(Run(action, "pair"), StatusIs(absl::StatusCode::kInvalidArgument));
  action = PairAction(all, 0, 1);
  action.mutable_inputs()->RemoveLast();
  EXPECT_THAT(Run(action, "pair"), StatusIs(absl::StatusCode::kInvalidArgument));
  Signed mixed = all;
  mixed.shingles[0] = all.shingles[2];  // of another shard
  EXPECT_THAT(Run(PairAction(mixed, 0, 1), "pair"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DeduplicatorStagesTest, ResolveRefusesShardsThatDoNotMatchItsParameters) {
  v1::Action action = ResolveAction(1);
  action.mutable_params()->mutable_resolve()->mutable_shards(2)->set_holdout(false);
  EXPECT_THAT(Run(action, "resolve"), StatusIs(absl::StatusCode::kInvalidArgument));
  action = ResolveAction(1);
  action.mutable_params()->mutable_resolve()->mutable_shards()->RemoveLast();
  EXPECT_THAT(Run(action, "resolve"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DeduplicatorStagesTest, ResolveFollowsDecisionsOnKernels) {
  v1::Action action = ResolveAction(1);
  action.mutable_params()->mutable_resolve()->mutable_shards(2)->set_source(1);
  v1::Review* review = action.mutable_params()->mutable_resolve()->add_reviews();
  auto shard = *cas::GetMessage<v1::KernelShard>(store_, kernels_[0]);
  shard.mutable_kernels(0)->set_name("k");
  kernels_[0] = Put(shard);
  review->mutable_kernel()->set_path("a.py");
  review->mutable_kernel()->set_name("k");
  review->set_decision(v1::REVIEW_DECISION_REJECT);
  review->set_flag("license");
  EXPECT_THAT(Run(action, "resolve"), StatusIs(absl::StatusCode::kInvalidArgument));

  AddInputs(&action, "tree", trees_);
  AddInputs(&action, "reviewed", kernels_);
  const absl::StatusOr<v1::StageResult> result = Run(action, "resolve");
  ASSERT_THAT(result, IsOk());
  const auto clusters = cas::GetMessage<v1::Clusters>(store_, result->outputs(0).digest());
  ASSERT_THAT(clusters, IsOk());
  EXPECT_EQ(clusters->decisions(0).fate(), v1::FATE_REJECTED);
  EXPECT_EQ(clusters->decisions(0).reason(), "review:license");
}

TEST_F(DeduplicatorStagesTest, SplitDividesWhatIsKeptByRepositoryAndLikeness) {
  // Of the first shard's source the kept kernel, and of another one that is like it.
  const auto divide = [&](const std::string& first, const std::string& second) {
    v1::Action action = SplitAction(Clusters());
    v1::SplitParams* params = action.mutable_params()->mutable_split();
    params->mutable_splits()->add_test_repositories("held");
    params->mutable_shards(0)->set_repository(first);
    params->mutable_shards(1)->set_repository(second);
    return Run(action, "split");
  };
  const absl::StatusOr<v1::StageResult> result = divide("held", "a");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->outputs(0).name(), "splits");
  EXPECT_EQ(result->outputs(0).items(), 5);
  const auto splits = cas::GetMessage<v1::Splits>(store_, result->outputs(0).digest());
  ASSERT_THAT(splits, IsOk());
  EXPECT_THAT(splits->splits(), ElementsAre(v1::SPLIT_TEST, 0, 0, 0, 0));
  EXPECT_THAT(Counters(*result), ::testing::Contains(Pair("dataset.split.test", 1)));

  const absl::StatusOr<v1::StageResult> other = divide("a", "held");
  ASSERT_THAT(other, IsOk());
  EXPECT_THAT(Counters(*other), ::testing::Contains(Pair("dataset.split.train", 1)));
}

TEST_F(DeduplicatorStagesTest, SplitRefusesShardsThatDoNotMatchItsParameters) {
  v1::Action action = SplitAction(Clusters());
  action.mutable_params()->mutable_split()->mutable_shards()->RemoveLast();
  EXPECT_THAT(Run(action, "split"), StatusIs(absl::StatusCode::kInvalidArgument));
  action = SplitAction(Clusters());
  action.mutable_params()->mutable_split()->clear_threshold();
  EXPECT_THAT(Run(action, "split"), StatusIs(absl::StatusCode::kInvalidArgument));
  action = SplitAction(Clusters());
  *action.mutable_inputs(3)->mutable_digest() = action.inputs(5).digest();  // another shard's
  action.mutable_params()->mutable_split()->mutable_splits()->add_test_repositories("held");
  action.mutable_params()->mutable_split()->mutable_shards(0)->set_repository("held");
  EXPECT_THAT(Run(action, "split"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DeduplicatorStagesTest, FaultsOfTheStoreAreKept) {
  const v1::Action resolve = ResolveAction(1);
  const v1::Action manifest = ManifestAction(Clusters());
  store_.FailNext(1, absl::UnavailableError("down"));
  EXPECT_THAT(Run(resolve, "resolve"), StatusIs(absl::StatusCode::kUnavailable));
  store_.FailNext(1, absl::UnavailableError("down"));
  EXPECT_THAT(Run(manifest, "manifest"), StatusIs(absl::StatusCode::kUnavailable));
  ASSERT_TRUE(store_.Drop(kernels_[0]));
  v1::Action sign;
  AddInputs(&sign, "kernels", {kernels_[0]});
  EXPECT_THAT(Run(sign, "sign"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace kernelmill::deduplicator
