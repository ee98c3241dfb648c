#include "services/coordinator/core/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "common/job/source_spec.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(JobPlan, RunsTheWholeGraph) {
  PlanRunner run(GitJob(1));
  run.RunAll();
  EXPECT_THAT(run.seen,
              UnorderedElementsAre("pin 0.0", "fetch 0.0", "extract 0.0", "extract 0.1", "link 0.0",
                                   "validate 0.0", "validate 0.1", "sign 0.0", "sign 0.1",
                                   "pair 0.0", "resolve 0.0", "manifest 0.0"));
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::JobStatus status = run.Status();
  EXPECT_TRUE(cas::SameDigest(status.dataset(), run.results["manifest 0.0"].outputs(0).digest()));
  EXPECT_TRUE(job::IsPinned(run.plan.Spec().sources(0)));
  EXPECT_THAT(status.failures(), IsEmpty());
}

TEST(JobPlan, APinnedSourceIsNotPinnedAgain) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(0)->set_ref(std::string(40, 'a'));
  JobPlan plan(job::WithDefaults(spec));
  EXPECT_THAT(TaskNames(plan.Start()), ElementsAre("fetch 0.0", "pin 1.0"));
}

TEST(JobPlan, AHoldoutIsSignedButNotValidated) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_sources(0)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  PlanRunner run(spec);
  run.RunAll();
  EXPECT_EQ(run.seen.count("sign 0.0"), 1u);
  EXPECT_EQ(run.seen.count("validate 0.0"), 0u);
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
}

TEST(JobPlan, ReferencesAreFoundBetweenLinkAndTheChecksAndChangeNoOtherJob) {
  PlanRunner plain(GitJob(2));
  plain.RunAll();
  v1::JobSpec spec = GitJob(2);
  spec.set_references(true);
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  PlanRunner run(spec);
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.seen.count("reference 1.0"), 0u) << "a holdout is not read";
  EXPECT_THAT(InputNames(run.actions.at("reference 0.0")),
              ElementsAre("tree", "files", "files", "kernels", "kernels"));
  EXPECT_EQ(run.actions.at("fetch 0.0").params().fetch().source().keep(), v1::SOURCE_KEEP_FILES);
  EXPECT_FALSE(run.actions.at("extract 0.0").params().has_extract());
  const std::vector<std::string> names = InputNames(run.actions.at("manifest 0.0"));
  EXPECT_EQ(std::count(names.begin(), names.end(), "references"), 2);
  const auto stages = [](const PlanRunner& of) {
    return of.actions.at("manifest 0.0").params().manifest().stages_size();
  };
  EXPECT_EQ(stages(run), stages(plain) + 1);
  EXPECT_EQ(plain.actions.at("fetch 0.0").params().fetch().source().keep(),
            v1::SOURCE_KEEP_UNSPECIFIED);
}

TEST(JobPlan, FailedReferencesCostTheirSource) {
  v1::JobSpec spec = GitJob(2);
  spec.set_references(true);
  PlanRunner run(spec);
  run.fails["reference 0.0"] = absl::InternalError("poison");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.seen.count("sign 0.0"), 0u);
  EXPECT_EQ(run.seen.count("sign 1.0"), 1u);
  EXPECT_EQ(run.Status().failures(0).stage(), "reference");
}

TEST(JobPlan, AHistoryIsFoundBetweenReferencesAndTheChecksOfItsSourceAlone) {
  v1::JobSpec spec = GitJob(2);
  spec.set_references(true);
  spec.mutable_sources(0)->mutable_history()->set_depth(5);
  PlanRunner run(spec);
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.seen.count("history 1.0"), 0u);
  EXPECT_EQ(run.actions.at("fetch 0.0").params().fetch().source().history().depth(), 5);
  EXPECT_THAT(InputNames(run.actions.at("history 0.0")),
              ElementsAre("tree", "history", "versions", "kernels", "kernels"));
  const v1::ManifestParams& params = run.actions.at("manifest 0.0").params().manifest();
  EXPECT_EQ(params.sources(0).changes(), 1);
  EXPECT_EQ(params.sources(1).changes(), 0);
  EXPECT_TRUE(
      std::any_of(params.stages().begin(), params.stages().end(),
                  [](const v1::ManifestStage& stage) { return stage.stage() == "history"; }));
}

TEST(JobPlan, AFailedHistoryCostsItsSource) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(0)->mutable_history()->set_depth(5);
  PlanRunner run(spec);
  run.fails["history 0.0"] = absl::InternalError("poison");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.seen.count("sign 0.0"), 0u);
  EXPECT_EQ(run.seen.count("sign 1.0"), 1u);
}

