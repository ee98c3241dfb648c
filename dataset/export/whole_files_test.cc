// Whole files and the organised tree, over a dataset by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"
#include "dataset/testing/export_fixture.h"

namespace kernelmill::dataset {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kGenerator[] = "# by me@example.org\ndef generate():\n    return 'caf\xe9'\n";

// Another source, that keeps files: a file without kernels, one with two, and one that is a copy.
class WholeFilesTest : public ExporterTest {
 protected:
  WholeFilesTest() {
    StartSource("f", v1::SOURCE_ROLE_CANDIDATE, 1'400'000'000);
    manifest_.mutable_sources(4)->mutable_source()->set_keep(v1::SOURCE_KEEP_FILES);
    AddShard({MakeFile(10, "codegen.py", kGenerator), MakeFile(11, "k.py", ""),
              MakeKernel(12, "k.py", 2, kBody), MakeKernel(13, "k.py", 9, "    w\n"),
              MakeFile(14, "z.md", "copied\n")});
    EndSource();
    Decide(v1::FATE_KEPT, "", 7, 1);
    Decide(v1::FATE_KEPT, "", 8, 1);
    Decide(v1::FATE_KEPT, "", 9, 1);
    Decide(v1::FATE_DUPLICATE, "near", 0, 1);
    Decide(v1::FATE_DUPLICATE, "exact", 7, 1);
    manifest_.mutable_quality()->set_secrets(v1::SENSITIVE_POLICY_REJECT);
    manifest_.mutable_quality()->set_emails(v1::SENSITIVE_POLICY_REDACT);
    request_.tree = true;
  }

  // Adds what the validator would have found in a text.
  void AddFinding(int shard_kernel, const std::string& text, const std::string& what) {
    cas::Digest& digest = *manifest_.mutable_sources(4)->mutable_verdicts(0);
    auto verdicts = *cas::GetMessage<v1::VerdictShard>(store_, digest);
    v1::Sensitive& finding =
        *verdicts.mutable_verdicts(shard_kernel)->mutable_quality()->add_sensitive();
    finding.set_kind("email");
    finding.set_text(v1::Sensitive::TEXT_SOURCE);
    finding.set_begin(static_cast<int64_t>(text.find(what)));
    finding.set_size(static_cast<int64_t>(what.size()));
    digest = *cas::PutMessage(store_, verdicts);
  }

  Json ListFiles(const std::string& category) {
    return Json::parse(File("MANIFEST.json"))["categories"][category]["files"];
  }
  std::string InTree(const std::string& path) { return File("tree/" + path); }
};

TEST_F(WholeFilesTest, KeptFilesAreRowsWithTheKernelsThatStandInThem) {
  AddFinding(0, kGenerator, "me@example.org");
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("files.jsonl");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["path"], "codegen.py");
  EXPECT_THAT(rows[0]["text"].get<std::string>(), HasSubstr("# by xx@xxxxxxx.xxx\n"));
  EXPECT_EQ(rows[0]["sha256"], Sha256Hex(kGenerator));
  EXPECT_EQ(rows[0]["bytes"], sizeof(kGenerator) - 1);
  EXPECT_EQ(rows[0]["not_utf8"].size(), 1u);
  EXPECT_EQ(rows[0]["language"], "python");
  EXPECT_THAT(rows[0]["duplicates"].get<std::vector<std::string>>(), ElementsAre(Id(14)));
  EXPECT_EQ(rows[0]["sensitive"][0]["redacted"], true);
  EXPECT_THAT(rows[1]["kernels"].get<std::vector<std::string>>(), ElementsAre(Id(12)));
}

TEST_F(WholeFilesTest, NoOtherFileHasThemAndTheSumsStandApart) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Strings(Lines("kernels.jsonl"), "id"), ElementsAre(Id(3), Id(1), Id(6), Id(12)));
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["kernels"]["found"], 8);
  EXPECT_EQ(report["training_files"]["found"], 3);
  EXPECT_EQ(report["training_files"]["kept"], 2);
  EXPECT_EQ(report["training_files"]["by_reason"]["duplicate"]["exact"], 1);
  EXPECT_EQ(report["training_files"]["tokens"]["cl100k_base"], 20);
  EXPECT_EQ(report["tokens"]["source"]["cl100k_base"], 40);  // four kernels
  int files = 0;
  for (const Json& row : Lines("ledger.jsonl")) {
    EXPECT_EQ(row["form"] == "file", row["dsl"].is_null());
    files += row["form"] == "file";
  }
  EXPECT_EQ(files, 3);
}

