// pytorch_triton.jsonl, over a dataset by hand: a source that keeps graphs beside others.
#include "dataset/export/graph_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"
#include "dataset/testing/export_fixture.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kGraph[] = "\"\"\"timm a.\"\"\"\n\nclass Graph:\n    # File: a.py\n    x = 1\n";
constexpr char kSameGraph[] = "\"\"\"timm b.\"\"\"\nclass Graph:\n\n    # File: b.py\n    x = 1\n";
constexpr char kAbout[] = R"({
  "format": 1, "library": "timm", "model": "resnet18", "phase": "inference", "graph": 0, "license": "GPL-3.0-only",
  "split": "test", "dynamic": false,
  "inputs": [{"name": "x", "kind": "tensor", "shape": ["2", "s0"], "stride": ["4", "1"], "dtype": "float32",
              "device": "cuda:0"}, {"name": "n", "kind": "number", "value": "4"}],
  "outputs": [{"shape": null, "dtype": null}], "operators": [{"name": "aten.add.Tensor", "count": 2}],
  "kernels": [{"name": "load12", "sha256": "told", "nodes": ["add"], "operators": ["aten.add"], "launches": 3},
              {"name": "missing", "nodes": [], "operators": [], "launches": 1}],
  "calls": [{"name": "extern_kernels.mm", "count": 1}], "guards": ["x"],
  "settings": [{"name": "max_autotune", "value": "False"}], "versions": [{"name": "torch", "value": "2.11.0"}],
  "device": {"name": "H100", "target": "cuda:90", "multiprocessors": 132, "real": false},
  "checks": [{"status": "ok", "device": "cpu", "message": ""}]})";

// The source "a" of the fixture is 0; that of graphs is 4. Its kernels have the numbers 7 and up.
class GraphFilesTest : public ExporterTest {
 protected:
  GraphFilesTest() {
    StartSource("graphs", v1::SOURCE_ROLE_CANDIDATE, 1'400'000'000);
    source_ = manifest_.mutable_sources(4);
    source_->mutable_source()->set_keep(v1::SOURCE_KEEP_GRAPHS);
    AddShard({MakeKernel(12, "a.0/output_code.py", 2, kBody),
              MakeKernel(13, "b.0/output_code.py", 2, kBody, "load12")});
    EndSource();
    Decide(v1::FATE_KEPT, "", 7, 1);
    Decide(v1::FATE_DUPLICATE, "exact", 7, 1);
    AddText("a.0/graph.py", kGraph);
    AddText("a.0/graph.json", kAbout);
  }

  // Adds a file to those that the fetcher handed on.
  void AddText(const std::string& path, const std::string& text) {
    auto shard = *cas::GetMessage<v1::FileShard>(store_, source_->files(0));
    v1::SourceFile* file = shard.add_files();
    file->set_path(path);
    file->set_content(text);
    *source_->mutable_files(0) = *cas::PutMessage(store_, shard);
  }

  Json Graphs() { return Json::parse(File("report.json"))["graphs"]; }

  v1::ManifestSource* source_ = nullptr;
};

TEST_F(GraphFilesTest, ARowHasTheGraphItsWrapperAndTheKernelsByTheirIds) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("pytorch_triton.jsonl");
  ASSERT_THAT(rows, SizeIs(1));
  const Json& row = rows[0];
  EXPECT_EQ(row["path"], "a.0/output_code.py");
  EXPECT_EQ(row["pytorch"], kGraph);
  EXPECT_EQ(row["pytorch_sha256"], Sha256Hex(kGraph));
  EXPECT_THAT(row["wrapper"].get<std::string>(), HasSubstr("def load12(x)"));
  EXPECT_EQ(row["model_source"], nullptr);
  ASSERT_THAT(row["kernels"], SizeIs(2));
  EXPECT_EQ(row["kernels"][0]["kernel_id"], Id(12));
  EXPECT_EQ(row["kernels"][0]["fate"], "kept");
  EXPECT_EQ(row["kernels"][0]["launches"], 3);
  EXPECT_NE(row["kernels"][0]["sha256"], "told");
  EXPECT_THAT(row["kernels"][0]["operators"].get<std::vector<std::string>>(),
              ElementsAre("aten.add"));
  EXPECT_EQ(row["kernels"][1]["fate"], nullptr);
  EXPECT_EQ(row["inputs"][0]["shape"][1], "s0");
  EXPECT_EQ(row["inputs"][1]["value"], "4");
  EXPECT_EQ(row["device"]["target"], "cuda:90");
}

TEST_F(GraphFilesTest, ARowWhoseWrapperWasNotCheckedSaysSo) {
  ASSERT_THAT(Export(), IsOk());
  const Json checks = Lines("pytorch_triton.jsonl").at(0)["checks"];
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[0]["status"], "ok");
  EXPECT_EQ(checks[1]["status"], "not_run");
  EXPECT_EQ(checks[1]["message"], "graph.json has no check of the wrapper");
}

TEST_F(GraphFilesTest, ACheckOfTheWrapperIsTheOnlyOne) {
  AddText("b.0/graph.py", "class Graph:\n    x = 2\n");
  AddText("b.0/graph.json",
          absl::StrReplaceAll(kAbout, {{R"("status": "ok", "device": "cpu")",
                                        R"("status": "close", "device": "NVIDIA H100")"}}));
  ASSERT_THAT(Export(), IsOk());
  const Json checks = Lines("pytorch_triton.jsonl").at(1)["checks"];
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0]["status"], "close");
}

