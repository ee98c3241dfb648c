#include "dataset/analysis/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/dsl/names.h"

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

TEST(CompileCounts, TheAnalysisHasThemByLanguageAndRepositoryOfAJobThatCompiles) {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
  v1::Kernel cuda;
  cuda.set_dsl(dsl::kCuda);
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
  more.AddKernel({"b|c", "c", 1}, cuda, Unknown("template:T"), kept);
  more.AddKernel({"b|c", "c", 1}, cuda, Untried(), kept);
  more.AddKernel({"b|c", "c", 1}, cuda, Untried(), kept);
  analysis.Add(more);
  const Json json = AnalysisJson("n", "d", analysis);
  EXPECT_EQ(json["compile"]["found"]["fails"], 1);
  EXPECT_EQ(json["compile"]["kept"]["fails"], 0);
  EXPECT_EQ(json["compile"]["by_language"][0]["name"], "cuda");
  EXPECT_EQ(json["compile"]["by_language"][0]["kept"]["unknown"], 1);
  EXPECT_EQ(json["compile"]["by_repository"][1]["found"]["unknown"], 2);
  const std::string page = AnalysisMarkdown(json);
  EXPECT_THAT(page, HasSubstr("| new, cuda:90 | 1 | 1 | 2 | 25.0 % | 50.0 % |"));
  EXPECT_THAT(page, HasSubstr("| error: frontend | 1 |"));
  EXPECT_THAT(page, HasSubstr("| a | 1 | 1 | 0 | 0 | 1 |"));
  EXPECT_THAT(page, HasSubstr("| cuda | 3 | 1 | 0 | 0 | 1 | "
                              "not tried: dsl:cuda 2, unknown: template 1 |"));
  EXPECT_THAT(page, HasSubstr("| triton | 2 | 2 | 1 | 0 | 1 | unknown: type 1 |"));
}

}  // namespace

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::Kernel MakeKernel(int lines, const std::string& tag = "") {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_first_line(11);
  kernel.set_last_line(10 + lines);
  kernel.set_source(std::string(static_cast<size_t>(lines) * 10, 'x'));
  if (!tag.empty()) kernel.add_tags()->set_name(tag);
  return kernel;
}

v1::Verdict MakeVerdict(int tokens, const std::string& license, const std::string& evidence,
                        v1::RuleResult::Outcome masks = v1::RuleResult::OUTCOME_PASS) {
  v1::Verdict verdict;
  verdict.mutable_source_tokens()->set_cl100k_base(tokens);
  verdict.mutable_license()->set_expression(license);
  verdict.mutable_license()->set_evidence(evidence);
  v1::RuleResult* rule = verdict.add_rules();
  rule->set_rule("has_bounds_masking");
  rule->set_outcome(masks);
  return verdict;
}

v1::Decision MakeDecision(v1::Fate fate, const std::string& reason = "") {
  v1::Decision decision;
  decision.set_fate(fate);
  decision.set_reason(reason);
  return decision;
}

Analysis Small() {
  const Analysis::Origin a = {"https://example.org/a", "tutorials", 1};
  const Analysis::Origin b = {"https://example.org/b|c", "train_ing", 2};
  Analysis analysis;
  analysis.AddKernel(a, MakeKernel(10, "matmul"), MakeVerdict(100, "MIT", "file:LICENSE"),
                     MakeDecision(v1::FATE_KEPT));
  analysis.AddKernel(a, MakeKernel(20), MakeVerdict(300, "MIT", "spdx-tag+file:LICENSE"),
                     MakeDecision(v1::FATE_KEPT));
  analysis.AddKernel(a, MakeKernel(5, "matmul"),
                     MakeVerdict(50, "NOASSERTION", "", v1::RuleResult::OUTCOME_FAIL),
                     MakeDecision(v1::FATE_REJECTED, "license:NOASSERTION"));
  analysis.AddKernel(b, MakeKernel(7),
                     MakeVerdict(70, "MIT", "metadata", v1::RuleResult::OUTCOME_EXEMPT),
                     MakeDecision(v1::FATE_DUPLICATE, "near"));
  analysis.AddFile(a, 400, 9000);
  analysis.AddCluster(2);
  analysis.AddCluster(1);
  return analysis;
}

Json Of(const Json& list, const std::string& name) {
  for (const Json& entry : list) {
    if (entry["name"] == name) return entry;
  }
  return nullptr;
}

