// Evidence and texts of compilers, from a dataset by hand to its rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "common/base/hash.h"
#include "common/testing/status_matchers.h"
#include "dataset/testing/export_fixture.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kPtx[] = ".version 8.0 // by me@example.org";
constexpr char kOddPtx[] = ".version 8.0 // caf\xe9";

v1::IrText GetText(uint32_t kernel, const std::string& text) {
  v1::IrText ir;
  ir.set_kernel(kernel);
  ir.set_toolchain("triton-3.5.1");
  ir.set_target("cuda:90");
  ir.set_form("ptx");
  ir.set_text(text);
  return ir;
}

// The first source's kernels were compiled; kernels 1 and 3 are kept.
class CompileEvidenceTest : public ExporterTest {
 protected:
  CompileEvidenceTest() {
    manifest_.mutable_compile()->add_toolchains("triton-3.5.1");
    manifest_.mutable_compile()->add_keep("ptx");
    for (int source : {0, 1}) {
      for (int shard = 0; shard < manifest_.sources(source).verdicts_size(); ++shard) {
        Change(source, shard, [](v1::VerdictShard& verdicts) {
          for (v1::Verdict& verdict : *verdicts.mutable_verdicts()) {
            verdict.mutable_compiled()->set_not_attempted("not_self_contained");
            AddRule("compiles", v1::RuleResult::OUTCOME_EXEMPT, &verdict);
            AddRule("imports", v1::RuleResult::OUTCOME_EXEMPT, &verdict);
          }
        });
      }
    }
    Change(0, 0, [](v1::VerdictShard& verdicts) { Compile(kPtx, verdicts.mutable_verdicts(0)); });
    Change(0, 1,
           [](v1::VerdictShard& verdicts) { Compile(kOddPtx, verdicts.mutable_verdicts(0)); });
    SetTexts({GetText(0, kPtx), GetText(1, "of a kernel that is rejected")}, {GetText(0, kOddPtx)});
  }

  template <typename Callback>
  void Change(int source, int shard, Callback callback) {
    cas::Digest& digest = *manifest_.mutable_sources(source)->mutable_verdicts(shard);
    auto verdicts = *cas::GetMessage<v1::VerdictShard>(store_, digest);
    callback(verdicts);
    digest = *cas::PutMessage(store_, verdicts);
  }

  static void AddRule(const std::string& name, v1::RuleResult::Outcome outcome,
                      v1::Verdict* verdict) {
    v1::RuleResult& rule = *verdict->add_rules();
    rule.set_rule(name);
    rule.set_outcome(outcome);
    if (outcome == v1::RuleResult::OUTCOME_EXEMPT) rule.set_reason("not compiled");
  }

  static void Compile(const std::string& ptx, v1::Verdict* verdict) {
    v1::CompiledKernel& compiled = *verdict->mutable_compiled();
    compiled.clear_not_attempted();
    v1::ModuleImport& import = *compiled.add_imports();
    import.set_toolchain("triton-3.5.1");
    import.set_ok(true);
    v1::ModuleImport& failed = *compiled.add_imports();
    failed.set_toolchain("triton-3.9.0");
    failed.set_error("ImportError: no me@example.org");
    failed.set_line(3);
    v1::KernelSignature& signature = *compiled.add_signatures();
    signature.set_attempt(1);
    v1::ArgumentType& argument = *signature.add_arguments();
    argument.set_name("x");
    argument.set_type("*fp32");
    argument.set_rule("usage:math");
    argument.set_divisible_by_16(true);
    v1::ConstexprValue& value = *signature.add_constexprs();
    value.set_name("BLOCK");
    value.set_value("64");
    value.set_rule("default");
    v1::CompileResult& ok = *compiled.add_results();
    ok.set_toolchain("triton-3.5.1");
    ok.set_target("cuda:90");
    ok.set_status(v1::COMPILE_STATUS_OK);
    ok.set_registers(32);
    for (const std::string form : {"ttir", "ptx"}) {
      v1::IrForm& made = *ok.add_forms();
      made.set_form(form);
      made.set_size_bytes(static_cast<int64_t>(ptx.size()));
      made.set_sha256(Sha256Hex(ptx));
    }
    v1::CompileResult& error = *compiled.add_results();
    error.set_toolchain("triton-3.9.0");
    error.set_target("cuda:90");
    error.set_status(v1::COMPILE_STATUS_ERROR);
    error.set_stage("import");
    error.set_message("by me@example.org");
    for (v1::RuleResult& rule : *verdict->mutable_rules()) {
      if (rule.rule() != "compiles" && rule.rule() != "imports") continue;
      rule.set_outcome(v1::RuleResult::OUTCOME_PASS);
      rule.clear_reason();
    }
  }

