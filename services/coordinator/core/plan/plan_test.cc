#include "services/coordinator/core/plan/plan.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/config/job_spec.h"
#include "common/config/source_spec.h"
#include "common/testing/status_matchers.h"
#include "common/toolchains/toolchains.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Name(const TaskKey& key) {
  const std::string part = key.sub_shard == kWholeShard ? "" : absl::StrCat("/", key.sub_shard);
  return absl::StrCat(StageInfoOf(key.stage).name, " ", key.source, ".", key.shard, part);
}

std::vector<std::string> Names(const std::vector<TaskKey>& keys) {
  std::vector<std::string> names;
  for (const TaskKey& key : keys) names.push_back(Name(key));
  return names;
}

std::vector<std::string> InputNames(const v1::Action& action) {
  std::vector<std::string> names;
  for (const v1::NamedDigest& input : action.inputs()) names.push_back(input.name());
  return names;
}

// Runs a plan with scripted stages; tasks named in `fails` fail with that error instead.
struct Runner {
  explicit Runner(const v1::JobSpec& spec) : plan(config::WithDefaults(spec)) {}

  // Runs the task `open[i]`, and opens what follows.
  void Step(size_t i) {
    const TaskKey task = open[i];
    open.erase(open.begin() + static_cast<long>(i));
    if (splits.count(Name(task)) > 0) {
      Open(plan.Split(task));
      return;
    }
    const auto fail = fails.find(Name(task));
    if (fail != fails.end()) {
      Open(plan.Fail(task, fail->second));
      return;
    }
    const v1::Action action = plan.ActionFor(task);
    actions[Name(task)] = action;
    results[Name(task)] = stages.Run(action);
    const auto next = plan.Succeed(task, results[Name(task)]);
    ASSERT_TRUE(next.ok()) << next.status();
    Open(*next);
  }

  void Open(const std::vector<TaskKey>& tasks) {
    for (const TaskKey& task : tasks) EXPECT_TRUE(seen.insert(Name(task)).second) << Name(task);
    open.insert(open.end(), tasks.begin(), tasks.end());
  }

  // Runs all, in an order that `seed` picks; 0 is the order of creation.
  void RunAll(int seed = 0) {
    std::mt19937 random(seed);
    Open(plan.Start());
    while (!open.empty() && plan.state() == v1::JOB_STATE_RUNNING) {
      Step(seed == 0 ? 0 : random() % open.size());
    }
  }

  v1::JobStatus Status() const {
    v1::JobStatus status;
    plan.FillStatus(status);
    return status;
  }

  JobPlan plan;
  ScriptedStages stages;
  std::map<std::string, absl::Status> fails;
  std::set<std::string> splits;  // tasks that are taken apart instead
  std::vector<TaskKey> open;
  std::set<std::string> seen;
  std::map<std::string, v1::Action> actions;
  std::map<std::string, v1::StageResult> results;
};

TEST(JobPlan, RunsTheWholeGraph) {
  Runner run(GitJob(1));
  run.RunAll();
  EXPECT_THAT(run.seen,
              UnorderedElementsAre("pin 0.0", "fetch 0.0", "extract 0.0", "extract 0.1", "link 0.0",
                                   "validate 0.0", "validate 0.1", "sign 0.0", "sign 0.1",
                                   "pair 0.0", "resolve 0.0", "manifest 0.0"));
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::JobStatus status = run.Status();
  EXPECT_TRUE(cas::SameDigest(status.dataset(), run.results["manifest 0.0"].outputs(0).digest()));
  EXPECT_TRUE(config::IsPinned(run.plan.Spec().sources(0)));
  EXPECT_THAT(status.failures(), IsEmpty());
}

TEST(JobPlan, APinnedSourceIsNotPinnedAgain) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(0)->set_ref(std::string(40, 'a'));
  JobPlan plan(config::WithDefaults(spec));
  EXPECT_THAT(Names(plan.Start()), ElementsAre("fetch 0.0", "pin 1.0"));
}

std::string Url(const std::string& name) { return "https://example.org/" + name; }

// r0, a search for "a", r1, a search for "b".
v1::JobSpec SearchJob() {
  v1::JobSpec spec = GitJob(1);
  *spec.add_sources() = SearchFor("a");
  spec.add_sources()->set_git(Url("r1"));
  *spec.add_sources() = SearchFor("b");
  return spec;
}

