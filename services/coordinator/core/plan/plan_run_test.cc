#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "common/base/hash.h"
#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "common/job/source_spec.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

// A job with a holdout, a candidate and a source of evidence, of two shards each.
v1::JobSpec RunningJob(const std::string& device = "cpu") {
  v1::JobSpec spec = GitJob(3);
  spec.mutable_sources(0)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  spec.mutable_sources(2)->set_role(v1::SOURCE_ROLE_EVIDENCE);
  spec.mutable_run()->set_device(device);
  return spec;
}

int CountRuns(const PlanRunner& run) {
  int runs = 0;
  for (const std::string& task : run.seen) runs += absl::StartsWith(task, "run-");
  return runs;
}

TEST(PlanRun, KeptKernelsRunOnceTheyAreKnown) {
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(RunningJob("cuda:90"));
    run.RunAll(seed);
    ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_EQ(CountRuns(run), 1);
    const v1::Action& action = run.actions["run-cuda-90 0.0"];
    EXPECT_THAT(InputNames(action), ElementsAre("kernels", "kernels", "kernels", "kernels",
                                                "evidence", "evidence", "clusters"));
    EXPECT_TRUE(
        cas::SameDigest(action.inputs(4).digest(), run.results["fetch 2.0"].outputs(1).digest()));
    EXPECT_EQ(action.params().run().device(), "cuda:90");
    EXPECT_EQ(action.params().run().partitions(), 1);
  }
}

TEST(PlanRun, TheResultsBecomeASourceOfEvidenceThatTheLockNames) {
  PlanRunner run(RunningJob());
  run.stages.run_results = {{0, Sha256Hex("results")}};
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::JobSpec lock = run.plan.Spec();
  EXPECT_FALSE(lock.has_run());
  ASSERT_EQ(lock.sources_size(), 4);
  EXPECT_EQ(lock.sources(3).path(), "run/cpu-" + Sha256Hex("results").substr(0, 12));
  EXPECT_EQ(lock.sources(3).sha256(), Sha256Hex("results"));
  EXPECT_EQ(lock.sources(3).role(), v1::SOURCE_ROLE_EVIDENCE);
  EXPECT_TRUE(job::IsRunSource(lock.sources(3)));
  EXPECT_THAT(job::CheckJobSpec(lock), IsOk());
  const v1::Action& manifest = run.actions["manifest 0.0"];
  ASSERT_EQ(manifest.params().manifest().sources_size(), 4);
  EXPECT_EQ(manifest.params().manifest().sources(3).shards(), 1);
  EXPECT_TRUE(
      cas::SameDigest(manifest.inputs(3).digest(), run.results["run-cpu 0.0"].outputs(0).digest()))
      << "the tree";
}

TEST(PlanRun, TheManifestIsThatOfAJobWhichNamesTheResults) {
  PlanRunner run(RunningJob());
  run.stages.run_results = {{0, Sha256Hex("results")}};
  run.RunAll();
  v1::JobSpec lock = run.plan.Spec();  // as a client reads it
  v1::Source& source = *lock.mutable_sources(3);
  source.set_name(source.path());
  source.set_path("/dataset/" + source.path());
  PlanRunner locked(lock);
  const v1::StageResult& results = run.results["run-cpu 0.0"];
  locked.stages.fetched[source.path()] = {results.outputs(0), results.outputs(1)};
  locked.RunAll();
  EXPECT_EQ(CountRuns(locked), 0);
  EXPECT_EQ(cas::SerializeDeterministically(locked.actions["manifest 0.0"]),
            cas::SerializeDeterministically(run.actions["manifest 0.0"]));
}