  // For each of the first source's shards.
  void SetTexts(const std::vector<v1::IrText>& first, const std::vector<v1::IrText>& second) {
    v1::ManifestSource& source = *manifest_.mutable_sources(0);
    source.clear_ir();
    source.clear_ir_parts();
    for (const auto& texts : {first, second}) {
      // A blob each.
      for (const v1::IrText& text : texts) {
        v1::IrShard shard;
        *shard.add_texts() = text;
        *source.add_ir() = *cas::PutMessage(store_, shard);
      }
      source.add_ir_parts(static_cast<int>(texts.size()));
    }
  }
};

TEST_F(CompileEvidenceTest, ARowHasWhatCompilersSaidAndNullForWhatDoesNotApply) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("kernels.jsonl");
  ASSERT_EQ(rows.size(), 3u);
  const Json& row = rows[1];
  EXPECT_EQ(row["id"], Id(1));
  EXPECT_EQ(row["checks"]["compiles"], "pass");
  const Json& compile = row["compile"];
  EXPECT_EQ(compile["not_attempted"], nullptr);
  EXPECT_EQ(
      compile["imports"][0],
      Json({{"toolchain", "triton-3.5.1"}, {"ok", true}, {"error", nullptr}, {"line", nullptr}}));
  EXPECT_EQ(compile["imports"][1]["line"], 3);
  EXPECT_EQ(
      compile["signatures"][0]["arguments"][0],
      Json({{"name", "x"}, {"type", "*fp32"}, {"rule", "usage:math"}, {"divisible_by_16", true}}));
  EXPECT_EQ(compile["signatures"][0]["constexprs"][0],
            Json({{"name", "BLOCK"}, {"value", "64"}, {"rule", "default"}}));
  const Json& ok = compile["results"][0];
  EXPECT_EQ(ok["status"], "ok");
  EXPECT_EQ(ok["signature"], 0);
  EXPECT_EQ(ok["registers"], 32);
  EXPECT_EQ(ok["spill_bytes"], 0) << "none, which is known";
  EXPECT_EQ(ok["message"], nullptr);
  EXPECT_EQ(ok["limited"], false);
  EXPECT_EQ(ok["forms"][1]["sha256"], Sha256Hex(kPtx));
  const Json& error = compile["results"][1];
  EXPECT_EQ(error["status"], "error");
  EXPECT_EQ(error["signature"], nullptr) << "its module could not be loaded";
  EXPECT_EQ(error["stage"], "import");
  EXPECT_EQ(error["registers"], nullptr);
  EXPECT_EQ(rows[2]["compile"]["not_attempted"], "not_self_contained");
  EXPECT_EQ(rows[2]["checks"]["compiles"], "exempt");
}

using NothingCompiledTest = ExporterTest;

TEST_F(NothingCompiledTest, TheColumnsAreNullAndThereAreNoTexts) {
  ASSERT_THAT(Export(), IsOk());
  for (const Json& row : Lines("kernels.jsonl")) {
    EXPECT_EQ(row["compile"], nullptr);
    EXPECT_EQ(row["checks"]["compiles"], nullptr);
    EXPECT_EQ(row["checks"]["imports"], nullptr);
  }
  EXPECT_EQ(Json::parse(File("report.json")).at("rows").at("ir"), 0);
}

