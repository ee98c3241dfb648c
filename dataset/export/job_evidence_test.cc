#include "dataset/export/job_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "common/job/source_spec.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/tasks/testing/made_evidence.h"
#include "dataset/testing/export_fixture.h"
#include "kernelmill/v1/reference.pb.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JobEvidenceTest : public ExporterTest {
 protected:
  // Adds a source of evidence with these files, each in a shard of its own.
  void AddEvidence(const std::string& name, const std::map<std::string, std::string>& files) {
    StartSource(name, v1::SOURCE_ROLE_EVIDENCE, 0);
    tree_.clear_files();
    manifest_.mutable_evidence()->set_min_adequacy(0.8);
    v1::ManifestSource& source = *manifest_.mutable_sources()->rbegin();
    for (const auto& [path, content] : files) {
      v1::FileEntry& entry = *tree_.add_files();
      entry.set_path(path);
      entry.set_fate(v1::FILE_FATE_SHARDED);
      entry.set_sha256(Sha256Hex(content));
      v1::FileShard shard;
      shard.add_files()->set_path(path);
      shard.mutable_files(0)->set_content(content);
      *source.add_files() = *cas::PutMessage(store_, shard);
    }
    EndSource();
  }

  static std::string ToLines(const std::vector<Json>& rows) {
    std::string lines;
    for (const Json& row : rows) absl::StrAppend(&lines, Canonical(row), "\n");
    return lines;
  }

  Json Report() { return Json::parse(File("report.json")); }

  // A file without rows is not written.
  bool HasTasks() { return std::filesystem::exists(request_.out_dir + "/tasks.jsonl"); }

  // A reference for the kernels of the first source's first shard.
  void AddReferences() {
    v1::ReferenceShard first;
    v1::TestReference& test = *first.add_kernels()->add_tests();
    test.set_status("reference");
    test.set_path("test_z.py");
    test.mutable_reference()->set_kind("torch_chain");
    test.mutable_reference()->set_path("test_z.py");
    test.mutable_reference()->set_text("torch.clone(x)  # by ann@example.org");
    test.mutable_reference()->set_module("import torch\n");
    first.mutable_kernels(0)->add_tests()->set_status("no_comparison");
    first.add_kernels()->set_reason("no_test");
    v1::ReferenceShard second;
    second.add_kernels()->set_reason("no_test");
    second.add_kernels()->set_reason("no_test");
    *manifest_.mutable_sources(0)->add_references() = *cas::PutMessage(store_, first);
    *manifest_.mutable_sources(0)->add_references() = *cas::PutMessage(store_, second);
  }

  // The modules as rows have them.
  const std::string module1_ = Sha256Hex(MakeKernel(1, "z.py", 9, kDosBody).module());
  const std::string module3_ =
      Sha256Hex(ToUtf8(MakeKernel(3, "a.py", 5, "    \"\xff\"\n").module()));
};

TEST_F(JobEvidenceTest, TensorsOfCasesAreNoLines) {
  const Json one = WithId(MakeCase(module1_, "load1", 100));
  const std::string tensor("\0\1\n\xff", 4);
  AddEvidence("ev", {{"a.jsonl", ToLines({one, MakeResult(one, "cpu", "exact")})},
                     {"a/" + Sha256Hex(tensor), tensor}});
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Report()["evidence"]["problems"]["count"], 0);
  EXPECT_EQ(Report()["evidence"]["files"], 1);
}

TEST_F(JobEvidenceTest, ResultsThatTheJobRanAreWrittenWhereItsLockHasThem) {
  const Json one = WithId(MakeCase(module1_, "load1", 100));
  AddEvidence("ev", {{"a.jsonl", ToLines({one})}});
  const std::string results = ToLines({MakeResult(one, "cpu", "exact")});
  AddEvidence("run", {{"results.jsonl", results}});
  v1::Source& source = *manifest_.mutable_sources()->rbegin()->mutable_source();
  source.set_sha256(Sha256Hex("any"));
  source.set_path(job::RunSourceName("cpu", source.sha256()));
  source.clear_ref();
  tree_.set_repository(source.path());
  tree_.set_commit("sha256:" + source.sha256());
  EndSource();
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(File(source.path() + "/results.jsonl"), results);
  EXPECT_THAT(Lines("tasks.jsonl"), SizeIs(1));
  EXPECT_FALSE(std::filesystem::exists(request_.out_dir + "/ev"));
}

