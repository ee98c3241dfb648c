#include "client/evaluate/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/evaluate/answer_code.h"
#include "client/evaluate/evaluation_report.h"
#include "client/evaluate/fake_kernel_services.h"
#include "client/evaluate/generations.h"
#include "client/evaluate/summary.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Task MakeTask(const std::string& id, const std::vector<std::string>& texts) {
  Task task;
  task.id = id;
  for (const std::string& text : texts) task.samples.push_back({text, text, text});
  return task;
}

class EvaluationTest : public ::testing::Test {
 protected:
  EvaluationTest() {
    options_.compile.emplace();
    options_.compile->add_toolchains("old");
    options_.compile->add_targets("cuda:90");
    services_.compiles["bad"].set_status(v1::COMPILE_STATUS_ERROR);
    services_.compiles["vague"].set_status(v1::COMPILE_STATUS_UNKNOWN);
  }

  EvaluatedModel Run(std::vector<Task> tasks) {
    Generations generations;
    generations.tasks = std::move(tasks);
    return Evaluate(std::move(generations), options_, services_).value();
  }

  static const MeasureSummary& Find(const std::vector<MeasureSummary>& all,
                                    const Measure& measure) {
    const auto at = absl::c_find_if(
        all, [&](const MeasureSummary& summary) { return summary.measure == measure; });
    EXPECT_TRUE(at != all.end()) << measure.group << " " << measure.name;
    return *at;
  }

  FakeKernelServices services_;
  EvaluationOptions options_;
};

TEST_F(EvaluationTest, MeansAreOverTasks) {
  const EvaluatedModel model = Run({MakeTask("a", {"@jit k mask"}),
                                    MakeTask("b", {"@jit k", "@jit k", "@jit k mask", "nothing"})});
  const std::vector<MeasureSummary> all = Summarize(model, {});
  const MeasureSummary& masked = Find(all, {kStatic, "has_bounds_masking"});
  EXPECT_EQ(masked.mean, (1 + 0.25) / 2);
  EXPECT_EQ(masked.tasks, 2);
  EXPECT_EQ(masked.samples, 5);
  EXPECT_EQ(masked.distribution.mean, 0.4);
  // A text without loads has no measure.
  EXPECT_EQ(Find(all, {kStatic, "masked_accesses"}).samples, 4);
  EXPECT_EQ(Find(all, {kStatic, "has_kernel"}).distribution.mean, 0.8);
}

TEST_F(EvaluationTest, WhatHoldsNoKernelParsesOnlyIfItIsCode) {
  const EvaluatedModel model = Run({MakeTask("a", {"x = 1", "(((", ""})});
  std::vector<double> parses;
  std::vector<std::string> why;
  for (const SampleResult& sample : model.results[0]) {
    parses.push_back(sample.values.at({kStatic, "parses"}));
    why.push_back(sample.compiles[0].message);
  }
  EXPECT_THAT(parses, ElementsAre(1, 0, 0));
  EXPECT_THAT(why, ElementsAre("no kernel in it", "it does not parse", "there is no code"));
}

TEST_F(EvaluationTest, PassAtKLeavesOutWhatIsUnknown) {
  const EvaluatedModel model =
      Run({MakeTask("a", {"@jit k", "@jit bad", "@jit vague", "@jit vague"}),
           MakeTask("b", {"@jit bad"})});
  const std::vector<MeasureSummary> all = Summarize(model, {1, 2, 10});
  EXPECT_EQ(Find(all, {"pass@1", "old cuda:90"}).mean, 0.25);          // 1/2 and 0
  EXPECT_EQ(Find(all, {"pass@1 of all", "old cuda:90"}).mean, 0.125);  // 1/4 and 0
  EXPECT_EQ(Find(all, {"pass@2", "old cuda:90"}).mean, 1);             // of the task with two
  EXPECT_EQ(Find(all, {"pass@2", "old cuda:90"}).tasks, 1);
  EXPECT_EQ(Find(all, {"pass@2 of all", "old cuda:90"}).mean, 0.5);
  EXPECT_FALSE(absl::c_any_of(
      all, [](const MeasureSummary& summary) { return summary.measure.group == "pass@10"; }));
}

