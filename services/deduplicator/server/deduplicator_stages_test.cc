#include "services/deduplicator/server/deduplicator_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/manifest/testing/write_files.h"
#include "common/manifest/walk.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::deduplicator {

inline constexpr char kCommit[] = "0123456789012345678901234567890123456789";

inline std::string Text(int first, int count) {
  std::string text = "def f(p):\n";
  for (int i = first; i < first + count; ++i) absl::StrAppend(&text, "    x", i, " = p[", i, "]\n");
  return text;
}

// A job of two sources: one to take from, in two shards, and a holdout.
//   0  a kernel                       kept
//   1  its near copy                  near duplicate of 0
//   2  a copy of 0, licence unknown   rejected
//   3  the holdout's kernel           contaminated
//   4  the holdout's own
class DeduplicatorStagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (auto& stage : NewDeduplicatorStages()) {
      const std::string name(stage->info().name);
      stages_[name] = std::move(stage);
    }
    AddShard({Text(0, 40), Text(0, 42)});
    AddShard({Text(0, 40), Text(500, 40)});
    AddShard({Text(500, 40)});
    for (int shard = 0; shard < 2; ++shard) {
      v1::VerdictShard verdicts;
      for (int i = 0; i < 2; ++i) verdicts.add_verdicts()->set_accepted(true);
      if (shard == 1) {
        verdicts.mutable_verdicts(0)->set_accepted(false);
        verdicts.mutable_verdicts(0)->add_reasons("license:NOASSERTION");
      }
      verdicts_.push_back(Put(verdicts));
    }
    AddTree("a", 3, "symlink");
    AddTree("holdout", 1, "");
  }

  template <typename Message>
  cas::Digest Put(const Message& message) {
    return *cas::PutMessage(store_, message);
  }

  // One file a shard.
  void AddShard(const std::vector<std::string>& sources) {
    v1::KernelShard shard;
    for (const std::string& source : sources) {
      shard.add_kernels()->set_source(source);
      shard.mutable_kernels()->rbegin()->set_dsl(dsl::kTriton);
    }
    for (v1::Kernel& kernel : *shard.mutable_kernels()) kernel.set_path("a.py");
    files_.push_back(Put(manifest::WriteFiles(&shard)));
    kernels_.push_back(Put(shard));
  }

  void AddTree(const std::string& repository, int files, const std::string& skipped) {
    v1::SourceTree tree;
    tree.set_repository(repository);
    tree.set_commit(kCommit);
    for (int i = 0; i < files; ++i) tree.add_files()->set_fate(v1::FILE_FATE_SHARDED);
    if (!skipped.empty()) {
      tree.mutable_files(0)->set_fate(v1::FILE_FATE_SKIPPED);
      tree.mutable_files(0)->set_reason(skipped);
    }
    trees_.push_back(Put(tree));
  }

  static void AddInputs(v1::Action* action, const std::string& name,
                        const std::vector<cas::Digest>& digests) {
    for (const cas::Digest& digest : digests) {
      v1::NamedDigest* input = action->add_inputs();
      input->set_name(name);
      *input->mutable_digest() = digest;
    }
  }

  absl::StatusOr<v1::StageResult> Run(v1::Action action, const std::string& stage) {
    action.set_stage(stage);
    return stages_.at(stage)->Run(action, store_);
  }

  struct Signed {
    std::vector<cas::Digest> signatures, shingles;
  };

  Signed RunSign() {
    Signed all;
    for (const cas::Digest& kernels : kernels_) {
      v1::Action action;
      AddInputs(&action, "kernels", {kernels});
      const absl::StatusOr<v1::StageResult> result = Run(action, "sign");
      EXPECT_THAT(result, testing::IsOk());
      EXPECT_EQ(result->outputs(0).name(), "signatures");
      EXPECT_EQ(result->outputs(1).name(), "shingles");
      all.signatures.push_back(result->outputs(0).digest());
      all.shingles.push_back(result->outputs(1).digest());
    }
    return all;
  }

  static v1::Action PairAction(const Signed& all, int partition, int partitions) {
    v1::Action action;
    AddInputs(&action, "signatures", all.signatures);
    AddInputs(&action, "shingles", all.shingles);
    v1::PairParams* params = action.mutable_params()->mutable_pair();
    params->set_threshold(0.7);
    params->set_structural_threshold(0.9);
    params->set_holdout_threshold(0.5);
    params->set_partition(partition);
    params->set_partitions(partitions);
    for (size_t i = 0; i < all.signatures.size(); ++i) params->add_holdouts(i == 2);
    return action;
  }

  std::vector<cas::Digest> RunPair(const Signed& all, int partitions) {
    std::vector<cas::Digest> pairs;
    for (int p = 0; p < partitions; ++p) {
      const absl::StatusOr<v1::StageResult> result = Run(PairAction(all, p, partitions), "pair");
      EXPECT_THAT(result, testing::IsOk());
      pairs.push_back(result->outputs(0).digest());
    }
    return pairs;
  }

  v1::Action ResolveAction(int partitions) {
    const Signed all = RunSign();
    v1::Action action;
    AddInputs(&action, "signatures", all.signatures);
    AddInputs(&action, "verdicts", verdicts_);
    AddInputs(&action, "pairs", RunPair(all, partitions));
    v1::ResolveParams* params = action.mutable_params()->mutable_resolve();
    v1::DedupPolicy* policy = params->mutable_dedup();
    policy->set_threshold(0.7);
    policy->set_structural_threshold(0.9);
    policy->mutable_contamination()->set_threshold(0.5);
    policy->mutable_contamination()->set_overlap(0.5);
    for (int i = 0; i < 3; ++i) params->add_shards()->set_holdout(i == 2);
    return action;
  }

  v1::Action SplitAction(const cas::Digest& clusters) {
    const Signed all = RunSign();
    v1::Action action;
    AddInputs(&action, "signatures", all.signatures);
    AddInputs(&action, "shingles", all.shingles);
    AddInputs(&action, "pairs", RunPair(all, 1));
    AddInputs(&action, "clusters", {clusters});
    v1::SplitParams* params = action.mutable_params()->mutable_split();
    params->set_threshold(0.7);
    for (int i = 0; i < 3; ++i) params->add_shards()->set_holdout(i == 2);
    return action;
  }

  v1::Action ManifestAction(const cas::Digest& clusters) {
    v1::Action action;
    AddInputs(&action, "tree", trees_);
    AddInputs(&action, "files", files_);
    AddInputs(&action, "kernels", kernels_);
    AddInputs(&action, "verdicts", verdicts_);
    AddInputs(&action, "clusters", {clusters});
    v1::ManifestParams* params = action.mutable_params()->mutable_manifest();
    params->set_name("job");
    v1::ManifestSourceParams* source = params->add_sources();
    source->mutable_source()->set_git("a");
    source->mutable_source()->set_ref(kCommit);
    source->mutable_source()->add_include("**");
    source->set_shards(2);
    source = params->add_sources();
    source->mutable_source()->set_git("gone");
    source->set_failed(true);
    source = params->add_sources();
    source->mutable_source()->set_git("holdout");
    source->mutable_source()->set_ref(kCommit);
    source->mutable_source()->set_role(v1::SOURCE_ROLE_HOLDOUT);
    source->mutable_source()->add_include("**");
    source->set_shards(1);
    for (const char* stage : {"sign", "pair", "fetch"}) {
      v1::ManifestStage* added = params->add_stages();
      added->set_stage(stage);
      added->set_version(1);
    }
    return action;
  }

  cas::Digest Clusters() { return Run(ResolveAction(2), "resolve")->outputs(0).digest(); }

  static std::vector<std::pair<std::string, int64_t>> Counters(const v1::StageResult& result) {
    std::vector<std::pair<std::string, int64_t>> counters;
    for (const v1::Counter& c : result.counters()) counters.push_back({c.name(), c.value()});
    return counters;
  }

  cas::MemoryBlobStore store_;
  std::map<std::string, std::unique_ptr<worker::Stage>> stages_;
  std::vector<cas::Digest> files_, kernels_, verdicts_, trees_;
};

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
  AddInputs(&action, "kernels", {kernels_[2]});  // from the wrong shard
  EXPECT_THAT(Run(action, "resolve"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DeduplicatorStagesTest, ResolveFindsWhatIsOptedOutInTextsThatAnotherSourceLends) {
  // The third kernel opts out. The first, in the lending source, is its copy, and the fourth's
  // module contains it.
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
  mixed.shingles[0] = all.shingles[2];  // from the wrong shard
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
  // The kept kernel is in the first shard's source, and a similar one in another source.
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
  EXPECT_THAT(
      Counters(*result),
      ElementsAre(Pair("dataset.files.extracted", 3), Pair("dataset.files.seen", 4),
                  Pair("dataset.files.skipped.symlink", 1), Pair("dataset.languages.triton", 1),
                  Pair("dataset.sources.kept", 1), Pair("dataset.sources.read", 1)));
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, result->outputs(0).digest());
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->schema(), manifest::kManifestSchema);
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

