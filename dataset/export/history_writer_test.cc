#include "dataset/export/history_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "common/cas/digest.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "dataset/testing/export_fixture.h"
#include "kernelmill/v1/history.pb.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// The first source of the dataset has a history, with changes of its kernels 0 (kept), 1 (rejected)
// and 3 (contaminated).
class HistoryWriterTest : public ExporterTest {
 protected:
  v1::KernelChange& AddChange(const std::string& commit, int head) {
    v1::KernelChange& change = *shard_.add_changes();
    change.set_commit(std::string(40, commit[0]));
    change.set_parent(std::string(40, '0'));
    change.set_parents(1);
    change.set_author_time(1'709'164'800);
    change.set_message("Fix " + commit);
    change.set_kind("fix");
    change.add_evidence("Fix");
    change.set_match("same");
    change.set_similarity(0.5);
    change.set_license_files("same");
    change.set_lineage(std::string(32, 'a'));
    if (head >= 0) change.set_head(head);
    for (v1::KernelVersion* version : {change.mutable_before(), change.mutable_after()}) {
      version->set_path("z.py");
      version->set_name("k");
      version->set_qualname("k");
      version->set_first_line(9);
      version->set_last_line(11);
      version->set_dsl(dsl::kTriton);
      version->set_role(v1::KERNEL_ROLE_KERNEL);
    }
    change.mutable_before()->set_source("def k(): pass\n");
    change.mutable_after()->set_source("def k(): return\n");
    return change;
  }

  absl::Status ExportHistory() {
    v1::ManifestSource& source = *manifest_.mutable_sources(0);
    source.mutable_source()->mutable_history()->set_depth(9);
    shard_.mutable_sums()->set_commits_seen(7);
    shard_.mutable_sums()->set_kernels(1);
    shard_.mutable_sums()->set_changes(shard_.changes_size());
    *source.add_changes() = *cas::PutMessage(store_, shard_);
    return Export();
  }

  // Gives a version a module, and what a compiler makes of it.
  void Compile(v1::CompileStatus status, const std::string& module, v1::KernelVersion* version) {
    version->set_module(module);
    version->set_compiled(kernels_.kernels_size());
    kernels_.add_kernels()->set_module(module);
    v1::CompileResult* result = compiled_.add_kernels()->add_results();
    result->set_toolchain("triton-3.9.0");
    result->set_target("cuda:90");
    result->set_status(status);
    if (status == v1::COMPILE_STATUS_OK) {
      result->set_registers(32);
    } else {
      result->set_stage("frontend");
      result->set_message("NameError: jane@example.org");
      result->set_line(2);
    }
  }

  // No kernel at the pinned commit is compiled.
  void CompileNoHead() {
    for (v1::ManifestSource& source : *manifest_.mutable_sources()) {
      for (cas::Digest& digest : *source.mutable_verdicts()) {
        auto verdicts = *cas::GetMessage<v1::VerdictShard>(store_, digest);
        for (v1::Verdict& verdict : *verdicts.mutable_verdicts()) {
          verdict.mutable_compiled()->set_not_attempted("not_self_contained");
          for (const char* name : {"compiles", "imports"}) {
            v1::RuleResult& rule = *verdict.add_rules();
            rule.set_rule(name);
            rule.set_outcome(v1::RuleResult::OUTCOME_EXEMPT);
            rule.set_reason("not compiled");
          }
        }
        digest = *cas::PutMessage(store_, verdicts);
      }
    }
  }

  absl::Status ExportCompiled() {
    CompileNoHead();
    manifest_.mutable_compile()->add_toolchains("triton-3.9.0");
    v1::ManifestSource& source = *manifest_.mutable_sources(0);
    *source.add_version_kernels() = *cas::PutMessage(store_, kernels_);
    *source.add_version_compiled() = *cas::PutMessage(store_, compiled_);
    source.add_version_parts(1);
    return ExportHistory();
  }

  // Gives a version a module with a helper of another file.
  static void AddPieces(const std::string& helper, v1::KernelVersion* version) {
    version->set_module("def helper(): pass\n" + version->source());
    v1::ModulePiece& piece = *version->add_pieces();
    piece.set_path(helper);
    piece.set_first_line(3);
    piece.set_last_line(3);
    piece.set_kind(v1::Definition::KIND_FUNCTION);
    v1::ModulePiece& own = *version->add_pieces();
    own.set_path("z.py");
    own.set_first_line(version->first_line());
    own.set_last_line(version->last_line());
    own.set_kind(v1::Definition::KIND_FUNCTION);
  }

  Json Withheld() { return Json::parse(File("report.json"))["history"]["withheld"]; }

  v1::ChangeShard shard_;
  v1::KernelShard kernels_;
  v1::CompiledShard compiled_;
};

TEST_F(HistoryWriterTest, AModuleNamesItsPiecesAndTakesNoneOfAFileThatIsOptedOut) {
  AddPieces("helpers.py", AddChange("c", 0).mutable_after());
  AddPieces("lib/private.py", AddChange("d", 0).mutable_before());
  v1::OptOut& entry = *manifest_.add_opt_out();
  entry.set_repository("https://example.org/a");
  entry.set_path("lib/**");
  ASSERT_THAT(ExportHistory(), IsOk());
  const std::vector<Json> rows = Lines("history.jsonl");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["before"]["pieces"], Json::array());
  EXPECT_EQ(rows[0]["after"]["pieces"][0]["path"], "helpers.py");
  EXPECT_EQ(rows[0]["after"]["pieces"][0]["kind"], "function");
  EXPECT_EQ(rows[0]["after"]["pieces"][0]["first_line"], 3);
  EXPECT_EQ(Withheld(), (Json{{"opt_out", 1}}));
}