// The fake services find kernels that Triton does not launch: names are checked, launches are not.
TEST_F(EvaluationTest, PassAtKIsAlsoOverSamplesThatAreHonest) {
  const EvaluatedModel model = Run({MakeTask(
      "a", {"# @jit k\n", "# @jit k\ncount\n", "# @jit bad\n", "# @jit vague\ncount\n"})});
  const std::vector<MeasureSummary> all = Summarize(model, {1});
  EXPECT_EQ(Find(all, {kHonesty, "honest"}).mean, 0.5);
  EXPECT_EQ(Find(all, {kHonesty, "names_bound"}).mean, 0.5);
  EXPECT_EQ(Find(all, {"pass@1", "old cuda:90"}).mean, 2.0 / 3);      // one is unknown
  EXPECT_EQ(Find(all, {"pass@1 honest", "old cuda:90"}).mean, 0.25);  // it is not honest: decided
  EXPECT_EQ(Find(all, {"pass@1 honest of all", "old cuda:90"}).mean, 0.25);
  EXPECT_EQ(model.results[0][1].findings.at(0).reason, "count is not defined");
  EXPECT_EQ(model.results[0][1].findings.at(0).line, 2);
}

TEST_F(EvaluationTest, OverlapIsWithTheReference) {
  Task same = MakeTask("a", {" x = 1\n"});
  same.reference = "x = 1";
  const EvaluatedModel model = Run({same, MakeTask("b", {"x"})});
  const auto& values = model.results[0][0].values;
  EXPECT_EQ(values.at({kOverlap, "exact_match"}), 1);
  EXPECT_EQ(values.at({kOverlap, "edit_similarity"}), 1);
  EXPECT_EQ(values.at({kOverlap, "token_overlap"}), 0.25);
  EXPECT_EQ(values.at({kOverlap, "structural_overlap"}), 0.5);
  EXPECT_FALSE(model.results[1][0].values.contains({kOverlap, "exact_match"}));
}

TEST_F(EvaluationTest, AContinuationIsComparedWithAWholeReferenceAsAWhole) {
  Task task;
  task.prompt = "def f():\n";
  const std::string code = "    return 1\n";
  task.samples.push_back({code, code, WholeText(task.prompt, code)});
  task.reference = "def f():\n    return 1\n";
  EXPECT_EQ(Run({task}).results[0][0].values.at({kOverlap, "exact_match"}), 1);
  task.reference = code;
  EXPECT_EQ(Run({task}).results[0][0].values.at({kOverlap, "exact_match"}), 1);
}

TEST_F(EvaluationTest, MemorisedTextIsTheBestMatchOfAKernelOrTheText) {
  options_.dataset = true;
  services_.dataset["@jit k"] = {"near", 0.8, "repo", "a.py", 3, "k"};
  services_.dataset["plain"] = {"structural", 0.7, "repo", "b.py", 1, "f"};
  Task first = MakeTask("a", {"@jit k", "plain", "@jit new", "@jit k"});
  first.reference = "@jit k";
  const EvaluatedModel model = Run({first, MakeTask("b", {""})});
  EXPECT_EQ(model.results[0][0].match->path, "a.py");
  EXPECT_EQ(model.results[0][0].values.at({kMemorised, "near"}), 1);
  EXPECT_EQ(model.results[0][0].values.at({kMemorised, "exact"}), 0);
  EXPECT_EQ(model.results[0][1].values.at({kMemorised, "structural"}), 1);
  EXPECT_EQ(model.results[0][2].values.at({kMemorised, "any"}), 0);
  EXPECT_EQ(model.results[1][0].values.at({kMemorised, "similarity"}), 0);
  EXPECT_TRUE(model.references[0].has_value());
  EXPECT_FALSE(model.references[1].has_value());
  EXPECT_EQ(services_.searched.size(), 3u);  // each once
}

TEST_F(EvaluationTest, ManySamplesAreReadInSeveralCalls) {
  std::vector<Task> tasks;
  for (int i = 0; i < 600; ++i)
    tasks.push_back(MakeTask(std::to_string(i), {i % 3 == 0 ? "@jit k" : "x"}));
  const EvaluatedModel model = Run(tasks);
  EXPECT_EQ(services_.extract_calls, 3);
  for (size_t i = 0; i < 600; ++i) {
    EXPECT_EQ(model.results[i][0].values.at({kStatic, "has_kernel"}), i % 3 == 0 ? 1 : 0);
  }
}

TEST_F(EvaluationTest, SamplesWhoseKernelsAreTooLargeForOneAnswerAreReadInHalves) {
  std::vector<Task> tasks;
  for (int i = 0; i < 7; ++i) tasks.push_back(MakeTask(std::to_string(i), {"@jit k"}));
  services_.most_files = 2;
  const EvaluatedModel model = Run(tasks);
  for (const std::vector<SampleResult>& samples : model.results) {
    EXPECT_EQ(samples[0].values.at({kStatic, "has_kernel"}), 1);
  }
}

