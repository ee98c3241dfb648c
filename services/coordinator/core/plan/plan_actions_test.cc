#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/cas/digest.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;

TEST(PlanActions, ActionsSayWhatEachStagePromises) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(0)->set_category("tutorials");
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  spec.mutable_sources(1)->set_tier(3);
  PlanRunner run(spec);
  run.RunAll();
  const v1::Source& fetched = run.actions["fetch 0.0"].params().fetch().source();
  EXPECT_EQ(fetched.ref().size(), 40u);
  EXPECT_EQ(fetched.category(), "");
  EXPECT_THAT(InputNames(run.actions["extract 0.1"]), ElementsAre("files"));
  EXPECT_THAT(InputNames(run.actions["link 0.0"]), ElementsAre("tree", "kernels", "kernels"));
  EXPECT_THAT(InputNames(run.actions["validate 0.1"]), ElementsAre("kernels", "files", "tree"));
  EXPECT_TRUE(cas::SameDigest(run.actions["validate 0.1"].inputs(0).digest(),
                              run.results["link 0.0"].outputs(1).digest()));
  EXPECT_TRUE(cas::SameDigest(run.actions["sign 0.1"].inputs(0).digest(),
                              run.results["link 0.0"].outputs(1).digest()));
  const v1::Action& resolve = run.actions["resolve 0.0"];
  EXPECT_THAT(InputNames(resolve), ElementsAre("signatures", "signatures", "signatures",
                                               "signatures", "verdicts", "verdicts", "pairs"));
  ASSERT_EQ(resolve.params().resolve().shards_size(), 4);
  EXPECT_FALSE(resolve.params().resolve().shards(1).holdout());
  EXPECT_TRUE(resolve.params().resolve().shards(2).holdout());
  EXPECT_EQ(resolve.params().resolve().shards(2).tier(), 3);
  const v1::Action& manifest = run.actions["manifest 0.0"];
  EXPECT_THAT(InputNames(manifest),
              ElementsAre("tree", "tree", "files", "files", "files", "files", "kernels", "kernels",
                          "kernels", "kernels", "verdicts", "verdicts", "clusters"));
  EXPECT_EQ(manifest.params().manifest().sources(0).source().category(), "tutorials");
  EXPECT_EQ(manifest.params().manifest().sources(1).shards(), 2);
  EXPECT_EQ(manifest.params().manifest().stages_size(), kStageCount - 8)
      << "all except reference, history, compile, split and the devices of run";
}

TEST(PlanActions, PairsGoIntoTheManifestAndThoseThatCouldNotBeMadeAreAFailureOfADoneJob) {
  v1::JobSpec spec = GitJob(1);
  spec.add_pairs()->mutable_cuda()->set_path("a.cu");
  PlanRunner run(spec);
  run.RunAll();
  const v1::Action manifest = run.actions["manifest 0.0"];
  ASSERT_EQ(manifest.params().manifest().pairs_size(), 1);
  EXPECT_EQ(manifest.params().manifest().pairs(0).cuda().path(), "a.cu");
  EXPECT_EQ(run.plan.Spec().pairs_size(), 1);
  EXPECT_TRUE(run.Status().failures().empty());

  PlanRunner unmade(spec);
  unmade.stages.unmade = "cuda: no such kernel";
  unmade.RunAll();
  const v1::JobStatus status = unmade.Status();
  EXPECT_EQ(unmade.plan.state(), v1::JOB_STATE_DONE);
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).stage(), "manifest");
  EXPECT_EQ(status.failures(0).code(), "NOT_FOUND");
  EXPECT_EQ(status.failures(0).message(),
            "pairs that could not be made: pairs[0] (cuda: no such kernel)");
}

TEST(PlanActions, ReviewsGoIntoResolveWithWhatTheirReferencesNeedAndIntoTheManifest) {
  v1::JobSpec spec = GitJob(2);
  PlanRunner plain(spec);
  plain.RunAll();
  const std::vector<std::string> before = InputNames(plain.actions["resolve 0.0"]);
  EXPECT_THAT(before, ::testing::Not(::testing::Contains("reviewed")));

  spec.add_reviews()->mutable_kernel()->set_path("a.py");
  PlanRunner run(spec);
  run.RunAll();
  const v1::Action resolve = run.actions["resolve 0.0"];
  EXPECT_EQ(resolve.params().resolve().reviews(0).kernel().path(), "a.py");
  const std::vector<std::string> inputs = InputNames(resolve);
  EXPECT_EQ(std::count(inputs.begin(), inputs.end(), "tree"), 2);
  EXPECT_EQ(std::count(inputs.begin(), inputs.end(), "reviewed"),
            resolve.params().resolve().shards_size());
  EXPECT_EQ(run.actions["manifest 0.0"].params().manifest().reviews_size(), 1);
  EXPECT_EQ(run.plan.Spec().reviews_size(), 1);
}