TEST_F(WholeFilesTest, AWholeFileThatNobodyKeepsIsNotExported) {
  manifest_.mutable_sources(4)->mutable_source()->clear_keep();
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(WholeFilesTest, TheTreeHasWhatTheManifestLists) {
  ASSERT_THAT(Export(), IsOk());
  int listed = 0;
  for (const std::string category : {"cat-a", "cat-b", "cat-f"}) {
    for (const Json& file : ListFiles(category)) {
      ++listed;
      const std::string text = InTree(file["path"]);
      EXPECT_EQ(Sha256Hex(text), file["hash_sha256"]);
      EXPECT_EQ(file["redacted"].get<bool>(), file["hash_sha256"] != file["source_sha256"]);
    }
  }
  int written = 0;
  for (const auto& entry : fs::recursive_directory_iterator(request_.out_dir + "/tree")) {
    written += entry.is_regular_file();
  }
  EXPECT_EQ(written, listed);
  EXPECT_EQ(ListFiles("cat-f")[0]["path"], "cat-f/example.org__f/codegen.py");
  EXPECT_THAT(InTree("cat-f/example.org__f/codegen.py"), HasSubstr("# by xx@xxxxxxx.xxx\n"));
}

TEST_F(WholeFilesTest, WhatMustNotGetOutIsLeftOutOfTheTree) {
  // The other kernel of a.py is contaminated; the kernel of k.py that stays has a secret beside it.
  clusters_.mutable_decisions(10)->set_fate(v1::FATE_REJECTED);
  clusters_.mutable_decisions(10)->set_reason("sensitive:aws_access_key");
  clusters_.mutable_decisions(10)->set_leader(10);
  ASSERT_THAT(Export(), IsOk());
  const Json left_out = Json::parse(File("MANIFEST.json"))["left_out"];
  std::map<std::string, std::string> reasons;
  for (const Json& file : left_out) reasons[file["source_path"]] = file["reason"];
  EXPECT_EQ(reasons["a.py"], "holds:contaminated");
  EXPECT_EQ(reasons["k.py"], "holds:sensitive");
  EXPECT_FALSE(fs::exists(request_.out_dir + "/tree/cat-a/example.org__a/a.py"));
  EXPECT_TRUE(fs::exists(request_.out_dir + "/tree/cat-a/example.org__a/z.py"));
}

TEST_F(WholeFilesTest, WhatIsOptedOutIsNotEvenListed) {
  clusters_.mutable_decisions(10)->set_fate(v1::FATE_REJECTED);
  clusters_.mutable_decisions(10)->set_reason("opt_out");
  clusters_.mutable_decisions(10)->set_leader(10);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(File("MANIFEST.json").find("k.py"), std::string::npos);
  for (const auto& entry : fs::recursive_directory_iterator(request_.out_dir + "/tree")) {
    EXPECT_NE(entry.path().filename(), "k.py");
  }
}

TEST_F(WholeFilesTest, AnExportWithoutATreeReplacesOneWithIt) {
  ASSERT_THAT(Export(), IsOk());
  request_.tree = false;
  ASSERT_THAT(Export(), IsOk());
  EXPECT_FALSE(fs::exists(request_.out_dir + "/tree"));
  EXPECT_EQ(Json::parse(File("MANIFEST.json"))["extraction_dir"], ".");
}

}  // namespace
}  // namespace kernelmill::dataset