TEST_F(JobEvidenceTest, AKernelWithAReplayedCaseIsATask) {
  const Json one = WithId(MakeCase(module1_, "load1", 100));
  const Json two = WithId(MakeCase(module1_, "load1", 200));
  AddEvidence("ev", {{"a.jsonl", ToLines({one, two, MakeAdequacy(module1_, "load1", 0.9)})},
                     {"b/c.jsonl",
                      ToLines({MakeResult(one, "cpu", "exact"), MakeResult(two, "cuda:90", "close"),
                               MakeSpeed(one, "cuda:90", 2.5)})}});
  AddReferences();
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("tasks.jsonl");
  ASSERT_THAT(rows, SizeIs(1));
  const Json& row = rows[0];
  EXPECT_EQ(row["id"], Id(1));
  EXPECT_EQ(row["module_sha256"], module1_);
  EXPECT_EQ(row["path"], "z.py");
  EXPECT_EQ(row["first_line"], 9);
  EXPECT_EQ(row["license"], "MIT");
  EXPECT_EQ(row["category"], "cat-a");
  EXPECT_EQ(row["split"], "train");
  EXPECT_EQ(row["repository_url"], "https://github.com/example/a.git");
  EXPECT_EQ(row["duplicates"], Json::array({Id(5)}));
  EXPECT_EQ(row["reference"]["kind"], "torch_chain");
  EXPECT_THAT(row["cases"], SizeIs(1));
  EXPECT_THAT(row["hidden_cases"], SizeIs(1));
  EXPECT_EQ(row["speed"][0]["median_us"], 2.5);
  EXPECT_EQ(row["speed"][0]["eager_us"], nullptr);
  EXPECT_EQ(row["adequacy"]["score"], 0.9);
  EXPECT_EQ(row["verified"], true);
  EXPECT_EQ(row["not_verified"], nullptr);
  EXPECT_THAT(std::string(row["text"]), HasSubstr("Write a Triton kernel named `load1`"));
  const Json evidence = Report()["evidence"];
  EXPECT_EQ(evidence["files"], 2);
  EXPECT_EQ(evidence["types"], Json({{"adequacy", 1}, {"case", 2}, {"result", 2}, {"speed", 1}}));
  EXPECT_EQ(evidence["tasks"], 1);
  EXPECT_EQ(evidence["verified"], 1);
  EXPECT_THAT(evidence["not_verified"], IsEmpty());
  EXPECT_EQ(evidence["unmatched"]["kernels"], 0);
  EXPECT_EQ(Report()["policies"]["min_adequacy"], 0.8);
  EXPECT_EQ(Report()["sources"][4]["role"], "evidence");
  EXPECT_FALSE(Report()["categories"].contains("cat-ev"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(JobEvidenceTest, ATaskHasTheFirstReferenceOfItsKernel) {
  AddReferences();
  manifest_.mutable_quality()->set_emails(v1::SENSITIVE_POLICY_REDACT);
  const Json one = WithId(MakeCase(module1_, "load1", 100));
  const Json other = WithId(MakeCase(module3_, "load3", 100));
  AddEvidence("ev", {{"a.jsonl", ToLines({one, other, MakeResult(one, "cpu", "exact"),
                                          MakeResult(other, "cpu", "exact")})}});
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("tasks.jsonl");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0]["name"], "load3");
  EXPECT_EQ(rows[0]["reference"], nullptr);
  EXPECT_EQ(rows[1]["reference"]["kind"], "torch_chain");
  EXPECT_EQ(rows[1]["reference"]["text"], "torch.clone(x)  # by xxx@xxxxxxx.xxx");
  EXPECT_THAT(
      std::string(rows[1]["text"]),
      HasSubstr("Its results are compared with those of:\n\n```python\ntorch.clone(x)  # by x"));
}

TEST_F(JobEvidenceTest, WhatIsNotVerifiedIsInTheLedgerAndTheReportWithItsReason) {
  const Json one = WithId(MakeCase(module1_, "load1", 100));
  const Json idle = WithId(MakeCase(module3_, "load3", 100));
  AddEvidence("ev", {{"a.jsonl", ToLines({one, idle, MakeResult(one, "cpu", "exact")})}});
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("tasks.jsonl");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0]["verified"], false);
  EXPECT_EQ(rows[0]["not_verified"], "no_reference");
  std::map<std::string, Json> tasks;
  for (const Json& row : Lines("ledger.jsonl")) tasks[row["id"]] = row["task"];
  EXPECT_EQ(tasks[Id(1)], "no_reference");
  EXPECT_EQ(tasks[Id(3)], "not_replayed");
  EXPECT_EQ(tasks[Id(6)], nullptr);
  EXPECT_EQ(tasks[Id(5)], nullptr) << "a duplicate";
  EXPECT_EQ(Report()["evidence"]["not_verified"], Json({{"no_reference", 1}, {"not_replayed", 1}}));
  EXPECT_EQ(Report()["evidence"]["verified"], 0);
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(
      notes_,
      ElementsAre("evidence: kernels that are not verified: no_reference 1, not_replayed 1; "
                  "`kernelmill rejected DATASET --reason unverified` names them"));
}