std::vector<std::string> GitsOf(const v1::JobSpec& spec) {
  std::vector<std::string> gits;
  for (const v1::Source& source : spec.sources()) gits.push_back(source.git());
  return gits;
}

TEST(JobPlan, WhatSearchesFindTakesTheirPlacesEachRepositoryOnce) {
  for (int seed = 0; seed < 10; ++seed) {
    Runner run(SearchJob());
    run.stages.found = {{"a", {Url("r1"), Url("x"), Url("y")}}, {"b", {Url("y"), Url("z")}}};
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_THAT(GitsOf(run.plan.Spec()),
                ElementsAre("r0", Url("x"), Url("y"), Url("r1"), Url("z")));
    EXPECT_EQ(run.actions.count("pin 4.0"), 1u);
    EXPECT_EQ(run.actions["manifest 0.0"].params().manifest().sources_size(), 5);
  }
}

TEST(JobPlan, AJobThatFindsItsRepositoriesIsTheJobThatNamesThem) {
  Runner search(SearchJob());
  search.stages.found = {{"a", {Url("x")}}, {"b", {}}};
  search.RunAll();
  v1::JobSpec spec = GitJob(1);
  spec.add_sources()->set_git(Url("x"));
  spec.add_sources()->set_git(Url("r1"));
  Runner named(spec);
  named.RunAll();
  EXPECT_TRUE(cas::SameDigest(search.Status().dataset(), named.Status().dataset()));
}

TEST(JobPlan, NothingElseBeginsBeforeTheSearchesHaveEnded) {
  Runner run(SearchJob());
  EXPECT_THAT(Names(run.plan.Start()), ElementsAre("discover 1.0", "discover 3.0"));
  const TaskKey first = {.stage = StageId::kDiscover, .source = 1};
  EXPECT_THAT(*run.plan.Succeed(first, v1::StageResult()), IsEmpty());
}

TEST(JobPlan, ASearchThatFailsCostsItsSourceAndIsSearchedAgainByARetry) {
  Runner run(SearchJob());
  run.stages.found = {{"a", {Url("x")}}};
  run.fails["discover 3.0"] = absl::UnavailableError("rate limit");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::JobStatus status = run.Status();
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).stage(), "discover");
  ASSERT_EQ(run.plan.Spec().sources_size(), 4);
  EXPECT_EQ(run.plan.Spec().sources(3).discover().code(), "b");
  Runner again(run.plan.Spec());
  EXPECT_THAT(Names(again.plan.Start()), ElementsAre("discover 3.0"));
}

