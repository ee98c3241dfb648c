#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/toolchains/toolchains.h"
#include "services/coordinator/core/plan/plan_runner.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A job with two sources of two shards each; the second is a holdout.
v1::JobSpec JobWithHoldout() {
  v1::JobSpec spec = GitJob(2);
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  return spec;
}

std::vector<std::string> GetStages(const v1::Action& manifest) {
  std::vector<std::string> stages;
  for (const auto& stage : manifest.params().manifest().stages()) stages.push_back(stage.stage());
  return stages;
}

TEST(PlanCompile, AJobThatCompilesDoesSoBetweenLinkAndValidateAndNotForHoldouts) {
  v1::JobSpec spec = JobWithHoldout();
  spec.mutable_compile()->add_targets("cuda:90");
  PlanRunner run(spec);
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::Action& compile = run.actions["compile 0.1"];
  EXPECT_THAT(InputNames(compile), ElementsAre("kernels"));
  EXPECT_TRUE(
      cas::SameDigest(compile.inputs(0).digest(), run.results["link 0.0"].outputs(1).digest()));
  const v1::CompileParams& params = compile.params().compile();
  EXPECT_THAT(params.targets(), ElementsAre("cuda:90"));
  EXPECT_EQ(params.max_seconds(), 180);
  ASSERT_EQ(static_cast<size_t>(params.toolchains_size()), toolchains::PinnedToolchains().size());
  EXPECT_FALSE(params.toolchains(0).version().empty()) << "the toolchain is an input";
  const v1::Action& validate = run.actions["validate 0.1"];
  EXPECT_THAT(InputNames(validate), ElementsAre("kernels", "files", "tree", "compiled"));
  EXPECT_TRUE(
      cas::SameDigest(validate.inputs(3).digest(), run.results["compile 0.1"].outputs(0).digest()));
  EXPECT_EQ(run.seen.count("compile 1.0"), 0u) << "a holdout";
  const v1::Action& manifest = run.actions["manifest 0.0"];
  EXPECT_THAT(GetStages(manifest), ::testing::Contains("compile"));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
      manifest.params().manifest().compile(), params));
  EXPECT_EQ(manifest.params().manifest().sources(0).ir_size(), 0) << "nothing is kept";
}

TEST(PlanCompile, AJobThatDoesNotCompileHasTheActionsOfOldAndWhatDoesNotDependOnItTheSameKeys) {
  PlanRunner plain(JobWithHoldout());
  plain.RunAll();
  EXPECT_EQ(plain.seen.count("compile 0.0"), 0u);
  EXPECT_THAT(InputNames(plain.actions["validate 0.0"]), ElementsAre("kernels", "files", "tree"));
  EXPECT_FALSE(plain.actions["manifest 0.0"].params().manifest().has_compile());
  EXPECT_THAT(GetStages(plain.actions["manifest 0.0"]),
              ::testing::Not(::testing::Contains("compile")));
  v1::JobSpec spec = JobWithHoldout();
  spec.mutable_compile();
  PlanRunner run(spec);
  run.RunAll();
  for (const char* task : {"fetch 0.0", "extract 0.1", "link 0.0", "sign 0.0", "pair 0.0"}) {
    EXPECT_EQ(cas::SerializeDeterministically(run.actions[task]),
              cas::SerializeDeterministically(plain.actions[task]))
        << task;
  }
}