TEST_F(EvaluationTest, ModelsAreComparedOnTheTasksThatBothHave) {
  std::vector<Task> base;
  std::vector<Task> tuned;
  for (int i = 0; i < 30; ++i) {
    base.push_back(MakeTask(std::to_string(i), {"x"}));
    tuned.push_back(MakeTask(std::to_string(29 - i), {"@jit k"}));
  }
  base.push_back(MakeTask("base", {"@jit k"}));
  tuned.push_back(MakeTask("tuned", {"x"}));
  EvaluationReport report;
  report.model = Run(tuned);
  report.baseline = Run(base);
  report.summary = Summarize(report.model, {1});
  report.baseline_summary = Summarize(*report.baseline, {1});
  report.comparison =
      CompareModels(*report.baseline, report.baseline_summary, report.model, report.summary, 1);
  EXPECT_EQ(report.comparison->common_tasks, 30u);
  EXPECT_EQ(report.comparison->base_only, 1u);
  for (const MeasureDifference& entry : report.comparison->differences) {
    if (entry.measure.name != "has_kernel" && entry.measure.name != "parses") continue;
    const bool same = entry.measure.name == "parses";
    EXPECT_EQ(entry.base, same ? 1 : 0);
    EXPECT_EQ(entry.difference.difference, same ? 0 : 1);
    EXPECT_EQ(entry.difference.excludes_zero(), !same);
  }
  EXPECT_THAT(ReportPage(report), HasSubstr("| static | has\\_kernel | 0.000 | 1.000 | +1.000 |"));
  const auto json = nlohmann::json::parse(ReportJson(report));
  EXPECT_EQ(json["comparison"]["baseline_only"], 1);
  const std::vector<std::string> lines =
      absl::StrSplit(SamplesJson(report), '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.size(), 62u);
}

TEST_F(EvaluationTest, ADifferenceOfOneTaskIsNotMarked) {
  EvaluationReport report;
  report.model = Run({MakeTask("a", {"@jit k"})});
  report.baseline = Run({MakeTask("a", {"x"})});
  report.summary = Summarize(report.model, {1});
  report.baseline_summary = Summarize(*report.baseline, {1});
  report.comparison =
      CompareModels(*report.baseline, report.baseline_summary, report.model, report.summary, 1);
  const std::string page = ReportPage(report);
  EXPECT_THAT(page, HasSubstr("| static | has\\_kernel | 0.000 | 1.000 | +1.000 |  |  | 1 |"));
  EXPECT_THAT(page, HasSubstr(", 1 task, 1 sample, 0 references\n"));
  EXPECT_THAT(ReportJson(report), Not(HasSubstr("\"excludes_zero\": true")));
  EXPECT_THAT(ReportJson(report), Not(HasSubstr("\"excludes_zero\":true")));
}

TEST_F(EvaluationTest, PagesSayWhyMostSamplesDoNotCompile) {
  services_.compiles["bad"].set_stage("frontend");
  services_.compiles["bad"].set_message("wrong");
  services_.compiles["other"] = services_.compiles["bad"];
  options_.compile->add_toolchains("new");
  EvaluationReport report;
  report.compile = options_.compile;
  report.model = Run({MakeTask("a", {"@jit bad", "@jit other", "@jit k"}), MakeTask("b", {"x"})});
  report.summary = Summarize(report.model, {1});
  const std::string page = ReportPage(report);
  EXPECT_THAT(page, HasSubstr("| error | frontend: wrong | 2 |")) << "two samples, two toolchains";
  EXPECT_THAT(page, HasSubstr("| error | no kernel in it | 1 |"));
}

TEST_F(EvaluationTest, PagesSayWhenNothingWasCompiled) {
  options_.compile.reset();
  EvaluationReport report;
  report.model = Run({MakeTask("a|b", {"@jit k"})});
  report.summary = Summarize(report.model, {1});
  EXPECT_THAT(ReportPage(report), HasSubstr("Nothing was compiled"));
  EXPECT_TRUE(nlohmann::json::parse(ReportJson(report))["compile"].is_null());
}

v1::CompileResult MakeResult(v1::CompileStatus status, const char* stage, const char* message) {
  v1::CompileResult result;
  result.set_status(status);
  result.set_stage(stage);
  result.set_message(message);
  return result;
}

class CompileCheckTest : public ::testing::Test {
 protected:
  CompileCheckTest() {
    policy_.add_toolchains("old");
    policy_.add_targets("cuda:90");
    services_.compiles["bad"] = MakeResult(v1::COMPILE_STATUS_ERROR, "frontend", "no such type");
    services_.compiles["vague"] = MakeResult(v1::COMPILE_STATUS_UNKNOWN, "frontend", "no pointer");
    services_.compiles["vague"].set_missing("type:x");
    services_.compiles["lonely"] = MakeResult(v1::COMPILE_STATUS_ERROR, "import",
                                              "ModuleNotFoundError: No module named 'einops'");
  }

  // Returns the outcome of each text, compiled by itself.
  std::vector<SampleResult> Compile(const std::vector<std::string>& texts) {
    std::vector<SampleResult> results(texts.size());
    std::vector<SampleResult*> places;
    for (SampleResult& result : results) places.push_back(&result);
    const auto kernels = CheckSamples(texts, services_, places);
    EXPECT_THAT(CompileSamples(kernels.value(), policy_, services_, places), IsOk());
    return results;
  }

  v1::CompileStatus GetStatus(const std::string& text) {
    return Compile({text})[0].compiles.at(0).status;
  }

  FakeKernelServices services_;
  v1::CompilePolicy policy_;
};

TEST_F(CompileCheckTest, UnknownIsNotFailed) {
  const std::vector<SampleResult> results = Compile({"@jit good", "@jit bad", "@jit vague"});
  const Measure all{kCompile, "old cuda:90"};
  const Measure decided{kDecided, "old cuda:90"};
  EXPECT_EQ(results[0].values.at(all), 1);
  EXPECT_EQ(results[0].values.at(decided), 1);
  EXPECT_EQ(results[1].values.at(decided), 0);
  EXPECT_EQ(results[1].compiles[0].message, "bad: frontend: no such type");
  EXPECT_EQ(results[2].values.at(all), 0);
  EXPECT_FALSE(results[2].values.contains(decided));
  EXPECT_EQ(results[2].compiles[0].message,
            "vague: type:x is unknown; with a guess: frontend: no pointer");
}

TEST_F(CompileCheckTest, WhatTheSandboxStoppedIsToldInItsWords) {
  v1::CompileResult stopped =
      MakeResult(v1::COMPILE_STATUS_UNKNOWN, "import", "sandbox: PermissionError");
  stopped.set_missing("sandbox");
  services_.compiles["asks"] = stopped;
  services_.compiles["ends"] = MakeResult(v1::COMPILE_STATUS_UNKNOWN, "", "");
  services_.compiles["ends"].set_missing("crash");
  const std::vector<SampleResult> results = Compile({"@jit asks", "@jit ends"});
  EXPECT_EQ(results[0].compiles[0].message, "asks: import: sandbox: PermissionError");
  EXPECT_EQ(results[1].compiles[0].message, "ends: crash");
}

TEST_F(CompileCheckTest, WhatHasNoKernelOrDoesNotParseIsAnErrorWithoutATry) {
  EXPECT_EQ(GetStatus("x = 1"), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(GetStatus("@jit good ((("), v1::COMPILE_STATUS_ERROR);
  EXPECT_TRUE(services_.compiled.empty());
}

TEST_F(CompileCheckTest, AMissingPackageSaysNothing) {
  EXPECT_EQ(GetStatus("@jit lonely"), v1::COMPILE_STATUS_UNKNOWN);
  services_.unresolved["einops"] = "package_import";
  EXPECT_EQ(GetStatus("@jit good einops"), v1::COMPILE_STATUS_UNKNOWN);
}

TEST_F(CompileCheckTest, ANameThatNobodyDefinesIsTried) {
  services_.unresolved["ofsets"] = "undefined";
  services_.compiles["typo"] = MakeResult(v1::COMPILE_STATUS_ERROR, "frontend", "NameError");
  EXPECT_EQ(GetStatus("@jit typo ofsets"), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(services_.compiled.size(), 1u);
}

TEST_F(CompileCheckTest, AnyIsTheBestOfAllCompilers) {
  policy_.add_toolchains("new");
  const std::vector<SampleResult> results = Compile({"@jit good", "@jit bad", "@jit vague"});
  EXPECT_EQ(results[0].compiles.size(), 2u);
  EXPECT_EQ(results[0].values.at({kDecided, "any"}), 1);
  EXPECT_EQ(results[1].values.at({kDecided, "any"}), 0);
  EXPECT_FALSE(results[2].values.contains({kDecided, "any"}));
}

TEST_F(CompileCheckTest, ManyKernelsAreCompiledInSeveralCalls) {
  std::vector<SampleResult> results(700);
  std::vector<v1::KernelShard> shards(700);
  std::vector<SampleResult*> places;
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].values[{kStatic, "parses"}] = 1;
    results[i].values[{kStatic, "has_kernel"}] = 1;
    v1::Kernel* kernel = shards[i].add_kernels();
    kernel->set_dsl(dsl::kTriton);
    kernel->set_name(i % 2 == 0 ? "good" : "bad");
    kernel->set_self_contained(true);
    places.push_back(&results[i]);
  }
  EXPECT_THAT(CompileSamples(shards, policy_, services_, places), IsOk());
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].values.at({kCompile, "old cuda:90"}), i % 2 == 0 ? 1 : 0);
  }
}