TEST(JobPlan, ASearchThatFindsMoreThanItMayHasNoResult) {
  v1::JobSpec spec = SearchJob();
  spec.mutable_sources(1)->mutable_discover()->set_limit(1);
  JobPlan plan(config::WithDefaults(spec));
  plan.Start();
  v1::StageResult result;
  result.add_found(Url("x"));
  result.add_found(Url("y"));
  EXPECT_THAT(plan.Succeed({.stage = StageId::kDiscover, .source = 1}, result),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(JobPlan, AFoundSourceHasWhatTheSearchSays) {
  v1::JobSpec spec = GitJob(0);
  *spec.add_sources() = SearchFor("a");
  spec.mutable_sources(0)->add_include("kernels/**");
  spec.mutable_sources(0)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  Runner run(spec);
  run.stages.found = {{"a", {Url("x")}}};
  run.RunAll();
  const v1::Source source = run.plan.Spec().sources(0);
  EXPECT_EQ(source.git(), Url("x"));
  EXPECT_EQ(source.category(), Url("x"));
  EXPECT_EQ(source.include(0), "kernels/**");
  EXPECT_EQ(source.role(), v1::SOURCE_ROLE_HOLDOUT);
  EXPECT_FALSE(source.has_discover());
}

TEST(JobPlan, FilesThatCouldNotBeFetchedAreAFailureAndTheRestGoesOn) {
  JobPlan plan(config::WithDefaults(GitJob(1)));
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
            "files that could not be had: a.py (missing_object), ...");
}

TEST(JobPlan, PairsGoIntoTheManifestAndThoseThatCouldNotBeMadeAreAFailureOfADoneJob) {
  v1::JobSpec spec = GitJob(1);
  spec.add_pairs()->mutable_cuda()->set_path("a.cu");
  Runner run(spec);
  run.RunAll();
  const v1::Action manifest = run.actions["manifest 0.0"];
  ASSERT_EQ(manifest.params().manifest().pairs_size(), 1);
  EXPECT_EQ(manifest.params().manifest().pairs(0).cuda().path(), "a.cu");
  EXPECT_EQ(run.plan.Spec().pairs_size(), 1);
  EXPECT_TRUE(run.Status().failures().empty());

  Runner unmade(spec);
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

TEST(JobPlan, ReviewsGoIntoResolveWithWhatTheirReferencesNeedAndIntoTheManifest) {
  v1::JobSpec spec = GitJob(2);
  Runner plain(spec);
  plain.RunAll();
  const std::vector<std::string> before = InputNames(plain.actions["resolve 0.0"]);
  EXPECT_THAT(before, ::testing::Not(::testing::Contains("reviewed")));

  spec.add_reviews()->mutable_kernel()->set_path("a.py");
  Runner run(spec);
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

TEST(JobPlan, ActionsSayWhatEachStagePromises) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(0)->set_category("tutorials");
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  spec.mutable_sources(1)->set_tier(3);
  Runner run(spec);
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
  EXPECT_EQ(manifest.params().manifest().stages_size(), kStageCount - 2)
      << "all but compile and split";
}

TEST(JobPlan, AJobThatDividesItsDatasetHasAStageForItAndNoOtherJob) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(0)->set_name("first");
  spec.mutable_sources(0)->set_url("https://example.org/a/first");
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  Runner whole(spec);
  whole.RunAll();
  EXPECT_EQ(whole.seen.count("split 0.0"), 0u);

  spec.mutable_splits()->set_seed("of nothing");
  Runner idle(spec);
  idle.RunAll();
  EXPECT_EQ(idle.actions["manifest 0.0"].SerializeAsString(),
            whole.actions["manifest 0.0"].SerializeAsString());

  spec.mutable_splits()->set_test(0.1);
  Runner run(spec);
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
  EXPECT_EQ(manifest.params().manifest().stages_size(), kStageCount - 1) << "all but compile";
  // Nothing before it knows that the dataset will be divided.
  for (const char* task : {"fetch 0.0", "extract 0.1", "sign 0.0", "pair 0.0", "resolve 0.0"}) {
    EXPECT_EQ(run.actions[task].SerializeAsString(), whole.actions[task].SerializeAsString());
  }
}

TEST(JobPlan, AJobWhoseDatasetCannotBeDividedFails) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_splits()->add_test_repositories("r0");
  Runner run(spec);
  run.fails["split 0.0"] = absl::InternalError("no room");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(run.seen.count("manifest 0.0"), 0u);
}

// Two sources of two shards each, the second a holdout.
v1::JobSpec JobWithHoldout() {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  return spec;
}

std::vector<std::string> StagesOf(const v1::Action& manifest) {
  std::vector<std::string> stages;
  for (const auto& stage : manifest.params().manifest().stages()) stages.push_back(stage.stage());
  return stages;
}

TEST(JobPlan, AJobThatCompilesDoesSoBetweenLinkAndValidateAndNotForHoldouts) {
  v1::JobSpec spec = JobWithHoldout();
  spec.mutable_compile()->add_targets("cuda:90");
  Runner run(spec);
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::Action& compile = run.actions["compile 0.1"];
  EXPECT_THAT(InputNames(compile), ElementsAre("kernels"));
  EXPECT_TRUE(
      cas::SameDigest(compile.inputs(0).digest(), run.results["link 0.0"].outputs(1).digest()));
  const v1::CompileParams& params = compile.params().compile();
  EXPECT_THAT(params.targets(), ElementsAre("cuda:90"));
  EXPECT_EQ(params.max_seconds(), 60);
  ASSERT_EQ(static_cast<size_t>(params.toolchains_size()), toolchains::PinnedToolchains().size());
  EXPECT_FALSE(params.toolchains(0).triton().empty()) << "the toolchain is an input";
  const v1::Action& validate = run.actions["validate 0.1"];
  EXPECT_THAT(InputNames(validate), ElementsAre("kernels", "files", "tree", "compiled"));
  EXPECT_TRUE(
      cas::SameDigest(validate.inputs(3).digest(), run.results["compile 0.1"].outputs(0).digest()));
  EXPECT_EQ(run.seen.count("compile 1.0"), 0u) << "a holdout";
  const v1::Action& manifest = run.actions["manifest 0.0"];
  EXPECT_THAT(StagesOf(manifest), ::testing::Contains("compile"));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
      manifest.params().manifest().compile(), params));
  EXPECT_EQ(manifest.params().manifest().sources(0).ir_size(), 0) << "nothing is kept";
}