TEST_F(HistoryWriterTest, ARowNamesItsKernelAndItsCommit) {
  v1::KernelChange& change = AddChange("c", 0);
  v1::Claim& claim = *change.add_claims();
  claim.set_form("ratio");
  claim.set_text("1.5x faster");
  claim.set_value(1.5);
  claim.set_unit("x");
  ASSERT_THAT(ExportHistory(), IsOk());
  const std::vector<Json> rows = Lines("history.jsonl");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["kernel_id"], Id(1));
  EXPECT_EQ(rows[0]["license"], "MIT");
  EXPECT_EQ(rows[0]["split"], "train");
  EXPECT_EQ(rows[0]["date"], "2024-02-29");
  EXPECT_EQ(rows[0]["url"], "https://github.com/example/a/commit/" + std::string(40, 'c'));
  EXPECT_EQ(rows[0]["before"]["url"],
            "https://github.com/example/a/blob/" + std::string(40, '0') + "/z.py#L9-L11");
  EXPECT_EQ(rows[0]["after"]["module"], nullptr);
  EXPECT_EQ(rows[0]["claims"][0]["value"], 1.5);
  EXPECT_EQ(rows[0]["claims"][0]["before"], nullptr);
  const Json report = Json::parse(File("report.json"))["history"];
  EXPECT_EQ(report["sources"][0]["commits"], 7);
  EXPECT_EQ(report["rows"], 1);
  EXPECT_EQ(report["kernels"], 1);
  EXPECT_EQ(report["kinds"]["fix"], 1);
  EXPECT_EQ(report["with_claims"], 1);
  EXPECT_EQ(report["compile"], nullptr) << "the job does not compile";
}

TEST_F(HistoryWriterTest, ChangesGoWithTheFateOfTheirKernel) {
  AddChange("1", 1);
  AddChange("2", 3);
  AddChange("3", -1);  // gone: all kernels of the source have one licence
  ASSERT_THAT(ExportHistory(), IsOk());
  const std::vector<Json> rows = Lines("history.jsonl");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["commit"], std::string(40, '3'));
  EXPECT_EQ(rows[0]["kernel_id"], nullptr);
  EXPECT_EQ(rows[0]["license"], "MIT");
  EXPECT_EQ(Withheld(), Json({{"contaminated", 1}, {"rejected", 1}}));
}

TEST_F(HistoryWriterTest, VersionsThatMustNotGetOutAreWithheld) {
  AddChange("1", 0).set_license_files("absent");
  AddChange("2", 0).mutable_before()->set_path("old/z.py");
  AddChange("3", 0).mutable_after()->set_source(
      "def k():\n    api_key = \"AKIA2E0A8F3B244C9986\"\n");
  v1::OptOut& entry = *manifest_.add_opt_out();
  entry.set_repository("https://example.org/a");
  entry.set_path("old/**");
  manifest_.mutable_quality()->set_secrets(v1::SENSITIVE_POLICY_REJECT);
  ASSERT_THAT(ExportHistory(), IsOk());
  EXPECT_EQ(Withheld()["license_files"], 1);
  EXPECT_EQ(Withheld()["opt_out"], 1);
  EXPECT_EQ(Withheld()["secret"], 1);
}