// Others wrote graph.json: what it says of licence and split is passed over.
TEST_F(GraphFilesTest, LicenceAndSplitAreThoseOfTheSource) {
  ASSERT_THAT(Export(), IsOk());
  const Json row = Lines("pytorch_triton.jsonl").at(0);
  EXPECT_EQ(row["license"], "MIT");
  EXPECT_EQ(row["split"], "train");
  EXPECT_EQ(row["category"], "cat-graphs");
}

TEST_F(GraphFilesTest, TheSameGraphWithTheSameKernelsIsADuplicate) {
  AddText("b.0/graph.py", kSameGraph);
  AddText("b.0/graph.json", kAbout);
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("pytorch_triton.jsonl");
  ASSERT_THAT(rows, SizeIs(1));
  ASSERT_THAT(rows[0]["duplicates"], SizeIs(1));
  EXPECT_EQ(rows[0]["duplicates"][0]["path"], "b.0/output_code.py");
  EXPECT_EQ(Graphs()["duplicates"], 1);
  EXPECT_EQ(Graphs()["kept_kernels"], 1);
}

TEST_F(GraphFilesTest, TheSameGraphIsADuplicateAlsoIfItsKernelRepeatsAnotherKernel) {
  clusters_.mutable_decisions(8)->set_leader(0);
  AddText("b.0/graph.py", kSameGraph);
  AddText("b.0/graph.json", kAbout);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Graphs()["rows"], 1);
  EXPECT_EQ(Graphs()["duplicates"], 1);
}

TEST_F(GraphFilesTest, AnotherGraphWithTheSameKernelsIsARowThatLeadsToTheKeptOne) {
  AddText("b.0/graph.py", "class Graph:\n    x = 2\n");
  AddText("b.0/graph.json", kAbout);
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("pytorch_triton.jsonl");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[1]["kernels"][0]["fate"], "duplicate");
  EXPECT_EQ(rows[1]["kernels"][0]["kernel_id"], Id(12));
  EXPECT_NE(rows[0]["graph_sha256"], rows[1]["graph_sha256"]);
}

TEST_F(GraphFilesTest, AWrapperWithAKernelThatIsWithheldIsLeftOut) {
  clusters_.mutable_decisions(7)->set_fate(v1::FATE_REJECTED);
  clusters_.mutable_decisions(7)->set_reason("license:GPL-3.0-only");
  clusters_.mutable_decisions(8)->set_fate(v1::FATE_KEPT);
  clusters_.mutable_decisions(8)->set_reason("");
  clusters_.mutable_decisions(8)->set_leader(8);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Graphs()["left_out"]["withheld"], 1);
  EXPECT_EQ(Graphs()["rows"], 0);
  EXPECT_THAT(warnings_, ElementsAre("1 graphs are left out: withheld"));
}

TEST_F(GraphFilesTest, ASecretThatTheJobRejectsLeavesTheGraphOut) {
  manifest_.mutable_quality()->set_secrets(v1::SENSITIVE_POLICY_REJECT);
  AddText("a.0/model.py", "KEY = 'AKIA2E0A8F3B244C9986'\n");
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Graphs()["left_out"]["sensitive"], 1);
}

TEST_F(GraphFilesTest, AnAddressIsWrittenOverIfTheJobSaysSo) {
  manifest_.mutable_quality()->set_emails(v1::SENSITIVE_POLICY_REDACT);
  AddText("a.0/model.py", "# by me@example.org\n");
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Lines("pytorch_triton.jsonl").at(0)["model_source"], "# by xx@xxxxxxx.xxx\n");
}

TEST_F(GraphFilesTest, WhatIsNoCaptureIsCountedByReason) {
  AddText("b.0/graph.py", kGraph);
  AddText("b.0/graph.json", "{");
  AddText("c.0/graph.json", kAbout);
  AddText("d.0/graph.json", kAbout);
  AddText("d.0/graph.py", kGraph);
  AddText("d.0/output_code.py", "pass\n");
  ASSERT_THAT(Export(), IsOk());
  const Json left_out = Graphs()["left_out"];
  EXPECT_EQ(left_out["not_readable"], 1);
  EXPECT_EQ(left_out["incomplete"], 1);
  EXPECT_EQ(left_out["no_kernel"], 1);
  EXPECT_EQ(Graphs()["found"], 4);
  EXPECT_EQ(Graphs()["rows"], 1);
}

TEST_F(GraphFilesTest, ASourceThatKeepsNoGraphsGivesNoRow) {
  source_->mutable_source()->clear_keep();
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Graphs(), nullptr);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(GraphFilesTest, RowsOfASourceHaveItsStrictestSplit) {
  v1::Splits splits;
  for (int i = 0; i < 9; ++i) {
    splits.add_splits(clusters_.decisions(i).fate() == v1::FATE_KEPT ? v1::SPLIT_TRAIN
                                                                     : v1::SPLIT_UNSPECIFIED);
  }
  splits.set_splits(7, v1::SPLIT_TEST);
  *manifest_.mutable_splits() = *cas::PutMessage(store_, splits);
  ASSERT_THAT(Export(), IsOk());
  const Json row = Lines("pytorch_triton.jsonl").at(0);
  EXPECT_EQ(row["split"], "test");
  EXPECT_EQ(row["kernels"][0]["split"], "test");
}

TEST(HashGraphTest, CommentsBlankLinesAndTheDocstringDoNotCount) {
  EXPECT_EQ(HashGraph(kGraph), HashGraph(kSameGraph));
  EXPECT_NE(HashGraph(kGraph), HashGraph("class Graph:\n    x = 2\n"));
  EXPECT_EQ(HashGraph("\"\"\"not closed"), HashGraph(""));
}

}  // namespace
}  // namespace kernelmill::dataset