TEST(JobPlan, AJobThatDoesNotCompileHasTheActionsOfOldAndWhatDoesNotDependOnItTheSameKeys) {
  Runner plain(JobWithHoldout());
  plain.RunAll();
  EXPECT_EQ(plain.seen.count("compile 0.0"), 0u);
  EXPECT_THAT(InputNames(plain.actions["validate 0.0"]), ElementsAre("kernels", "files", "tree"));
  EXPECT_FALSE(plain.actions["manifest 0.0"].params().manifest().has_compile());
  EXPECT_THAT(StagesOf(plain.actions["manifest 0.0"]),
              ::testing::Not(::testing::Contains("compile")));
  v1::JobSpec spec = JobWithHoldout();
  spec.mutable_compile();
  Runner run(spec);
  run.RunAll();
  for (const char* task : {"fetch 0.0", "extract 0.1", "link 0.0", "sign 0.0", "pair 0.0"}) {
    EXPECT_EQ(cas::SerializeDeterministically(run.actions[task]),
              cas::SerializeDeterministically(plain.actions[task]))
        << task;
  }
}

TEST(JobPlan, KeptFormsGoIntoTheManifestByShard) {
  v1::JobSpec spec = JobWithHoldout();
  spec.mutable_compile()->add_keep("ttir");
  spec.mutable_compile()->add_keep("ptx");
  for (int seed = 0; seed < 5; ++seed) {
    Runner run(spec);
    run.RunAll(seed);
    const v1::Action& manifest = run.actions["manifest 0.0"];
    EXPECT_THAT(manifest.params().manifest().sources(0).ir(), ElementsAre(2, 2));
    EXPECT_THAT(manifest.params().manifest().sources(1).ir(), IsEmpty());
    const std::vector<std::string> names = InputNames(manifest);
    const auto first = std::find(names.begin(), names.end(), "ir") - names.begin();
    ASSERT_EQ(std::count(names.begin(), names.end(), "ir"), 4);
    EXPECT_TRUE(cas::SameDigest(manifest.inputs(static_cast<int>(first) + 2).digest(),
                                run.results["compile 0.1"].outputs(1).digest()));
  }
}

TEST(JobPlan, AShardThatCannotBeCompiledIsLeftOutAndTheJobGoesOn) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_compile()->add_keep("ttir");
  for (int seed = 0; seed < 5; ++seed) {
    Runner run(spec);
    run.fails["compile 0.0"] = absl::AbortedError("its worker ended");
    run.RunAll(seed);
    ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_EQ(run.seen.count("validate 0.0"), 0u);
    const v1::Action& manifest = run.actions["manifest 0.0"];
    EXPECT_THAT(InputNames(manifest),
                ElementsAre("tree", "files", "kernels", "verdicts", "clusters", "ir"));
    EXPECT_THAT(manifest.params().manifest().sources(0).ir(), ElementsAre(1));
    EXPECT_EQ(manifest.params().manifest().sources(0).failed_files(), 10);
    ASSERT_EQ(run.Status().failures_size(), 1);
    EXPECT_EQ(run.Status().failures(0).stage(), "compile");
    EXPECT_EQ(run.Status().failures(0).files(), 10);
  }
}

TEST(JobPlan, AHoldoutIsSignedButNotValidated) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_sources(0)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  Runner run(spec);
  run.RunAll();
  EXPECT_EQ(run.seen.count("sign 0.0"), 1u);
  EXPECT_EQ(run.seen.count("validate 0.0"), 0u);
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
}

