#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Url(const std::string& name) { return "https://example.org/" + name; }

// A job with the sources r0, a search for "a", r1, and a search for "b".
v1::JobSpec SearchJob() {
  v1::JobSpec spec = GitJob(1);
  *spec.add_sources() = SearchFor("a");
  spec.add_sources()->set_git(Url("r1"));
  *spec.add_sources() = SearchFor("b");
  return spec;
}

std::vector<std::string> ListGits(const v1::JobSpec& spec) {
  std::vector<std::string> gits;
  for (const v1::Source& source : spec.sources()) gits.push_back(source.git());
  return gits;
}

TEST(PlanSearch, WhatSearchesFindTakesTheirPlacesEachRepositoryOnce) {
  for (int seed = 0; seed < 10; ++seed) {
    PlanRunner run(SearchJob());
    run.stages.found = {{"a", {Url("r1"), Url("x"), Url("y")}}, {"b", {Url("y"), Url("z")}}};
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_THAT(ListGits(run.plan.Spec()),
                ElementsAre("r0", Url("x"), Url("y"), Url("r1"), Url("z")));
    EXPECT_EQ(run.actions.count("pin 4.0"), 1u);
    EXPECT_EQ(run.actions["manifest 0.0"].params().manifest().sources_size(), 5);
  }
}

TEST(PlanSearch, AJobThatFindsItsRepositoriesIsTheJobThatNamesThem) {
  PlanRunner search(SearchJob());
  search.stages.found = {{"a", {Url("x")}}, {"b", {}}};
  search.RunAll();
  v1::JobSpec spec = GitJob(1);
  spec.add_sources()->set_git(Url("x"));
  spec.add_sources()->set_git(Url("r1"));
  PlanRunner named(spec);
  named.RunAll();
  EXPECT_TRUE(cas::SameDigest(search.Status().dataset(), named.Status().dataset()));
}

TEST(PlanSearch, NothingElseBeginsBeforeTheSearchesHaveEnded) {
  PlanRunner run(SearchJob());
  EXPECT_THAT(TaskNames(run.plan.Start()), ElementsAre("discover 1.0", "discover 3.0"));
  const TaskKey first = {.stage = StageId::kDiscover, .source = 1};
  EXPECT_THAT(*run.plan.Succeed(first, v1::StageResult()), IsEmpty());
}

TEST(PlanSearch, ASearchThatFailsCostsItsSourceAndIsSearchedAgainByARetry) {
  PlanRunner run(SearchJob());
  run.stages.found = {{"a", {Url("x")}}};
  run.fails["discover 3.0"] = absl::UnavailableError("rate limit");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::JobStatus status = run.Status();
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).stage(), "discover");
  ASSERT_EQ(run.plan.Spec().sources_size(), 4);
  EXPECT_EQ(run.plan.Spec().sources(3).discover().code(), "b");
  PlanRunner again(run.plan.Spec());
  EXPECT_THAT(TaskNames(again.plan.Start()), ElementsAre("discover 3.0"));
}

TEST(PlanSearch, ASearchThatFindsMoreThanItMayHasNoResult) {
  v1::JobSpec spec = SearchJob();
  spec.mutable_sources(1)->mutable_discover()->set_limit(1);
  JobPlan plan(job::WithDefaults(spec));
  plan.Start();
  v1::StageResult result;
  result.add_found(Url("x"));
  result.add_found(Url("y"));
  EXPECT_THAT(plan.Succeed({.stage = StageId::kDiscover, .source = 1}, result),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PlanSearch, AFoundSourceHasWhatTheSearchSays) {
  v1::JobSpec spec = GitJob(0);
  *spec.add_sources() = SearchFor("a");
  spec.mutable_sources(0)->add_include("kernels/**");
  spec.mutable_sources(0)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  PlanRunner run(spec);
  run.stages.found = {{"a", {Url("x")}}};
  run.RunAll();
  const v1::Source source = run.plan.Spec().sources(0);
  EXPECT_EQ(source.git(), Url("x"));
  EXPECT_EQ(source.category(), Url("x"));
  EXPECT_EQ(source.include(0), "kernels/**");
  EXPECT_EQ(source.role(), v1::SOURCE_ROLE_HOLDOUT);
  EXPECT_FALSE(source.has_discover());
}

}  // namespace
}  // namespace kernelmill::coordinator