TEST(PlanCompile, KeptFormsGoIntoTheManifestByShard) {
  v1::JobSpec spec = JobWithHoldout();
  spec.mutable_compile()->add_keep("ttir");
  spec.mutable_compile()->add_keep("ptx");
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(spec);
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

TEST(PlanCompile, AShardThatCannotBeCompiledIsLeftOutAndTheJobGoesOn) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_compile()->add_keep("ttir");
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(spec);
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

v1::JobSpec CompilingJob() {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_compile()->add_targets("cuda:90");
  spec.mutable_compile()->add_keep("ttir");
  return spec;
}

TEST(PlanCompile, PartsThatAreCompiledAreValidatedInTheOrderOfTheirKernels) {
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(CompilingJob());
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

TEST(PlanCompile, APartThatCannotBeCompiledLosesItsShardOnce) {
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(CompilingJob());
    run.splits = {"compile 0.1"};
    run.fails["compile 0.1/2"] = absl::InternalError("no report");
    run.RunAll(seed);
    EXPECT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_EQ(run.seen.count("validate 0.1"), 0u);
    EXPECT_EQ(run.actions["manifest 0.0"].params().manifest().sources(0).failed_files(), 10);
    ASSERT_EQ(run.Status().failures_size(), 1);
  }
}

// A source of two shards with a history, whose versions are kernels of two more.
v1::JobSpec JobWithHistory() {
  v1::JobSpec spec = CompilingJob();
  spec.mutable_sources(0)->mutable_history()->set_depth(5);
  return spec;
}

// Returns the digests of a manifest's inputs of that name.
std::vector<std::string> GetHashes(const v1::Action& action, const std::string& name) {
  std::vector<std::string> hashes;
  for (const v1::NamedDigest& input : action.inputs()) {
    if (input.name() == name) hashes.push_back(input.digest().hash());
  }
  return hashes;
}

TEST(PlanCompile, TheKernelsOfAHistoryAreCompiledAsFurtherShardsWithoutKeepingForms) {
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(JobWithHistory());
    run.RunAll(seed);
    ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    const v1::StageResult& history = run.results["history 0.0"];
    const v1::CompileParams& asked = run.actions["history 0.0"].params().compile();
    EXPECT_GT(asked.toolchains_size(), 0);
    EXPECT_THAT(asked.targets(), ElementsAre("cuda:90"));
    EXPECT_EQ(asked.keep_size() + asked.max_seconds(), 0) << "another form is no other history";
    const v1::Action& compile = run.actions["compile 0.3"];
    ASSERT_THAT(InputNames(compile), ElementsAre("kernels"));
    EXPECT_TRUE(cas::SameDigest(compile.inputs(0).digest(), history.outputs(2).digest()));
    EXPECT_THAT(compile.params().compile().targets(), ElementsAre("cuda:90"));
    EXPECT_THAT(compile.params().compile().keep(), IsEmpty());
    EXPECT_EQ(run.actions["compile 0.1"].params().compile().keep_size(), 1);
    EXPECT_EQ(run.seen.count("compile 0.4"), 0u);
    for (const char* stage : {"validate 0.2", "sign 0.2"}) EXPECT_EQ(run.seen.count(stage), 0u);
    const v1::Action& manifest = run.actions["manifest 0.0"];
    const v1::ManifestSourceParams& source = manifest.params().manifest().sources(0);
    EXPECT_THAT(source.version_parts(), ElementsAre(1, 1));
    EXPECT_THAT(source.ir(), ElementsAre(1, 1));
    EXPECT_THAT(
        GetHashes(manifest, "version_kernels"),
        ElementsAre(history.outputs(1).digest().hash(), history.outputs(2).digest().hash()));
    EXPECT_THAT(GetHashes(manifest, "version_compiled"),
                ElementsAre(run.results["compile 0.2"].outputs(0).digest().hash(),
                            run.results["compile 0.3"].outputs(0).digest().hash()));
  }
}

TEST(PlanCompile, AJobThatDoesNotCompileNamesNoKernelsOfItsHistory) {
  v1::JobSpec spec = JobWithHistory();
  spec.clear_compile();
  PlanRunner run(spec);
  run.RunAll();
  ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
  const v1::Action& manifest = run.actions["manifest 0.0"];
  EXPECT_EQ(manifest.params().manifest().sources(0).changes(), 1);
  EXPECT_FALSE(run.actions["history 0.0"].has_params());
  EXPECT_THAT(manifest.params().manifest().sources(0).version_parts(), IsEmpty());
  EXPECT_THAT(GetHashes(manifest, "version_kernels"), IsEmpty());
}

TEST(PlanCompile, AShardOfAHistoryIsCompiledInPartsOrCostsItsResultsAlone) {
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(JobWithHistory());
    run.splits = {"compile 0.2", "compile 0.2/3"};
    run.fails["compile 0.3"] = absl::AbortedError("its worker ended");
    run.RunAll(seed);
    ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    const v1::Action& manifest = run.actions["manifest 0.0"];
    const v1::ManifestSourceParams& source = manifest.params().manifest().sources(0);
    EXPECT_THAT(source.version_parts(), ElementsAre(2, 0));
    EXPECT_EQ(source.failed_files(), 0);
    EXPECT_EQ(source.shards(), 2);
    const std::string last = absl::StrCat("compile 0.2/", 3 + kQuarantined);
    EXPECT_EQ(run.actions[last].params().compile().quarantine_reason(), "crash");
    EXPECT_THAT(GetHashes(manifest, "version_compiled"),
                ElementsAre(run.results["compile 0.2/2"].outputs(0).digest().hash(),
                            run.results[last].outputs(0).digest().hash()));
    ASSERT_EQ(run.Status().failures_size(), 2) << "the quarantined kernel and the lost shard";
    EXPECT_EQ(run.Status().failures(1).files(), 0);
  }
}

TEST(PlanCompile, APartOfAHistorysShardThatFailsCostsTheShardsResults) {
  for (int seed = 0; seed < 5; ++seed) {
    PlanRunner run(JobWithHistory());
    run.splits = {"compile 0.2"};
    run.fails["compile 0.2/2"] = absl::InternalError("no report");
    run.RunAll(seed);
    ASSERT_EQ(run.plan.state(), v1::JOB_STATE_DONE);
    EXPECT_THAT(run.actions["manifest 0.0"].params().manifest().sources(0).version_parts(),
                ElementsAre(0, 1));
  }
}

}  // namespace
}  // namespace kernelmill::coordinator