TEST(Analysis, CountsFoundKeptLinesBytesAndTokens) {
  const Json json = AnalysisJson("n", "abc/1", Small());
  EXPECT_EQ(Canonical(json["kernels"]),
            R"({"found":4,"kept":2,"lines":30,"name":"all","share_of_kept":1.0,"size_bytes":300,)"
            R"("tokens":400})");
  EXPECT_EQ(Of(json["by"]["repository"], "https://example.org/a")["found"], 3);
  EXPECT_EQ(Of(json["by"]["repository"], "https://example.org/b|c")["kept"], 0);
  EXPECT_EQ(Of(json["by"]["tag"], "matmul")["found"], 2);
  EXPECT_EQ(Of(json["by"]["tag"], "(none)")["kept"], 1);
  EXPECT_EQ(Of(json["by"]["source_tier"], "2")["found"], 1);
}

TEST(Analysis, EveryDimensionOfOneWordAKernelAddsUpToAll) {
  const Json json = AnalysisJson("n", "abc/1", Small());
  for (const std::string& dimension : AnalysisDimensions()) {
    if (dimension == "tag" || dimension == "feature") continue;
    int64_t found = 0, tokens = 0;
    for (const Json& tally : json["by"][dimension]) {
      found += tally["found"].get<int64_t>();
      tokens += tally["tokens"].get<int64_t>();
    }
    EXPECT_EQ(found, 4) << dimension;
    EXPECT_EQ(tokens, 400) << dimension;
  }
}

TEST(Analysis, AShareOfAChecksIsOfTheKernelsThatItCanBeAskedOf) {
  const Json check = Of(AnalysisJson("n", "abc/1", Small())["checks"], "has_bounds_masking");
  EXPECT_EQ(Canonical(check["found"]),
            R"({"exempt":1,"fail":1,"pass":2,"share":0.6666666666666666})");
  EXPECT_EQ(Canonical(check["kept"]), R"({"exempt":0,"fail":0,"pass":2,"share":1.0})");
}

TEST(Analysis, ALicenceGoesByWhatIsNearestToTheKernel) {
  const auto basis = [](const std::string& expression, const std::string& evidence) {
    v1::License license;
    license.set_expression(expression);
    license.set_evidence(evidence);
    return LicenseBasis(license);
  };
  EXPECT_EQ(basis("MIT", "file:LICENSE+spdx-tag"), "header");
  EXPECT_EQ(basis("MIT", "annotation:REUSE.toml"), "header");
  EXPECT_EQ(basis("MIT", "metadata:pyproject.toml+file:LICENSE"), "file");
  EXPECT_EQ(basis("MIT", "metadata"), "metadata");
  EXPECT_EQ(basis("MIT", "job"), "job");
  EXPECT_EQ(basis("NOASSERTION", "header"), "unknown");
}

TEST(Analysis, SizesHaveQuantilesAndPowersOfTwo) {
  const Json sizes = AnalysisJson("n", "abc/1", Small())["sizes"]["tokens"];
  EXPECT_EQ(sizes["quantiles"].front()["value"], 100);
  EXPECT_EQ(sizes["quantiles"].back()["value"], 300);
  EXPECT_EQ(Canonical(sizes["histogram"]),
            R"([{"below":128,"from":64,"kernels":1},{"below":256,"from":128,"kernels":0},)"
            R"({"below":512,"from":256,"kernels":1}])");
}

TEST(Analysis, ThePageHasTheNumbersAndMarks) {
  const std::string page = AnalysisMarkdown(AnalysisJson("a*b", "abc/1", Small()));
  EXPECT_THAT(page, HasSubstr("# a\\*b: what is in it"));
  EXPECT_THAT(page, HasSubstr("4 kernels were found, 2 kept: 30 lines, 400 tokens"));
  EXPECT_THAT(
      page, HasSubstr("| has\\_bounds\\_masking | ~ | 2 of 3, 66.7 % | ✓ | 2 of 2, 100.0 % | 0 |"));
  EXPECT_THAT(page, HasSubstr("| https&#58;//example.org/b\\|c | 1 | 0 | 0.0 % | 0 | 0 |"));
  EXPECT_THAT(page, HasSubstr("| duplicate | near | 1 | 25.0 % |"));
  EXPECT_THAT(page, HasSubstr("| tutorials | 1 of 1 | 1 of 1 | 0 of 0 | 0 of 0 | 0 of 1 |"));
}

TEST(Analysis, NothingIsCountedOfNothing) {
  const Json json = AnalysisJson("n", "abc/1", Analysis());
  EXPECT_TRUE(json["sizes"]["tokens"]["quantiles"].empty());
  EXPECT_THAT(AnalysisMarkdown(json), Not(HasSubstr("##")));
}

}  // namespace

}  // namespace kernelmill::dataset