TEST(JobPlan, PairWaitsForEverySignatureAndVerdictOfTheJob) {
  PlanRunner run(GitJob(2));
  run.Open(run.plan.Start());
  const auto step = [&](const std::string& name) {
    for (size_t i = 0; i < run.open.size(); ++i) {
      if (TaskName(run.open[i]) == name) return run.Step(i);
    }
    FAIL() << name << " is not open";
  };
  for (const char* name : {"pin 0.0", "fetch 0.0", "extract 0.0", "extract 0.1", "link 0.0",
                           "sign 0.0", "sign 0.1", "validate 0.0", "validate 0.1"}) {
    step(name);
  }
  EXPECT_EQ(run.seen.count("pair 0.0"), 0u);
  for (const char* name : {"pin 1.0", "fetch 1.0", "extract 1.1", "extract 1.0", "link 1.0",
                           "sign 1.1", "validate 1.0"}) {
    step(name);
  }
  EXPECT_EQ(run.seen.count("pair 0.0"), 0u);
  step("sign 1.0");
  EXPECT_EQ(run.seen.count("pair 0.0"), 0u);
  step("validate 1.1");
  ASSERT_EQ(run.seen.count("pair 0.0"), 1u);
  EXPECT_EQ(run.seen.count("resolve 0.0"), 0u);
  step("pair 0.0");
  EXPECT_EQ(run.seen.count("resolve 0.0"), 1u);
}

TEST(JobPlan, ActionsDoNotDependOnTheOrderOfCompletions) {
  const auto run_with = [](int seed) {
    PlanRunner run(GitJob(4));
    run.stages.shards = {{"r0", 3}, {"r1", 1}, {"r2", 5}, {"r3", 0}};
    run.stages.kernels = 700;
    run.fails["extract 2.1"] = absl::InternalError("poison");
    run.fails["validate 2.3"] = absl::InternalError("poison");
    run.splits = {"extract 0.1", "extract 0.1/3", "extract 0.2", "extract 2.0", "extract 2.0/2"};
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    std::map<std::string, std::string> bytes;
    for (const auto& [name, action] : run.actions) {
      bytes[name] = cas::SerializeDeterministically(action);
    }
    bytes["status"] = cas::SerializeDeterministically(run.Status());
    return bytes;
  };
  const auto expected = run_with(0);
  EXPECT_EQ(expected.count("pair 0.1"), 1u) << "more than one partition was wanted";
  for (int seed = 1; seed <= 20; ++seed) EXPECT_EQ(run_with(seed), expected) << seed;
}

std::vector<std::string> ListLinkInputs(const PlanRunner& run, int source) {
  return InputNames(run.actions.at(absl::StrCat("link ", source, ".0")));
}

TEST(JobPlan, ALinkWaitsForTheExtractionsOfWhatItsSourceUsesInAnyOrder) {
  const auto run_with = [](int seed) {
    v1::JobSpec spec = GitJob(3);
    const std::string names[] = {job::SourceName(spec.sources(0)),
                                 job::SourceName(spec.sources(1))};
    spec.mutable_sources(0)->add_uses(names[1]);  // each other
    spec.mutable_sources(1)->add_uses(names[0]);
    spec.mutable_sources(2)->add_uses(names[1]);
    PlanRunner run(spec);
    run.stages.shards = {{"r0", 2}, {"r1", 3}, {"r2", 1}};
    run.fails["link 1.0"] = absl::InternalError("poison");  // its users have it nonetheless
    run.splits = {"extract 1.1"};
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_THAT(ListLinkInputs(run, 2),
                ElementsAre("tree", "kernels", "used_tree", "used_kernels", "used_kernels",
                            "used_kernels", "used_kernels"));
    EXPECT_THAT(ListLinkInputs(run, 0),
                ElementsAre("tree", "kernels", "kernels", "used_tree", "used_kernels",
                            "used_kernels", "used_kernels", "used_kernels"));
    const v1::LinkParams& params = run.actions.at("link 2.0").params().link();
    EXPECT_EQ(params.uses_size(), 1);
    EXPECT_EQ(params.uses(0).name(), names[1]);
    EXPECT_EQ(params.uses(0).kernels(), 4);
    std::map<std::string, std::string> bytes;
    for (const auto& [name, action] : run.actions) {
      bytes[name] = cas::SerializeDeterministically(action);
    }
    return bytes;
  };
  const auto expected = run_with(0);
  for (int seed = 1; seed <= 20; ++seed) EXPECT_EQ(run_with(seed), expected) << seed;
}

