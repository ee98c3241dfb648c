#include "dataset/analysis/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::dataset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::Kernel MakeKernel(int lines, const std::string& tag = "") {
  v1::Kernel kernel;
  kernel.set_dsl(v1::DSL_TRITON);
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
  EXPECT_THAT(page, HasSubstr("| https://example.org/b\\|c | 1 | 0 | 0.0 % | 0 | 0 |"));
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