TEST_F(CompileEvidenceTest, EachTextOfAKeptKernelIsARow) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("ir.jsonl");
  EXPECT_THAT(Strings(rows, "kernel_id"), ElementsAre(Id(3), Id(1))) << "as kernels.jsonl has them";
  EXPECT_EQ(rows[1]["text"], kPtx);
  EXPECT_EQ(rows[1]["sha256"], Sha256Hex(kPtx));
  EXPECT_EQ(rows[1]["form"], "ptx");
  EXPECT_EQ(rows[1]["split"], "train");
  EXPECT_THAT(rows[0]["text"].get<std::string>(), HasSubstr("caf\xEF\xBF\xBD"));
  ASSERT_EQ(rows[0]["not_utf8"].size(), 1u);
  EXPECT_EQ(rows[0]["not_utf8"][0]["field"], "/text");
}

TEST_F(CompileEvidenceTest, WhatIsRedactedOfTheKernelIsRedactedOfWhatWasMadeOfIt) {
  manifest_.mutable_quality()->set_emails(v1::SENSITIVE_POLICY_REDACT);
  Change(0, 0, [](v1::VerdictShard& verdicts) {
    v1::Sensitive& finding = *verdicts.mutable_verdicts(0)->mutable_quality()->add_sensitive();
    finding.set_kind("email");
    finding.set_text(v1::Sensitive::TEXT_SOURCE);
    finding.set_begin(0);
    finding.set_size(7);
  });
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Lines("ir.jsonl")[1]["text"], kPtx) << "the kernel has another text";

  // The kernel's first bytes, "@triton", are in the compiled text too.
  const std::string ptx = "// @triton.jit";
  Change(0, 0, [&](v1::VerdictShard& verdicts) {
    v1::CompiledKernel& compiled = *verdicts.mutable_verdicts(0)->mutable_compiled();
    compiled.mutable_results(0)->mutable_forms(1)->set_sha256(Sha256Hex(ptx));
    compiled.mutable_results(1)->set_message("@triton");
    compiled.mutable_imports(1)->set_error("no @triton");
  });
  SetTexts({GetText(0, ptx)}, {GetText(0, kOddPtx)});
  ASSERT_THAT(Export(), IsOk());
  const Json text = Lines("ir.jsonl")[1];
  EXPECT_EQ(text["text"], "// @xxxxxx.jit");
  EXPECT_EQ(text["sha256"], Sha256Hex(ptx));
  const Json compile = Lines("kernels.jsonl")[1]["compile"];
  EXPECT_EQ(compile["results"][1]["message"], "@xxxxxx");
  EXPECT_EQ(compile["imports"][1]["error"], "no @xxxxxx");
}

TEST_F(CompileEvidenceTest, ATextThatIsNotTheEvidencesEndsTheExport) {
  SetTexts({GetText(0, "another text")}, {GetText(0, kOddPtx)});
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
  SetTexts({GetText(0, kPtx), GetText(0, kPtx)}, {GetText(0, kOddPtx)});
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss)) << "twice";
  SetTexts({GetText(0, kPtx), GetText(9, kPtx)}, {GetText(0, kOddPtx)});
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss)) << "of no kernel";
}

TEST_F(CompileEvidenceTest, ATextThatIsLostEndsTheExport) {
  SetTexts({GetText(0, kPtx)}, {});
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
  manifest_.mutable_compile()->clear_keep();
  manifest_.mutable_sources(0)->clear_ir();
  manifest_.mutable_sources(0)->clear_ir_parts();
  EXPECT_THAT(Export(), IsOk()) << "none is kept";
}

}  // namespace
}  // namespace kernelmill::dataset