TEST_F(ManifestStageTest, ManifestNamesTheFilesOfEvidenceAndCountsNoneOfThem) {
  v1::Action action = ManifestAction(Clusters());
  const absl::StatusOr<v1::StageResult> without = Run(action, "manifest");
  ASSERT_THAT(without, IsOk());
  AddTree("evidence", 2, "");
  v1::ManifestParams* params = action.mutable_params()->mutable_manifest();
  params->mutable_evidence()->set_min_adequacy(0.5);
  v1::ManifestSourceParams* source = params->add_sources();
  source->mutable_source()->set_git("evidence");
  source->mutable_source()->set_ref(kCommit);
  source->mutable_source()->set_role(v1::SOURCE_ROLE_EVIDENCE);
  source->mutable_source()->add_include("**");
  source->set_shards(2);
  const cas::Digest first = cas::ComputeDigest("first");
  const cas::Digest second = cas::ComputeDigest("second");
  AddInputs(&action, "tree", {trees_.back()});
  AddInputs(&action, "files", {first, second});
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(Counters(*result), Counters(*without));
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, result->outputs(0).digest());
  ASSERT_THAT(manifest, IsOk());
  const v1::ManifestSource& evidence = manifest->sources(3);
  EXPECT_TRUE(cas::SameDigest(evidence.tree(), trees_.back()));
  ASSERT_EQ(evidence.files_size(), 2);
  EXPECT_TRUE(cas::SameDigest(evidence.files(0), first));
  EXPECT_TRUE(cas::SameDigest(evidence.files(1), second));
  EXPECT_EQ(evidence.kernels_size(), 0);
  EXPECT_EQ(evidence.verdicts_size(), 0);
  EXPECT_EQ(manifest->evidence().min_adequacy(), 0.5);
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
    EXPECT_THAT(manifest::ListBlobs(*manifest, digest),
                ::testing::Contains(::testing::Truly(
                    [&](const cas::Digest& blob) { return cas::SameDigest(blob, text); })));
  }
  params.mutable_sources(0)->set_ir(1, -1);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ManifestStageTest, ManifestNamesTheReferencesOfEachShard) {
  v1::Action action = ManifestAction(Clusters());
  std::vector<cas::Digest> references;
  for (int i = 0; i < 2; ++i) {
    v1::ReferenceShard shard;
    shard.add_kernels()->set_further_tests(i);
    references.push_back(Put(shard));
  }
  AddInputs(&action, "references", references);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument)) << "whose?";
  action.mutable_params()->mutable_manifest()->set_references(true);
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  const cas::Digest digest = result->outputs(0).digest();
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, digest);
  ASSERT_THAT(manifest, IsOk());
  ASSERT_EQ(manifest->sources(0).references_size(), 2);
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).references(1), references[1]));
  for (const cas::Digest& shard : references) {
    EXPECT_THAT(manifest::ListBlobs(*manifest, digest),
                ::testing::Contains(::testing::Truly(
                    [&](const cas::Digest& blob) { return cas::SameDigest(blob, shard); })));
  }
}