TEST(JobPlan, AUsedSourceThatFailsOrIsOptedOutIsAsIfItWasNotUsed) {
  for (const bool fails : {true, false}) {
    v1::JobSpec spec = GitJob(2);
    const std::string used = job::SourceName(spec.sources(1));
    spec.mutable_sources(0)->add_uses(used);
    if (!fails) spec.add_opt_out()->set_repository(used);
    PlanRunner run(spec);
    if (fails) run.fails["fetch 1.0"] = absl::InternalError("poison");
    run.RunAll();
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_FALSE(run.actions.at("link 0.0").params().has_link());
    EXPECT_THAT(ListLinkInputs(run, 0), ::testing::Not(::testing::Contains("used_tree")));
  }
}

TEST(JobPlan, WhereSomebodyOptsOutResolveKnowsSourcesThatLendByTheirNames) {
  for (const bool opts_out : {true, false}) {
    v1::JobSpec spec = GitJob(3);
    spec.mutable_sources(0)->add_uses(job::SourceName(spec.sources(2)));
    if (opts_out) spec.add_opt_out()->set_repository("github.com/nobody/here");
    PlanRunner run(spec);
    run.RunAll();
    for (const v1::ShardOrigin& origin :
         run.actions.at("resolve 0.0").params().resolve().shards()) {
      const bool named = opts_out && origin.source() != 1;
      EXPECT_EQ(origin.repository(), named ? job::SourceName(spec.sources(origin.source())) : "");
    }
  }
}

TEST(JobPlan, PartitionsFollowTheNumberOfKernels) {
  EXPECT_EQ(PairPartitions(0), 1);
  EXPECT_EQ(PairPartitions(3999), 1);
  EXPECT_EQ(PairPartitions(4000), 2);
  EXPECT_EQ(PairPartitions(200'000), 4);
  EXPECT_EQ(PairPartitions(1'000'000), 4);
  EXPECT_EQ(PairPartitions(2'000'000), 7);
  EXPECT_EQ(PairPartitions(100'000'000), 64);
}

TEST(JobPlan, SubShardsAreLinkedInTheOrderOfItsFiles) {
  PlanRunner run(GitJob(1));
  run.splits = {"extract 0.1", "extract 0.1/2"};
  run.RunAll(7);
  const v1::Action& half = run.actions["extract 0.1/3"];
  EXPECT_EQ(half.params().extract().first(), 5);
  EXPECT_EQ(half.params().extract().count(), 5);
  EXPECT_FALSE(run.actions["extract 0.0"].params().has_extract());
  const v1::Action& link = run.actions["link 0.0"];
  EXPECT_THAT(link.params().link().parts(), ElementsAre(1, 3));
  ASSERT_EQ(link.inputs_size(), 5);
  int input = 2;
  for (const char* part : {"extract 0.1/4", "extract 0.1/5", "extract 0.1/3"}) {
    EXPECT_TRUE(
        cas::SameDigest(link.inputs(input++).digest(), run.results[part].outputs(0).digest()))
        << part;
  }
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(run.Status().failures_size(), 0);
}

TEST(JobPlan, AComputedHashIsOfTheSourceUnlessTheJobRequiresAnother) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_sources(0)->Clear();
  spec.mutable_sources(0)->set_package("waves==1.0");
  for (const bool required : {false, true}) {
    spec.set_require_hashes(required);
    JobPlan plan(job::WithDefaults(spec));
    const std::vector<TaskKey> start = plan.Start();
    EXPECT_EQ(plan.ActionFor(start[0]).params().pin().require_hashes(), required);
    v1::StageResult result;
    *result.mutable_pinned() = job::FetchPart(plan.Spec().sources(0));
    result.mutable_pinned()->set_sha256(std::string(64, 'a'));
    result.mutable_pinned()->set_hash_computed(true);
    EXPECT_EQ(plan.Succeed(start[0], result).ok(), !required);
    EXPECT_EQ(plan.Spec().sources(0).hash_computed(), !required);
  }
}

TEST(JobPlan, APinCannotBeSplit) {
  PlanRunner run(GitJob(1));
  run.Open(run.plan.Start());
  EXPECT_THAT(run.plan.Split(run.open[0]), IsEmpty());
}

TEST(JobPlan, CountersAreSummed) {
  PlanRunner run(GitJob(2));
  run.RunAll();
  const v1::JobStatus status = run.Status();
  ASSERT_EQ(status.counters_size(), 2);
  EXPECT_EQ(status.counters(0).name(), "files.seen");
  EXPECT_EQ(status.counters(0).value(), 14);
  EXPECT_EQ(status.counters(1).value(), 12);
}

}  // namespace
}  // namespace kernelmill::coordinator
