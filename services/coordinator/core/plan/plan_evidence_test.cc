#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A job with three sources of two shards each; that of evidence is in the middle.
v1::JobSpec JobWithEvidence() {
  v1::JobSpec spec = GitJob(3);
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_EVIDENCE);
  return spec;
}

std::vector<std::string> ListTasks(const PlanRunner& run, int source) {
  std::vector<std::string> tasks;
  for (const std::string& name : run.seen) {
    if (absl::StrContains(name, absl::StrCat(" ", source, "."))) tasks.push_back(name);
  }
  return tasks;
}

TEST(PlanEvidence, EvidenceIsFetchedAndNothingElse) {
  for (int seed = 0; seed < 20; ++seed) {
    PlanRunner run(JobWithEvidence());
    run.RunAll(seed);
    ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_THAT(ListTasks(run, 1), UnorderedElementsAre("pin 1.0", "fetch 1.0"));
    EXPECT_EQ(run.seen.count("sign 2.1"), 1u);
  }
}

TEST(PlanEvidence, TheFetcherHandsOnEveryJsonLine) {
  PlanRunner run(JobWithEvidence());
  run.RunAll();
  const v1::Source& source = run.actions["fetch 1.0"].params().fetch().source();
  EXPECT_THAT(source.include(), ElementsAre("**/*.jsonl"));
  EXPECT_EQ(source.role(), v1::SOURCE_ROLE_EVIDENCE);
}

TEST(PlanEvidence, TheManifestHasItsTreeAndFilesAndThePolicy) {
  PlanRunner run(JobWithEvidence());
  run.RunAll();
  const v1::Action& manifest = run.actions["manifest 0.0"];
  EXPECT_THAT(InputNames(manifest),
              ElementsAre("tree", "tree", "tree", "files", "files", "files", "files", "files",
                          "files", "kernels", "kernels", "kernels", "kernels", "verdicts",
                          "verdicts", "verdicts", "verdicts", "clusters"));
  for (const int shard : {0, 1}) {
    EXPECT_TRUE(cas::SameDigest(manifest.inputs(5 + shard).digest(),
                                run.results["fetch 1.0"].outputs(1 + shard).digest()));
  }
  const v1::ManifestParams& params = manifest.params().manifest();
  EXPECT_EQ(params.sources(1).shards(), 2);
  EXPECT_EQ(params.sources(1).source().role(), v1::SOURCE_ROLE_EVIDENCE);
  EXPECT_EQ(params.evidence().min_adequacy(), 0.8);
}

TEST(PlanEvidence, OtherStagesDoNotKnowOfIt) {
  PlanRunner plain(GitJob(2));
  plain.RunAll();
  v1::JobSpec spec = GitJob(3);
  spec.mutable_sources(2)->set_role(v1::SOURCE_ROLE_EVIDENCE);
  PlanRunner run(spec);
  run.RunAll();
  for (const char* task : {"extract 0.1", "link 0.0", "validate 1.0", "pair 0.0", "resolve 0.0"}) {
    EXPECT_EQ(cas::SerializeDeterministically(run.actions[task]),
              cas::SerializeDeterministically(plain.actions[task]))
        << task;
  }
  EXPECT_FALSE(plain.actions["manifest 0.0"].params().manifest().has_evidence());
}

TEST(PlanEvidence, EvidenceThatCannotBeFetchedIsAFailedSource) {
  PlanRunner run(JobWithEvidence());
  run.fails["fetch 1.0"] = absl::NotFoundError("gone");
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.Status().failures_size(), 1);
  const v1::ManifestParams& params = run.actions["manifest 0.0"].params().manifest();
  EXPECT_TRUE(params.sources(1).failed());
  EXPECT_EQ(params.sources(1).shards(), 0);
}

TEST(PlanEvidence, EvidenceWithoutFilesIsEmpty) {
  PlanRunner run(JobWithEvidence());
  run.stages.shards = {{"r1", 0}};
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_THAT(run.Status().failures(), IsEmpty());
  EXPECT_EQ(run.actions["manifest 0.0"].params().manifest().sources(1).shards(), 0);
}

}  // namespace
}  // namespace kernelmill::coordinator