TEST_F(ManifestStageTest, ManifestNamesTheKernelsOfAHistoryWithTheirResults) {
  v1::Action action = ManifestAction(Clusters());
  std::vector<cas::Digest> kernels, compiled;
  for (int i = 0; i < 2; ++i) {
    v1::KernelShard shard;
    shard.add_kernels()->set_name(absl::StrCat("k", i));
    kernels.push_back(Put(shard));
    v1::CompiledShard results;
    results.add_kernels()->set_not_attempted(absl::StrCat("r", i));
    compiled.push_back(Put(results));
  }
  AddInputs(&action, "version_kernels", kernels);
  AddInputs(&action, "version_compiled", compiled);
  v1::ManifestSourceParams& params =
      *action.mutable_params()->mutable_manifest()->mutable_sources(0);
  params.add_version_parts(0);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument)) << "one shard";
  params.add_version_parts(1);
  EXPECT_THAT(Run(action, "manifest"), StatusIs(absl::StatusCode::kInvalidArgument)) << "whose?";
  params.set_version_parts(1, 2);
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  const cas::Digest digest = result->outputs(0).digest();
  const auto manifest = cas::GetMessage<v1::DatasetManifest>(store_, digest);
  ASSERT_THAT(manifest, IsOk());
  EXPECT_THAT(manifest->sources(0).version_parts(), ElementsAre(0, 2));
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).version_kernels(1), kernels[1]));
  EXPECT_TRUE(cas::SameDigest(manifest->sources(0).version_compiled(1), compiled[1]));
  for (const cas::Digest& shard : {kernels[0], kernels[1], compiled[0], compiled[1]}) {
    EXPECT_THAT(manifest::ListBlobs(*manifest, digest),
                ::testing::Contains(::testing::Truly(
                    [&](const cas::Digest& blob) { return cas::SameDigest(blob, shard); })));
  }
  params.set_version_parts(1, -1);
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

TEST_F(ManifestStageTest, ManifestNamesWhatMatchesNothing) {
  v1::Action action = ManifestAction(Clusters());
  action.mutable_params()->mutable_manifest()->add_opt_out()->set_repository("github.com/x/y");
  const absl::StatusOr<v1::StageResult> result = Run(action, "manifest");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->failures(result->failures_size() - 1).path(), "unmatched.opt_out[0]");
  EXPECT_THAT(result->failures(result->failures_size() - 1).reason(),
              HasSubstr("\"message\":\"names no source of the job\""));
  EXPECT_THAT(Counters(*result), ::testing::Contains(Pair("dataset.unmatched", ::testing::Ge(1))));
}

TEST_F(ManifestStageTest, ManifestRefusesALedgerThatDoesNotAddUp) {
  auto clusters = *cas::GetMessage<v1::Clusters>(store_, Clusters());
  clusters.mutable_decisions()->RemoveLast();
  const absl::StatusOr<v1::StageResult> result = Run(ManifestAction(Put(clusters)), "manifest");
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("decisions"));

  AddTree("a", 1, "");  // has fewer files
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
    // Two trees and three files precede the kernels.
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