// No fetcher has the folder of the results.
TEST(PlanRun, AJobThatBeginsAgainWithItsPinsAsksTheRunnersAgain) {
  PlanRunner run(RunningJob("cuda:90"));
  run.stages.run_results = {{0, Sha256Hex("results")}};
  run.RunAll();
  PlanRunner again(run.plan.Spec());
  again.stages.run_results = run.stages.run_results;
  again.RunAll();
  EXPECT_EQ(again.seen.count("fetch 3.0"), 0u);
  EXPECT_EQ(again.seen.count("run-cuda-90 0.0"), 1u);
  EXPECT_EQ(cas::SerializeDeterministically(again.actions["manifest 0.0"]),
            cas::SerializeDeterministically(run.actions["manifest 0.0"]));
  EXPECT_EQ(again.plan.Spec().SerializeAsString(), run.plan.Spec().SerializeAsString());
}

TEST(PlanRun, WithoutNewResultsNothingIsAdded) {
  PlanRunner run(RunningJob());
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.plan.Spec().sources_size(), 3);
  EXPECT_FALSE(run.plan.Spec().has_run());
}

TEST(PlanRun, AJobOfSeveralPartitionsAddsThemInTheirOrder) {
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(RunningJob());
    run.stages.kernels = 2000;
    run.stages.run_results = {{1, Sha256Hex("one")}, {3, Sha256Hex("three")}};
    run.RunAll(seed);
    ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_EQ(CountRuns(run), 4);
    const v1::JobSpec lock = run.plan.Spec();
    ASSERT_EQ(lock.sources_size(), 5);
    EXPECT_EQ(lock.sources(3).sha256(), Sha256Hex("one"));
    EXPECT_EQ(lock.sources(4).sha256(), Sha256Hex("three"));
  }
}

TEST(PlanRun, AJobThatDividesItsDatasetRunsAfterThat) {
  v1::JobSpec spec = RunningJob();
  spec.mutable_splits()->set_test(0.5);
  PlanRunner run(spec);
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.seen.count("split 0.0"), 1u);
  EXPECT_EQ(CountRuns(run), 1);
}

TEST(PlanRun, AJobThatCannotRunItsKernelsFails) {
  PlanRunner run(RunningJob());
  run.fails["run-cpu 0.0"] = absl::UnavailableError("no Triton");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_FAILED);
  EXPECT_TRUE(run.plan.Spec().has_run()) << "a retry runs them";
}

TEST(PlanRun, AResultThatIsNoEvidenceIsRefused) {
  PlanRunner run(RunningJob());
  run.Open(run.plan.Start());
  while (run.open.front().stage != StageId::kRunCpu) run.Step(0);
  const TaskKey task = run.open.front();
  run.stages.run_results = {{0, Sha256Hex("results")}};
  const v1::StageResult good = run.stages.Run(run.plan.ActionFor(task));
  v1::StageResult bad = good;
  bad.mutable_pinned()->set_path("/etc");
  EXPECT_THAT(run.plan.Succeed(task, bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.mutable_pinned()->set_sha256("short");
  EXPECT_THAT(run.plan.Succeed(task, bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.mutable_outputs()->RemoveLast();
  EXPECT_THAT(run.plan.Succeed(task, bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.mutable_outputs(1)->set_items(2);
  EXPECT_THAT(run.plan.Succeed(task, bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.clear_outputs();
  EXPECT_THAT(run.plan.Succeed(task, bad), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(run.plan.Succeed(task, good), IsOk());
}

TEST(PlanRun, OtherJobsHaveTheActionsOfOld) {
  v1::JobSpec spec = RunningJob();
  spec.clear_run();
  PlanRunner run(spec);
  run.RunAll();
  EXPECT_EQ(CountRuns(run), 0);
  for (const auto& stage : run.actions["manifest 0.0"].params().manifest().stages()) {
    EXPECT_FALSE(absl::StartsWith(stage.stage(), "run")) << stage.stage();
  }
  EXPECT_THAT(run.actions["fetch 2.0"].params().fetch().source().include(),
              ElementsAre("**/*.jsonl"));
}

TEST(PlanRun, TheFetcherHandsOnTensorsToo) {
  PlanRunner run(RunningJob());
  run.RunAll();
  EXPECT_THAT(run.actions["fetch 2.0"].params().fetch().source().include(),
              ElementsAre("**/*.jsonl", job::kTensorInclude));
}

}  // namespace
}  // namespace kernelmill::coordinator
