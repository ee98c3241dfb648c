#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;

TEST(PlanFailures, FilesThatCouldNotBeFetchedAreAFailureAndTheRestGoesOn) {
  JobPlan plan(job::WithDefaults(GitJob(1)));
  ScriptedStages stages;
  const TaskKey pin = plan.Start()[0];
  const TaskKey fetch = plan.Succeed(pin, stages.Run(plan.ActionFor(pin)))->at(0);
  v1::StageResult result = stages.Run(plan.ActionFor(fetch));
  result.add_failures()->set_path("a.py");
  result.mutable_failures(0)->set_reason("missing_object");
  v1::Counter& counter = *result.add_counters();
  counter.set_name("files.failed.missing_object");
  counter.set_value(12);
  EXPECT_EQ(plan.Succeed(fetch, result)->size(), 2u);
  v1::JobStatus status;
  plan.FillStatus(status);
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).files(), 12);
  EXPECT_EQ(status.failures(0).path(), "a.py");
  EXPECT_EQ(status.failures(0).code(), "DATA_LOSS");
  EXPECT_EQ(status.failures(0).message(),
            "files that could not be fetched: a.py (missing_object), ...");
}

TEST(PlanFailures, AFailedSourceDoesNotStopTheOthers) {
  for (const char* stage : {"pin 0.0", "fetch 0.0", "link 0.0"}) {
    PlanRunner run(GitJob(2));
    run.fails[stage] = absl::NotFoundError("gone");
    run.RunAll();
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE) << stage;
    const v1::JobStatus status = run.Status();
    ASSERT_EQ(status.failures_size(), 1) << stage;
    EXPECT_EQ(status.failures(0).source(), "r0");
    EXPECT_EQ(status.failures(0).code(), "NOT_FOUND");
    EXPECT_EQ(status.failures(0).message(), "gone");
    EXPECT_EQ(status.failures(0).files(), stage == std::string("link 0.0") ? 20 : 0);
    const v1::Action& manifest = run.actions["manifest 0.0"];
    EXPECT_TRUE(manifest.params().manifest().sources(0).failed());
    EXPECT_FALSE(manifest.params().manifest().sources(1).failed());
    EXPECT_THAT(InputNames(manifest), ElementsAre("tree", "files", "files", "kernels", "kernels",
                                                  "verdicts", "verdicts", "clusters"));
    EXPECT_TRUE(
        cas::SameDigest(manifest.inputs(0).digest(), run.results["fetch 1.0"].outputs(0).digest()));
  }
}

TEST(PlanFailures, AShardThatCannotBeExtractedIsLeftOutAndItsFilesAreCounted) {
  PlanRunner run(GitJob(1));
  run.stages.shards = {{"r0", 3}};
  run.fails["extract 0.1"] = absl::InternalError("crash");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_THAT(InputNames(run.actions["link 0.0"]), ElementsAre("tree", "kernels", "kernels"));
  // The third shard's files belong to the second linked shard.
  EXPECT_TRUE(cas::SameDigest(run.actions["validate 0.2"].inputs(0).digest(),
                              run.results["link 0.0"].outputs(1).digest()));
  EXPECT_TRUE(cas::SameDigest(run.actions["validate 0.2"].inputs(1).digest(),
                              run.results["fetch 0.0"].outputs(3).digest()));
  EXPECT_EQ(run.seen.count("validate 0.1"), 0u);
  const auto& source = run.actions["manifest 0.0"].params().manifest().sources(0);
  EXPECT_EQ(source.failed_files(), 10);
  EXPECT_EQ(source.shards(), 2);
  const v1::JobStatus status = run.Status();
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).files(), 10);
  EXPECT_EQ(status.failures(0).stage(), "extract");
}

TEST(PlanFailures, AShardThatCannotBeCheckedOrSignedIsLeftOut) {
  for (const char* stage : {"validate 0.1", "sign 0.1"}) {
    for (int seed = 0; seed < 5; ++seed) {
      PlanRunner run(GitJob(1));
      run.fails[stage] = absl::DataLossError("bad");
      run.RunAll(seed);
      EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE) << stage;
      ASSERT_EQ(run.Status().failures_size(), 1);
      EXPECT_EQ(run.Status().failures(0).files(), 10);
      const v1::Action& manifest = run.actions["manifest 0.0"];
      EXPECT_THAT(InputNames(manifest),
                  ElementsAre("tree", "files", "kernels", "verdicts", "clusters"));
      EXPECT_EQ(manifest.params().manifest().sources(0).failed_files(), 10);
      EXPECT_THAT(InputNames(run.actions["pair 0.0"]), ElementsAre("signatures", "shingles"));
    }
  }
}