TEST_F(JobEvidenceTest, EvidenceOfNoKernelAndBadLinesAreSaid) {
  const Json gone = WithId(MakeCase(std::string(64, 'c'), "gone", 100));
  const Json other_name = WithId(MakeCase(module1_, "load9", 100));
  AddEvidence(
      "ev",
      {{"a.jsonl", absl::StrCat("{\n", ToLines({gone, other_name}), R"({"type": "wish"})", "\n")}});
  v1::FileEntry& large = *tree_.add_files();
  large.set_path("large.jsonl");
  large.set_fate(v1::FILE_FATE_SKIPPED);
  large.set_reason("too_large");
  EndSource();
  ASSERT_THAT(Export(), IsOk());
  EXPECT_FALSE(HasTasks());
  const Json evidence = Report()["evidence"];
  EXPECT_EQ(evidence["problems"]["count"], 2);
  EXPECT_EQ(evidence["problems"]["first"][0]["file"], "a.jsonl");
  EXPECT_EQ(evidence["problems"]["first"][0]["line"], 1);
  EXPECT_EQ(evidence["problems"]["first"][1]["message"], "was not read: too_large");
  EXPECT_EQ(evidence["unknown_types"], Json({{"wish", 1}}));
  EXPECT_EQ(evidence["unmatched"]["kernels"], 2);
  EXPECT_THAT(evidence["unmatched"]["first"], SizeIs(2));
  EXPECT_EQ(Report()["unmatched"].back()["message"], "names 2 kernels that the dataset lacks");
  EXPECT_THAT(File("README.md"), HasSubstr("names 2 kernels that the dataset lacks"));
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("evidence: 2 problems: a.jsonl:1: is no JSON"),
                          "evidence: unknown types are ignored: wish 1",
                          HasSubstr("evidence: the dataset has none of its kernels (2); ")));
}

TEST_F(JobEvidenceTest, AJobWithoutEvidenceHasNoTasks) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_FALSE(HasTasks());
  EXPECT_EQ(Report()["evidence"], nullptr);
  for (const Json& row : Lines("ledger.jsonl")) EXPECT_EQ(row["task"], nullptr);
}

TEST_F(JobEvidenceTest, AFileThatIsNotTheTreesIsDataLoss) {
  AddEvidence("ev", {{"a.jsonl", "{}\n"}});
  tree_.mutable_files(0)->set_sha256(Sha256Hex("other"));
  EndSource();
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(Export().message()), HasSubstr("a.jsonl"));
  tree_.mutable_files(0)->set_sha256(Sha256Hex("{}\n"));
  tree_.add_files()->set_path("b.jsonl");
  tree_.mutable_files(1)->set_fate(v1::FILE_FATE_SHARDED);
  EndSource();
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(Export().message()), HasSubstr("b.jsonl"));
}

TEST_F(JobEvidenceTest, TheSameEvidenceInOtherFilesGivesTheSameRows) {
  const Json one = WithId(MakeCase(module1_, "load1", 100));
  const Json result = MakeResult(one, "cpu", "exact");
  AddEvidence("ev", {{"a.jsonl", ToLines({one})}, {"b.jsonl", ToLines({result})}});
  ASSERT_THAT(Export(), IsOk());
  const std::string rows = File("tasks.jsonl");
  manifest_.mutable_sources()->RemoveLast();
  AddEvidence("ev", {{"c.jsonl", ToLines({result, one, one})}});
  request_.threads = 3;
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(File("tasks.jsonl"), rows);
}

}  // namespace
}  // namespace kernelmill::dataset