TEST_F(HistoryWriterTest, BothSidesHaveWhatCompilersMadeOfThem) {
  v1::KernelChange& change = AddChange("1", 0);
  Compile(v1::COMPILE_STATUS_ERROR, "# jane@example.org\ndef k(): pass\n", change.mutable_before());
  Compile(v1::COMPILE_STATUS_OK, "def k(): return\n", change.mutable_after());
  v1::KernelChange& broken = AddChange("2", 0);
  Compile(v1::COMPILE_STATUS_OK, "a", broken.mutable_before());
  Compile(v1::COMPILE_STATUS_ERROR, "b", broken.mutable_after());
  Compile(v1::COMPILE_STATUS_OK, "c", AddChange("3", 0).mutable_after());
  manifest_.mutable_quality()->set_emails(v1::SENSITIVE_POLICY_REDACT);
  ASSERT_THAT(ExportCompiled(), IsOk());
  const std::vector<Json> rows = Lines("history.jsonl");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["repair"], true);
  EXPECT_EQ(rows[0]["breaks"], false);
  EXPECT_EQ(rows[0]["turns"][0]["before"], "error");
  EXPECT_EQ(rows[0]["turns"][0]["message"], "NameError: xxxx@xxxxxxx.xxx") << "as the module";
  const Json& refused = rows[0]["before"]["compile"]["results"][0];
  EXPECT_EQ(refused["message"], "NameError: xxxx@xxxxxxx.xxx");
  EXPECT_EQ(refused["line"], 2);
  EXPECT_EQ(refused["registers"], nullptr);
  EXPECT_EQ(rows[0]["after"]["compile"]["results"][0]["registers"], 32);
  EXPECT_EQ(rows[1]["breaks"], true);
  EXPECT_EQ(rows[2]["before"]["compile"], nullptr);
  EXPECT_EQ(rows[2]["repair"], nullptr) << "only one side was compiled";
  EXPECT_EQ(
      Json::parse(File("report.json"))["history"]["compile"],
      Json({{"versions", 5}, {"judged", 2}, {"repairs", {{"fix", 1}}}, {"breaks", {{"fix", 1}}}}));
}

TEST_F(HistoryWriterTest, AWithheldVersionHasNoOutcome) {
  v1::KernelChange& change = AddChange("1", 1);  // its kernel is rejected
  Compile(v1::COMPILE_STATUS_ERROR, "a", change.mutable_before());
  Compile(v1::COMPILE_STATUS_OK, "b", change.mutable_after());
  ASSERT_THAT(ExportCompiled(), IsOk());
  const Json history = Json::parse(File("report.json"))["history"];
  EXPECT_EQ(history["rows"], 0);
  EXPECT_EQ(history["compile"]["judged"], 0);
  EXPECT_EQ(history["compile"]["repairs"], Json::object());
  EXPECT_EQ(File("report.json").find("NameError"), std::string::npos);
}

TEST_F(HistoryWriterTest, AKernelThatTheSourceDoesNotHaveIsDamage) {
  AddChange("1", 4);
  EXPECT_THAT(ExportHistory(), StatusIs(absl::StatusCode::kDataLoss));
}

// A change of a kernel of the commit's message, which can be asked about.
void Explain(v1::KernelChange& change) {
  change.set_message("Mask the load of the tail");
  change.set_commit_kernels(1);
  change.mutable_before()->set_source("def k(x, n):\n    tl.load(x + n)\n");
  change.mutable_after()->set_source("def k(x, n):\n    tl.load(x + n, mask=n > 0)\n");
  change.set_diff("-    tl.load(x + n)\n+    tl.load(x + n, mask=n > 0)\n");
}

TEST_F(HistoryWriterTest, ChangesGiveConversationsBehindThoseOfKernels) {
  Explain(AddChange("1", 0));
  Explain(AddChange("2", 0));  // says the same
  Explain(AddChange("3", 1));  // its kernel is rejected
  AddChange("4", -1).set_commit_kernels(1);
  ASSERT_THAT(ExportHistory(), IsOk());
  const std::vector<Json> changes = Lines("history.jsonl");
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0]["commit_kernels"], 1);
  std::vector<Json> rows;
  for (const Json& row : Lines("instruct.jsonl")) {
    if (!row["change_id"].is_null()) rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["template"], "repair");
  EXPECT_EQ(rows[1]["template"], "review");
  for (const Json& row : rows) {
    EXPECT_EQ(row["change_id"], changes[0]["change_id"]);
    EXPECT_EQ(row["id"], Id(1));
    EXPECT_EQ(row["license"], "MIT");
    EXPECT_EQ(row["split"], "train");
  }
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["instruct"]["repair"], 1);
  EXPECT_EQ(report["instruct_excluded"]["repair"],
            Json({{"message", 1}, {"repeated_question", 1}}));
}

TEST_F(HistoryWriterTest, AMixDrawsFromTemplates) {
  Explain(AddChange("1", 0));
  v1::MixPhase* phase = manifest_.mutable_mix()->add_phases();
  phase->set_name("repairs");
  for (const char* name : {"repair", "optimise"}) {
    v1::MixPart* part = phase->add_parts();
    part->set_config(name);
    part->set_epochs(1);
  }
  ASSERT_THAT(ExportHistory(), IsOk());
  const Json mix = Json::parse(File("mix.json"))["phases"][0];
  EXPECT_EQ(mix["parts"][0]["config"], "instruct");
  EXPECT_EQ(mix["parts"][0]["template"], "repair");
  EXPECT_EQ(mix["parts"][0]["rows"], 1);
  EXPECT_EQ(mix["parts"][1]["rows"], 0);
}

TEST_F(HistoryWriterTest, AJobWithoutHistoryHasNoneInItsReport) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Json::parse(File("report.json"))["history"], nullptr);
}

}  // namespace
}  // namespace kernelmill::dataset