TEST(JobPlan, PairWaitsForEverySignatureAndVerdictOfTheJob) {
  Runner run(GitJob(2));
  run.Open(run.plan.Start());
  const auto step = [&](const std::string& name) {
    for (size_t i = 0; i < run.open.size(); ++i) {
      if (Name(run.open[i]) == name) return run.Step(i);
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
    Runner run(GitJob(4));
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

std::vector<std::string> LinkInputsOf(const Runner& run, int source) {
  return InputNames(run.actions.at(absl::StrCat("link ", source, ".0")));
}

TEST(JobPlan, ALinkWaitsForTheExtractionsOfWhatItsSourceUsesInAnyOrder) {
  const auto run_with = [](int seed) {
    v1::JobSpec spec = GitJob(3);
    const std::string names[] = {config::SourceName(spec.sources(0)),
                                 config::SourceName(spec.sources(1))};
    spec.mutable_sources(0)->add_uses(names[1]);  // each other
    spec.mutable_sources(1)->add_uses(names[0]);
    spec.mutable_sources(2)->add_uses(names[1]);
    Runner run(spec);
    run.stages.shards = {{"r0", 2}, {"r1", 3}, {"r2", 1}};
    run.fails["link 1.0"] = absl::InternalError("poison");  // its users have it nonetheless
    run.splits = {"extract 1.1"};
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_THAT(LinkInputsOf(run, 2), ElementsAre("tree", "kernels", "used_tree", "used_kernels",
                                                  "used_kernels", "used_kernels", "used_kernels"));
    EXPECT_THAT(LinkInputsOf(run, 0),
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
    const std::string used = config::SourceName(spec.sources(1));
    spec.mutable_sources(0)->add_uses(used);
    if (!fails) spec.add_opt_out()->set_repository(used);
    Runner run(spec);
    if (fails) run.fails["fetch 1.0"] = absl::InternalError("poison");
    run.RunAll();
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_FALSE(run.actions.at("link 0.0").params().has_link());
    EXPECT_THAT(LinkInputsOf(run, 0), ::testing::Not(::testing::Contains("used_tree")));
  }
}

TEST(JobPlan, WhereSomebodyOptsOutResolveKnowsSourcesThatLendByTheirNames) {
  for (const bool opts_out : {true, false}) {
    v1::JobSpec spec = GitJob(3);
    spec.mutable_sources(0)->add_uses(config::SourceName(spec.sources(2)));
    if (opts_out) spec.add_opt_out()->set_repository("github.com/nobody/here");
    Runner run(spec);
    run.RunAll();
    for (const v1::ShardOrigin& origin :
         run.actions.at("resolve 0.0").params().resolve().shards()) {
      const bool named = opts_out && origin.source() != 1;
      EXPECT_EQ(origin.repository(),
                named ? config::SourceName(spec.sources(origin.source())) : "");
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

TEST(JobPlan, AFailedSourceDoesNotStopTheOthers) {
  for (const char* stage : {"pin 0.0", "fetch 0.0", "link 0.0"}) {
    Runner run(GitJob(2));
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

TEST(JobPlan, AShardThatCannotBeExtractedIsLeftOutAndItsFilesAreCounted) {
  Runner run(GitJob(1));
  run.stages.shards = {{"r0", 3}};
  run.fails["extract 0.1"] = absl::InternalError("crash");
  run.RunAll();
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_THAT(InputNames(run.actions["link 0.0"]), ElementsAre("tree", "kernels", "kernels"));
  // The third shard's files go with the second linked shard.
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

TEST(JobPlan, ASourceThatKeepsFilesSaysSoToFetchAndToEveryPieceOfExtract) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(1)->set_keep(v1::SOURCE_KEEP_FILES);
  Runner run(spec);
  run.splits = {"extract 1.1"};
  run.RunAll(7);
  EXPECT_EQ(run.actions["fetch 1.0"].params().fetch().source().keep(), v1::SOURCE_KEEP_FILES);
  EXPECT_TRUE(run.actions["extract 1.0"].params().extract().keep_files());
  EXPECT_TRUE(run.actions["extract 1.1/2"].params().extract().keep_files());
  EXPECT_FALSE(run.actions["extract 0.0"].params().has_extract());
  EXPECT_FALSE(run.actions["extract 0.1"].params().has_extract());
}

TEST(JobPlan, SubShardsAreLinkedInTheOrderOfItsFiles) {
  Runner run(GitJob(1));
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

TEST(JobPlan, OfWhatIsOptedOutASourceHearsWhatIsNamedInItAlone) {
  v1::JobSpec spec = GitJob(3);
  spec.mutable_sources(0)->set_git("https://github.com/a/zero");
  spec.mutable_sources(1)->set_git("https://github.com/b/one");
  spec.mutable_sources(2)->set_git("https://github.com/c/two");
  Runner before(spec);
  before.RunAll();
  spec.add_opt_out()->set_repository("github.com/a/zero");
  v1::OptOut* in_one = spec.add_opt_out();
  in_one->set_owner("github.com/b");
  in_one->set_path("x/**");
  spec.add_opt_out()->set_repository("github.com/nobody/here");
  Runner after(spec);
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
  // The texts, by which modules that hold an opted-out kernel are found.
  const auto kernels = [](const v1::Action& action) {
    const std::vector<std::string> names = InputNames(action);
    return std::count(names.begin(), names.end(), "kernels");
  };
  EXPECT_EQ(kernels(before.actions["resolve 0.0"]), 0);
  EXPECT_EQ(kernels(after.actions["resolve 0.0"]), 6);
  EXPECT_EQ(after.actions["manifest 0.0"].params().manifest().opt_out_size(), 3);
}

TEST(JobPlan, AGateThatIsMissedIsAFailureOfItsOwn) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_gates()->set_min_kept(5);
  Runner run(spec);
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

v1::JobSpec CompilingJob() {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_compile()->add_targets("cuda:90");
  spec.mutable_compile()->add_keep("ttir");
  return spec;
}

TEST(JobPlan, PartsThatAreCompiledAreValidatedInTheOrderOfTheirKernels) {
  for (int seed = 0; seed < 5; ++seed) {
    Runner run(CompilingJob());
    run.splits = {"compile 0.1", "compile 0.1/3"};  // the last is of one kernel
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    const v1::CompileParams& half = run.actions["compile 0.1/2"].params().compile();
    EXPECT_EQ(half.first(), 0);
    EXPECT_EQ(half.count(), 2);
    EXPECT_EQ(half.quarantine_reason(), "");
    const std::string last = absl::StrCat("compile 0.1/", 3 + kQuarantined);
    const v1::CompileParams& quarantined = run.actions[last].params().compile();
    EXPECT_EQ(quarantined.first(), 2);
    EXPECT_EQ(quarantined.count(), 1);
    EXPECT_EQ(quarantined.quarantine_reason(), "crash");
    EXPECT_EQ(run.actions["compile 0.0"].params().compile().count(), 0);
    const v1::Action& validate = run.actions["validate 0.1"];
    EXPECT_THAT(InputNames(validate),
                ElementsAre("kernels", "files", "tree", "compiled", "compiled"));
    const v1::Action& manifest = run.actions["manifest 0.0"];
    EXPECT_THAT(manifest.params().manifest().sources(0).ir(), ElementsAre(1, 2));
    const int ir = static_cast<int>(InputNames(manifest).size()) - 2;
    int place = 0;
    for (const std::string& part : {std::string("compile 0.1/2"), last}) {
      const v1::StageResult& of = run.results[part];
      EXPECT_TRUE(cas::SameDigest(validate.inputs(3 + place).digest(), of.outputs(0).digest()));
      EXPECT_TRUE(cas::SameDigest(manifest.inputs(ir + place++).digest(), of.outputs(1).digest()));
    }
    ASSERT_EQ(run.Status().failures_size(), 1);
    const v1::Failure failure = run.Status().failures(0);
    EXPECT_EQ(failure.stage(), "compile");
    EXPECT_EQ(failure.path(), "file of kernel 2");
    EXPECT_EQ(failure.files(), 0) << "the kernel stays";
    EXPECT_NE(failure.message().find("quarantined: compiling kernel 2"), std::string::npos);
  }
}

TEST(JobPlan, APartThatCannotBeCompiledLosesItsShardOnce) {
  for (int seed = 0; seed < 5; ++seed) {
    Runner run(CompilingJob());
    run.splits = {"compile 0.1"};
    run.fails["compile 0.1/2"] = absl::InternalError("no report");
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_EQ(run.seen.count("validate 0.1"), 0u);
    EXPECT_EQ(run.actions["manifest 0.0"].params().manifest().sources(0).failed_files(), 10);
    ASSERT_EQ(run.Status().failures_size(), 1);
  }
}

TEST(JobPlan, APinCannotBeSplit) {
  Runner run(GitJob(1));
  run.Open(run.plan.Start());
  EXPECT_THAT(run.plan.Split(run.open[0]), IsEmpty());
}

TEST(JobPlan, AShardThatCannotBeCheckedOrSignedIsLeftOut) {
  for (const char* stage : {"validate 0.1", "sign 0.1"}) {
    for (int seed = 0; seed < 5; ++seed) {
      Runner run(GitJob(1));
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

TEST(JobPlan, AStatusNamesTheFirstHundredFailuresAndPagesHaveAll) {
  Runner run(GitJob(250));
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

TEST(JobPlan, FailuresOfJobWideStagesFailTheJob) {
  for (const char* stage : {"pair 0.0", "resolve 0.0", "manifest 0.0"}) {
    Runner run(GitJob(1));
    run.fails[stage] = absl::DataLossError("bad");
    run.RunAll();
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_FAILED) << stage;
    EXPECT_EQ(run.Status().failures_size(), 1) << stage;
    EXPECT_FALSE(run.Status().has_dataset());
    EXPECT_EQ(run.plan.Spec().sources_size(), 1);
  }
}

TEST(JobPlan, SourcesWithoutShardsAndWithoutSuccessStillMakeADataset) {
  Runner empty(GitJob(1));
  empty.stages.shards = {{"r0", 0}};
  empty.RunAll();
  EXPECT_EQ(empty.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(empty.seen.count("link 0.0"), 0u);
  EXPECT_THAT(InputNames(empty.actions["manifest 0.0"]), ElementsAre("tree", "clusters"));

  Runner failed(GitJob(1));
  failed.fails["pin 0.0"] = absl::NotFoundError("gone");
  failed.RunAll();
  EXPECT_EQ(failed.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_THAT(InputNames(failed.actions["manifest 0.0"]), ElementsAre("clusters"));

  Runner lost(GitJob(1));
  lost.fails["extract 0.0"] = lost.fails["extract 0.1"] = absl::InternalError("crash");
  lost.RunAll();
  EXPECT_EQ(lost.plan.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(lost.actions["manifest 0.0"].params().manifest().sources(0).failed_files(), 20);
}

TEST(JobPlan, CountersAreSummed) {
  Runner run(GitJob(2));
  run.RunAll();
  const v1::JobStatus status = run.Status();
  ASSERT_EQ(status.counters_size(), 2);
  EXPECT_EQ(status.counters(0).name(), "files.seen");
  EXPECT_EQ(status.counters(0).value(), 14);
  EXPECT_EQ(status.counters(1).value(), 12);
}

// A worker may hand in anything. What it gets wrong on purpose must change nothing.
class RefusedResult : public ::testing::Test {
 protected:
  explicit RefusedResult(const v1::JobSpec& spec = GitJob(1)) : run(spec) {
    run.Open(run.plan.Start());
  }

  void StepTo(StageId stage) {
    while (run.open[0].stage != stage) run.Step(0);
  }
  // What the first open task would make.
  v1::StageResult Good() { return run.stages.Run(run.plan.ActionFor(run.open[0])); }
  void ExpectRefused(const v1::StageResult& result) {
    EXPECT_THAT(run.plan.Succeed(run.open[0], result),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  // Each of the lies about the first open task's result is refused, and the truth taken after all.
  void ExpectAllRefused(const std::vector<std::function<void(v1::StageResult&)>>& lies) {
    for (size_t i = 0; i < lies.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("lie ", i));
      v1::StageResult result = Good();
      lies[i](result);
      ExpectRefused(result);
    }
    const size_t open = run.open.size();
    run.Step(0);
    EXPECT_GE(run.open.size() + 1, open);
  }

  Runner run;
};

TEST_F(RefusedResult, OfAPinThatIsOpenOrOfAnotherSource) {
  ExpectAllRefused({
      [](auto& result) { result.clear_pinned(); },
      [](auto& result) { result.mutable_pinned()->set_ref("main"); },
      [](auto& result) { result.mutable_pinned()->set_ref(std::string(40, 'A')); },
      [](auto& result) { result.mutable_pinned()->set_git("https://evil.example/r0"); },
      [](auto& result) { result.mutable_pinned()->set_name("r1"); },
      [](auto& result) { result.mutable_pinned()->add_include("**"); },
      [](auto& result) { result.mutable_pinned()->set_license("MIT"); },
      [](auto& result) { result.mutable_pinned()->set_sha256(std::string(64, 'a')); },
  });
  EXPECT_EQ(run.plan.Spec().sources(0).git(), "r0");
  EXPECT_TRUE(config::IsPinned(run.plan.Spec().sources(0)));
}

TEST_F(RefusedResult, OfAFetch) {
  StepTo(StageId::kFetch);
  ExpectAllRefused({
      [](auto& result) { result.clear_outputs(); },
      [](auto& result) { result.mutable_outputs(0)->set_name("files"); },
      [](auto& result) { result.mutable_outputs(1)->mutable_digest()->set_hash("../../etc"); },
      [](auto& result) { result.mutable_outputs(1)->mutable_digest()->set_size_bytes(-1); },
      [](auto& result) { result.mutable_outputs(1)->set_items(0); },
      [](auto& result) { result.mutable_outputs(1)->set_items(1 << 30); },
      [](auto& result) { result.mutable_counters(0)->set_value(int64_t{1} << 60); },
      [](auto& result) { result.mutable_counters(0)->set_value(-(int64_t{1} << 60)); },
      [](auto& result) { result.mutable_counters(0)->set_name(std::string(1000, 'n')); },
      [](auto& result) {
        for (int i = 0; i < 101; ++i) result.add_failures();
      },
      [](auto& result) {
        for (int i = 0; i < 1000; ++i) *result.add_counters() = result.counters(0);
      },
  });
}

TEST_F(RefusedResult, OfAnExtractionOrALink) {
  StepTo(StageId::kExtract);
  ExpectAllRefused({
      [](auto& result) { result.clear_outputs(); },
      [](auto& result) { *result.add_outputs() = result.outputs(0); },
      [](auto& result) { result.mutable_outputs(0)->set_items(int64_t{1} << 40); },
  });
  StepTo(StageId::kLink);
  ExpectAllRefused({
      [](auto& result) { result.mutable_outputs()->RemoveLast(); },
      [](auto& result) { result.mutable_outputs(1)->set_items(-1); },
  });
}

class RefusedCompile : public RefusedResult {
 protected:
  RefusedCompile() : RefusedResult(Job()) {}
  static v1::JobSpec Job() {
    v1::JobSpec spec = GitJob(1);
    spec.mutable_compile()->add_keep("ptx");
    return spec;
  }
};

TEST_F(RefusedCompile, ThatSaysSomethingElseThanWhatCameOfEachKernel) {
  StepTo(StageId::kCompile);
  ExpectAllRefused({
      [](auto& result) { result.clear_outputs(); },
      [](auto& result) { result.mutable_outputs(0)->set_items(4); },
      [](auto& result) { result.mutable_outputs(0)->set_name("ir"); },
      [](auto& result) { result.mutable_outputs(1)->set_name("compiled"); },
      [](auto& result) { result.mutable_outputs(1)->mutable_digest()->set_hash("x"); },
      [](auto& result) {
        while (result.outputs_size() < 5000) *result.add_outputs() = result.outputs(1);
      },
  });
  while (!run.open.empty()) run.Step(0);
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
}

TEST_F(RefusedResult, ThatSaysSomethingOfMoreKernelsThanThereAre) {
  StepTo(StageId::kValidate);
  ExpectAllRefused({[](auto& result) { result.mutable_outputs(0)->set_items(4); }});
  StepTo(StageId::kSign);
  ExpectAllRefused({[](auto& result) { result.mutable_outputs(0)->set_items(2); },
                    [](auto& result) { result.mutable_outputs(1)->set_items(4); }});
  while (!run.open.empty()) run.Step(0);
  EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
}

TEST(JobPlan, TheManifestGetsTheFilesOfEachShardOfKernels) {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  Runner run(spec);
  run.splits = {"extract 0.1"};
  run.fails["validate 0.0"] = absl::InternalError("lost");
  run.RunAll();
  // Of the first source a shard is lost, and one was taken apart: its files are one shard all the
  // same.
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