RunOutcome MakeRun(Correctness correctness, double speedup = 0) {
  RunOutcome outcome;
  outcome.correctness = correctness;
  outcome.message = correctness == Correctness::kCorrect ? "" : "values differ";
  if (speedup > 0) outcome.speed = RunSpeed{"case", 10, 1, 10 * speedup, 1, speedup};
  return outcome;
}

TEST_F(EvaluationTest, SamplesThatAreCorrectOnTheirCasesPass) {
  options_.run_device = "cpu";
  services_.runs["right"] = MakeRun(Correctness::kCorrect);
  services_.runs["wrong"] = MakeRun(Correctness::kWrong);
  services_.runs["vague"] = MakeRun(Correctness::kUnknown);
  const EvaluatedModel model =
      Run({MakeTask("a", {"right", "wrong", "vague", "vague"}), MakeTask("b", {"no task"})});
  const std::vector<int> ks = {1};
  const std::vector<MeasureSummary> all = Summarize(model, ks);
  EXPECT_EQ(Find(all, {kCorrect, "on cpu"}).mean, 0.25);
  EXPECT_EQ(Find(all, {kCorrectDecided, "on cpu"}).mean, 0.5);
  EXPECT_EQ(Find(all, {"pass@1", "correct on cpu"}).mean, 0.5);
  EXPECT_EQ(Find(all, {"pass@1 of all", "correct on cpu"}).mean, 0.25);
  // None of them has a kernel.
  EXPECT_EQ(Find(all, {"pass@1 honest of all", "correct on cpu"}).mean, 0);
  EXPECT_EQ(Find(all, {kCorrect, "on cpu"}).tasks, 1);
  for (const MeasureSummary& summary : all) EXPECT_NE(summary.measure.group, kFast);
  EvaluationReport report;
  report.model = model;
  report.summary = all;
  report.run_device = "cpu";
  const std::string page = ReportPage(report);
  EXPECT_THAT(page, HasSubstr("| generations | 1 | 1 | 0 | 2 | 1 |"));
  EXPECT_THAT(page, HasSubstr("| wrong | values differ | 1 |"));
  EXPECT_THAT(ReportJson(report), HasSubstr("\"device\": \"cpu\""));
}

TEST_F(EvaluationTest, FastSamplesAreCorrectAndFasterThanP) {
  options_.run_device = "cuda:90";
  services_.runs["slow"] = MakeRun(Correctness::kCorrect, 0.8);
  services_.runs["fast"] = MakeRun(Correctness::kCorrect, 1.6);
  services_.runs["wrong"] = MakeRun(Correctness::kWrong);
  services_.runs["untimed"] = MakeRun(Correctness::kCorrect);
  const EvaluatedModel model = Run({MakeTask("a", {"slow", "fast", "wrong", "wrong", "untimed"})});
  const std::vector<MeasureSummary> all = Summarize(model, {});
  const auto fast = [&](const char* p) {
    return Find(all, {kFast, absl::StrCat("fast_", p, " on cuda:90")}).mean;
  };
  EXPECT_EQ(fast("0"), 0.5);
  EXPECT_EQ(fast("0.5"), 0.5);
  EXPECT_EQ(fast("0.8"), 0.25);
  EXPECT_EQ(fast("1.5"), 0.25);
  EXPECT_EQ(fast("2"), 0);
  EXPECT_EQ(Find(all, {kFastHonest, "fast_0 on cuda:90"}).mean, 0);
}

}  // namespace

}  // namespace kernelmill::client