TEST(PlanFailures, SourcesWithoutShardsAndWithoutSuccessStillMakeADataset) {
  PlanRunner empty(GitJob(1));
  empty.stages.shards = {{"r0", 0}};
  empty.RunAll();
  EXPECT_EQ(empty.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(empty.seen.count("link 0.0"), 0u);
  EXPECT_THAT(InputNames(empty.actions["manifest 0.0"]), ElementsAre("tree", "clusters"));

  PlanRunner failed(GitJob(1));
  failed.fails["pin 0.0"] = absl::NotFoundError("gone");
  failed.RunAll();
  EXPECT_EQ(failed.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_THAT(InputNames(failed.actions["manifest 0.0"]), ElementsAre("clusters"));

  PlanRunner lost(GitJob(1));
  lost.fails["extract 0.0"] = lost.fails["extract 0.1"] = absl::InternalError("crash");
  lost.RunAll();
  EXPECT_EQ(lost.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(lost.actions["manifest 0.0"].params().manifest().sources(0).failed_files(), 20);
}

TEST(PlanFailures, FailuresOfJobWideStagesFailTheJob) {
  for (const char* stage : {"pair 0.0", "resolve 0.0", "manifest 0.0"}) {
    PlanRunner run(GitJob(1));
    run.fails[stage] = absl::DataLossError("bad");
    run.RunAll();
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_FAILED) << stage;
    EXPECT_EQ(run.Status().failures_size(), 1) << stage;
    EXPECT_FALSE(run.Status().has_dataset());
    EXPECT_EQ(run.plan.Spec().sources_size(), 1);
  }
}

TEST(PlanFailures, AJobWhoseDatasetCannotBeDividedFails) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_splits()->add_test_repositories("r0");
  PlanRunner run(spec);
  run.fails["split 0.0"] = absl::InternalError("no room");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(run.seen.count("manifest 0.0"), 0u);
}

TEST(PlanFailures, AGateThatIsMissedIsAFailureOfItsOwn) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_gates()->set_min_kept(5);
  PlanRunner run(spec);
  run.stages.unmade = "is not there";
  run.stages.missed_gates = {"min_kept", "max_rejected"};
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE) << "the dataset is there";
  EXPECT_EQ(run.actions["manifest 0.0"].params().manifest().gates().min_kept(), 5);
  const v1::JobStatus status = run.Status();
  ASSERT_EQ(status.failures_size(), 3);
  EXPECT_EQ(status.failures(0).code(), "NOT_FOUND");
  EXPECT_EQ(status.failures(1).path(), "gates.min_kept");
  EXPECT_EQ(status.failures(1).code(), "FAILED_PRECONDITION");
  EXPECT_EQ(status.failures(1).message(), "missed");
  EXPECT_EQ(status.failures(2).path(), "gates.max_rejected");
}

TEST(PlanFailures, WhatMatchesNothingIsListedAndIsNoFailure) {
  PlanRunner run(GitJob(1));
  run.stages.unmatched = {"opt_out[0]", "sources[0].include[1]"};
  run.stages.missed_gates = {"min_kept"};
  run.RunAll();
  const v1::JobStatus status = run.Status();
  ASSERT_EQ(status.failures_size(), 3);
  EXPECT_EQ(status.failure_count(), 1) << "the gate";
  EXPECT_EQ(status.failures(1).path(), "unmatched.sources[0].include[1]");
  EXPECT_EQ(status.failures(1).code(), "NOT_FOUND");
  EXPECT_EQ(status.failures(1).message(), "{}");
}

TEST(PlanFailures, AStatusNamesTheFirstHundredFailuresAndPagesHaveAll) {
  PlanRunner run(GitJob(250));
  for (int i = 0; i < 250; ++i) run.fails[absl::StrCat("pin ", i, ".0")] = absl::NotFoundError("x");
  run.fails["pin 7.0"] = absl::NotFoundError(std::string(1 << 20, 'x'));
  run.RunAll(/*seed=*/3);
  const v1::JobStatus status = run.Status();
  EXPECT_EQ(status.failures_size(), 100);
  EXPECT_EQ(status.failure_count(), 250);
  EXPECT_FALSE(status.has_lock());
  EXPECT_LT(status.failures(7).message().size(), 5000u) << "a worker may say too much";
  const TaskKey last = {.stage = StageId::kPin, .source = 199};
  const std::vector<TaskFailure> rest = run.plan.Failures(&last, 1000);
  ASSERT_EQ(rest.size(), 50u);
  EXPECT_EQ(rest[0].failure.source(), "r200");
  EXPECT_EQ(run.plan.Failures(nullptr, 30).size(), 30u);
  EXPECT_EQ(run.plan.TakeFailures().size(), 250u);
}

}  // namespace
}  // namespace kernelmill::coordinator