TEST(PlanActions, AJobThatDividesItsDatasetHasAStageForItAndNoOtherJob) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(0)->set_name("first");
  spec.mutable_sources(0)->set_url("https://example.org/a/first");
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  PlanRunner whole(spec);
  whole.RunAll();
  EXPECT_EQ(whole.seen.count("split 0.0"), 0u);

  spec.mutable_splits()->set_seed("of nothing");
  PlanRunner idle(spec);
  idle.RunAll();
  EXPECT_EQ(idle.actions["manifest 0.0"].SerializeAsString(),
            whole.actions["manifest 0.0"].SerializeAsString());

  spec.mutable_splits()->set_test(0.1);
  PlanRunner run(spec);
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::Action& split = run.actions["split 0.0"];
  EXPECT_THAT(InputNames(split),
              ElementsAre("signatures", "signatures", "signatures", "signatures", "shingles",
                          "shingles", "shingles", "shingles", "pairs", "clusters"));
  const v1::SplitParams& params = split.params().split();
  EXPECT_EQ(params.splits().test(), 0.1);
  EXPECT_EQ(params.threshold(), 0.7);
  ASSERT_EQ(params.shards_size(), 4);
  EXPECT_EQ(params.shards(1).repository(), "first");
  EXPECT_EQ(params.shards(1).url(), "https://example.org/a/first");
  EXPECT_TRUE(params.shards(2).holdout());
  EXPECT_EQ(params.shards(2).source(), 1);
  const v1::Action& manifest = run.actions["manifest 0.0"];
  ASSERT_EQ(InputNames(manifest).back(), "splits");
  EXPECT_TRUE(cas::SameDigest(manifest.inputs(manifest.inputs_size() - 1).digest(),
                              run.results["split 0.0"].outputs(0).digest()));
  EXPECT_EQ(manifest.params().manifest().splits().test(), 0.1);
  EXPECT_EQ(manifest.params().manifest().stages_size(), kStageCount - 7)
      << "all except reference, history, compile and the devices of run";
  // No earlier stage knows that the dataset will be split.
  for (const char* task : {"fetch 0.0", "extract 0.1", "sign 0.0", "pair 0.0", "resolve 0.0"}) {
    EXPECT_EQ(run.actions[task].SerializeAsString(), whole.actions[task].SerializeAsString());
  }
}

TEST(PlanActions, ASourceThatKeepsFilesSaysSoToFetchAndToEveryPieceOfExtract) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(1)->set_keep(v1::SOURCE_KEEP_FILES);
  PlanRunner run(spec);
  run.splits = {"extract 1.1"};
  run.RunAll(7);
  EXPECT_EQ(run.actions["fetch 1.0"].params().fetch().source().keep(), v1::SOURCE_KEEP_FILES);
  EXPECT_TRUE(run.actions["extract 1.0"].params().extract().keep_files());
  EXPECT_TRUE(run.actions["extract 1.1/2"].params().extract().keep_files());
  EXPECT_FALSE(run.actions["extract 0.0"].params().has_extract());
  EXPECT_FALSE(run.actions["extract 0.1"].params().has_extract());
}

TEST(PlanActions, OfWhatIsOptedOutASourceHearsWhatIsNamedInItAlone) {
  v1::JobSpec spec = GitJob(3);
  spec.mutable_sources(0)->set_git("https://github.com/a/zero");
  spec.mutable_sources(1)->set_git("https://github.com/b/one");
  spec.mutable_sources(2)->set_git("https://github.com/c/two");
  PlanRunner before(spec);
  before.RunAll();
  spec.add_opt_out()->set_repository("github.com/a/zero");
  v1::OptOut* in_one = spec.add_opt_out();
  in_one->set_owner("github.com/b");
  in_one->set_path("x/**");
  spec.add_opt_out()->set_repository("github.com/nobody/here");
  PlanRunner after(spec);
  after.RunAll();
  const auto params = [&](const char* task) { return after.actions[task].params().validate(); };
  ASSERT_EQ(params("validate 0.0").opt_out_size(), 1);
  EXPECT_EQ(params("validate 0.0").opt_out(0).ByteSizeLong(), 0u) << "all of it";
  ASSERT_EQ(params("validate 1.1").opt_out_size(), 1);
  EXPECT_EQ(params("validate 1.1").opt_out(0).path(), "x/**");
  EXPECT_EQ(params("validate 1.1").opt_out(0).owner(), "");
  for (const char* task : {"validate 2.0", "validate 2.1", "extract 0.0", "sign 0.0", "pair 0.0"}) {
    EXPECT_EQ(cas::SerializeDeterministically(after.actions[task]),
              cas::SerializeDeterministically(before.actions[task]))
        << task;
  }
  // The texts are needed to find modules that contain an opted-out kernel.
  const auto kernels = [](const v1::Action& action) {
    const std::vector<std::string> names = InputNames(action);
    return std::count(names.begin(), names.end(), "kernels");
  };
  EXPECT_EQ(kernels(before.actions["resolve 0.0"]), 0);
  EXPECT_EQ(kernels(after.actions["resolve 0.0"]), 6);
  EXPECT_EQ(after.actions["manifest 0.0"].params().manifest().opt_out_size(), 3);
}

TEST(PlanActions, TheManifestGetsTheFilesOfEachShardOfKernels) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  PlanRunner run(spec);
  run.splits = {"extract 0.1"};
  run.fails["validate 0.0"] = absl::InternalError("lost");
  run.RunAll();
  // The first source lost a shard, and another one was split: its files still count as one shard.
  EXPECT_THAT(InputNames(run.actions["manifest 0.0"]),
              ElementsAre("tree", "tree", "files", "files", "files", "kernels", "kernels",
                          "kernels", "verdicts", "clusters"));
  const auto digest = [&](const std::string& action, int input) {
    return run.actions[action].inputs(input).digest().hash();
  };
  EXPECT_EQ(digest("manifest 0.0", 2), run.results["fetch 0.0"].outputs(2).digest().hash());
  EXPECT_EQ(digest("manifest 0.0", 3), run.results["fetch 1.0"].outputs(1).digest().hash());
}

}  // namespace
}  // namespace kernelmill::coordinator
