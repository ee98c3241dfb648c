#include "dataset/analysis/compile_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "dataset/analysis/analysis.h"

namespace kernelmill::dataset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::CompileResult& AddResult(v1::CompileStatus status, v1::Verdict* verdict) {
  v1::CompileResult& result = *verdict->mutable_compiled()->add_results();
  result.set_toolchain("new");
  result.set_target("cuda:90");
  result.set_status(status);
  return result;
}

v1::Verdict MakeVerdict(v1::RuleResult::Outcome compiles) {
  v1::Verdict verdict;
  v1::RuleResult& rule = *verdict.add_rules();
  rule.set_rule("compiles");
  rule.set_outcome(compiles);
  return verdict;
}

v1::Verdict Compiles() {
  v1::Verdict verdict = MakeVerdict(v1::RuleResult::OUTCOME_PASS);
  AddResult(v1::COMPILE_STATUS_OK, &verdict);
  return verdict;
}

v1::Verdict Fails() {
  v1::Verdict verdict = MakeVerdict(v1::RuleResult::OUTCOME_FAIL);
  AddResult(v1::COMPILE_STATUS_ERROR, &verdict).set_stage("frontend");
  return verdict;
}

v1::Verdict Unknown(const std::string& missing) {
  v1::Verdict verdict = MakeVerdict(v1::RuleResult::OUTCOME_EXEMPT);
  AddResult(v1::COMPILE_STATUS_UNKNOWN, &verdict).set_missing(missing);
  return verdict;
}

v1::Verdict Untried() {
  v1::Verdict verdict = MakeVerdict(v1::RuleResult::OUTCOME_EXEMPT);
  verdict.mutable_compiled()->set_not_attempted("dsl:cuda");
  return verdict;
}

TEST(CompileCounts, EveryKernelCountsOnceAndEveryResultByWhatBecameOfIt) {
  CompileCounts counts;
  for (const v1::Verdict& verdict :
       {Compiles(), Fails(), Unknown("type:x_ptr"), Unknown("type:y_ptr"), Unknown("import:device"),
        Untried(), v1::Verdict()}) {
    AddCompiled(verdict, &counts);
  }
  EXPECT_EQ(CompileCountsJson(counts), Json::parse(R"({
    "compiles": 1, "fails": 1, "unknown": 3,
    "not_attempted": [{"name": "dsl:cuda", "count": 1}],
    "targets": [{"toolchain": "new", "target": "cuda:90", "ok": 1, "error": 1, "unknown": 3,
                 "errors": [{"name": "frontend", "count": 1}],
                 "missing": [{"name": "import:device", "count": 1},
                             {"name": "type", "count": 2}]}]})"));
}

TEST(CompileCounts, SumsAreThoseOfAll) {
  CompileCounts all, first, second;
  for (const v1::Verdict& verdict : {Compiles(), Fails()}) AddCompiled(verdict, &first);
  for (const v1::Verdict& verdict : {Fails(), Unknown("type:x"), Untried()}) {
    AddCompiled(verdict, &second);
  }
  for (const v1::Verdict& verdict : {Compiles(), Fails(), Fails(), Unknown("type:x"), Untried()}) {
    AddCompiled(verdict, &all);
  }
  AddTo(second, first);
  EXPECT_EQ(CompileCountsJson(first), CompileCountsJson(all));
}

TEST(CompileCounts, TheAnalysisHasThemByRepositoryAndOfAJobThatCompilesAlone) {
  v1::Kernel kernel;
  v1::Decision kept;
  kept.set_fate(v1::FATE_KEPT);
  v1::Decision rejected;
  rejected.set_fate(v1::FATE_REJECTED);
  Analysis none;
  none.AddKernel({"a", "c", 1}, kernel, v1::Verdict(), kept);
  EXPECT_EQ(AnalysisJson("n", "d", none)["compile"], nullptr);
  EXPECT_THAT(AnalysisMarkdown(AnalysisJson("n", "d", none)), Not(HasSubstr("Compilers")));

  Analysis analysis, more;
  analysis.AddKernel({"a", "c", 1}, kernel, Compiles(), kept);
  analysis.AddKernel({"a", "c", 1}, kernel, Fails(), rejected);
  more.AddKernel({"b|c", "c", 1}, kernel, Unknown("type:x"), kept);
  analysis.Add(more);
  const Json json = AnalysisJson("n", "d", analysis);
  EXPECT_EQ(json["compile"]["found"]["fails"], 1);
  EXPECT_EQ(json["compile"]["kept"]["fails"], 0);
  EXPECT_EQ(json["compile"]["by_repository"][1]["found"]["unknown"], 1);
  const std::string page = AnalysisMarkdown(json);
  EXPECT_THAT(page, HasSubstr("| new, cuda:90 | 1 | 1 | 1 | 33.3 % | 50.0 % |"));
  EXPECT_THAT(page, HasSubstr("| error: frontend | 1 |"));
  EXPECT_THAT(page, HasSubstr("| a | 1 | 1 | 0 | 0 | 1 |"));
}

}  // namespace
}  // namespace kernelmill::dataset
