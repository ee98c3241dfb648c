#include "dataset/export/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/base/hash.h"
#include "common/job/job_file.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/testing/export_fixture.h"
#include "dataset/training/conversations.h"

namespace kernelmill::dataset {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ExporterTest, KeptKernelsAreSortedBySourcePathAndLine) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Strings(Lines("kernels.jsonl"), "id"), ElementsAre(Id(3), Id(1), Id(6)));
}

TEST_F(ExporterTest, AMatchOfNoHoldoutIsDataLoss) {
  clusters_.mutable_decisions(3)->mutable_contamination(0)->set_holdout(1);
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ExporterTest, ExamplesAreOfKeptKernelsWithWhatATrainerSelectsBy) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(File("fim_sft.csv"),
            absl::StrCat("prompt,completion,id,license,weight,category,split\r\n",
                         "\"@triton.jit\ndef load1(x):\n\",\"", kBody, "\",", Id(1),
                         ",MIT,0.5,cat-a,train\r\n"));
}

TEST_F(ExporterTest, AGapIsCutOutOfEveryExample) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("fim.jsonl");
  EXPECT_THAT(Strings(rows, "id"), ElementsAre(Id(1)));
  const auto text = [&](const char* field) { return rows[0][field].get<std::string>(); };
  EXPECT_EQ(text("prefix") + text("middle") + text("suffix"), text("prompt") + text("completion"));
  EXPECT_EQ(text("sha1"), Lines("kernels.jsonl")[1]["fim_sha1"]);
}

TEST_F(ExporterTest, InstructionsAreCountedByTemplate) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Strings(Lines("instruct.jsonl"), "template"), ElementsAre("complete"));
  EXPECT_EQ(Canonical(Json::parse(File("report.json"))["instruct"]), R"({"complete":1})");
}

TEST_F(ExporterTest, NoQuestionHasTwoAnswersAndNoAnswerTwoQuestions) {
  clusters_.mutable_decisions(4)->Clear();  // its text is that of the first, with other line ends
  clusters_.mutable_decisions(4)->set_fate(v1::FATE_KEPT);
  clusters_.mutable_decisions(4)->set_leader(4);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Lines("kernels.jsonl").size(), 4u);
  EXPECT_THAT(Strings(Lines("instruct.jsonl"), "id"), ElementsAre(Id(1)));
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["instruct"]["complete"], 1);
  EXPECT_EQ(report["instruct_excluded"]["complete"]["repeated_question"], 1);
}

TEST_F(ExporterTest, EveryKernelHasARowOrAReasonByTemplate) {
  ASSERT_THAT(Export(), IsOk());
  const Json report = Json::parse(File("report.json"));
  for (const std::string& name : TemplateNames()) {
    const Json excluded = report["instruct_excluded"].value(name, Json::object());
    int64_t all = report["instruct"].value(name, 0);
    for (const auto& [reason, count] : excluded.items()) {
      all += count.get<int64_t>();
    }
    EXPECT_EQ(all, report["kernels"]["kept"]) << name;
  }
}

TEST_F(ExporterTest, AMixDrawsFromTheRowsOfTrain) {
  v1::Splits splits;
  for (const v1::Decision& decision : clusters_.decisions()) {
    splits.add_splits(decision.fate() == v1::FATE_KEPT ? v1::SPLIT_TRAIN : v1::SPLIT_UNSPECIFIED);
  }
  splits.set_splits(5, v1::SPLIT_TEST);
  *manifest_.mutable_splits() = *cas::PutMessage(store_, splits);
  v1::MixPhase* phase = manifest_.mutable_mix()->add_phases();
  phase->set_name("warm-up");
  phase->add_parts()->set_epochs(3);
  v1::MixPart* examples = phase->add_parts();
  examples->set_config("fim");
  examples->set_epochs(1);
  ASSERT_THAT(Export(), IsOk());
  const Json mix = Json::parse(File("mix.json"))["phases"][0];
  EXPECT_EQ(mix["parts"][0]["rows"], 2) << "the third kernel is of the test";
  EXPECT_EQ(mix["parts"][1]["rows"], 1);
  EXPECT_EQ(mix["samples"], 7);
  EXPECT_THAT(warnings_, ElementsAre()) << "three epochs are not too many";
  EXPECT_EQ(mix["index"], "mix/01-warm-up.npy");
  EXPECT_EQ(File("mix/01-warm-up.npy").size() % 64, 7 * 8 % 64);
  manifest_.mutable_mix()->set_max_epochs(2);
  ASSERT_THAT(Export(), IsOk()) << "in the place of the earlier one";
  EXPECT_THAT(warnings_, ElementsAre(::testing::HasSubstr("mix: phase warm-up, part 1: ")));
}

TEST_F(ExporterTest, RowsNameTheSplitThatTheDatasetHas) {
  v1::Splits splits;
  for (const v1::Decision& decision : clusters_.decisions()) {
    splits.add_splits(decision.fate() == v1::FATE_KEPT ? v1::SPLIT_TRAIN : v1::SPLIT_UNSPECIFIED);
  }
  splits.set_splits(5, v1::SPLIT_TEST);
  *manifest_.mutable_splits() = *cas::PutMessage(store_, splits);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Strings(Lines("kernels.jsonl"), "split"), ElementsAre("train", "train", "test"));
}

TEST_F(ExporterTest, SplitsOfAnotherNumberOfKernelsAreDataLoss) {
  v1::Splits splits;
  splits.add_splits(v1::SPLIT_TRAIN);
  *manifest_.mutable_splits() = *cas::PutMessage(store_, splits);
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ExporterTest, AnyNumberOfThreadsWritesTheSameBytes) {
  request_.threads = 1;
  ASSERT_THAT(Export(), IsOk());
  const std::map<std::string, std::string> one = AllFiles();
  for (const int threads : {2, 7}) {
    request_.threads = threads;
    ASSERT_THAT(Export(), IsOk());
    EXPECT_EQ(AllFiles(), one);
  }
}

TEST_F(ExporterTest, KernelsWithoutAnExampleAreCountedByReason) {
  ASSERT_THAT(Export(), IsOk());
  for (const Json& record : Lines("kernels.jsonl")) {
    EXPECT_EQ(record["fim_sha1"].is_null(), record["id"] != Id(1));
    EXPECT_EQ(record["fim_excluded"], record["id"] == Id(1) ? Json() : Json("trivial"));
  }
  EXPECT_EQ(Canonical(Json::parse(File("report.json"))["fim"]),
            R"({"excluded":{"trivial":2},"rows":1})");
}

TEST_F(ExporterTest, ExamplesThatAreEqualOnceNormalizedStandOnce) {
  // Kernel 5 is kernel 1 with other line ends.
  clusters_.mutable_decisions(4)->set_fate(v1::FATE_KEPT);
  clusters_.mutable_decisions(4)->set_leader(4);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Lines("kernels.jsonl").size(), 4u);
  const std::vector<std::string> parts = absl::StrSplit(File("fim_sft.csv"), "tl.store");
  EXPECT_EQ(parts.size(), 2u);
  EXPECT_EQ(Canonical(Json::parse(File("report.json"))["fim"]),
            R"({"excluded":{"repeat":1,"trivial":2},"rows":1})");
}

TEST_F(ExporterTest, FunctionsAreFencedAsPython) {
  ASSERT_THAT(Export(), IsOk());
  const Json functions = Json::parse(File("triton_functions.json"));
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[2]["input"],
            "```python\nimport triton\n\n@triton.jit\r\ndef load6(x):\r\n    g\n```");
}

TEST_F(ExporterTest, TheLockFileIsTheLock) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(File("job.lock.yaml"), job::JobFileYaml(request_.lock));
}

TEST_F(ExporterTest, ExportingTwiceGivesTheSameBytesInItsPlace) {
  ASSERT_THAT(Export(), IsOk());
  const auto first = AllFiles();
  EXPECT_EQ(first.size(), 30u);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(AllFiles(), first);
  request_.out_dir = root_.path() + "/elsewhere/deep";
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(AllFiles(), first);
}

TEST_F(ExporterTest, AnInterruptedExportLeavesTheFolderAsItIs) {
  request_.is_interrupted = [] { return true; };
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(fs::is_empty(root_.path()));
  // Asked once more, just before the folder is replaced.
  int asked = 0;
  request_.is_interrupted = [&] { return ++asked == 3; };
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(fs::is_empty(root_.path()));
}

TEST_F(ExporterTest, ALedgerThatDoesNotAddUpIsNotExported) {
  clusters_.mutable_decisions()->RemoveLast();
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_TRUE(fs::is_empty(root_.path()));
}

TEST_F(ExporterTest, ADuplicateOfNothingIsNotExported) {
  clusters_.mutable_decisions(4)->set_leader(1);
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(fs::is_empty(root_.path()));
}

// A worker, or a poisoned cache, may put any text under a genuine path.
TEST_F(ExporterTest, ADatasetThatLiesIsNotExportedAndTheRecordIsNamed) {
  for (const int source : {0, 2}) {  // a holdout's too
    SCOPED_TRACE(source);
    cas::Digest& digest = *manifest_.mutable_sources(source)->mutable_kernels(0);
    const cas::Digest truth = digest;
    auto shard = *cas::GetMessage<v1::KernelShard>(store_, truth);
    v1::Kernel& kernel = *shard.mutable_kernels(0);
    kernel.mutable_source()->replace(0, 1, "#");
    kernel.set_sha256(Sha256Hex(kernel.source()));
    digest = *cas::PutMessage(store_, shard);
    const absl::Status status = Export();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(source == 0 ? "source 0: \"https://example.org/a\": \"z.py\": line 9"
                                      : "source 2: \"https://example.org/h\": \"h.py\": line 1"));
    EXPECT_TRUE(fs::is_empty(root_.path()));
    digest = truth;
  }
}

TEST_F(ExporterTest, AnIdIsNoWorkersToSay) {
  cas::Digest& digest = *manifest_.mutable_sources(0)->mutable_kernels(0);
  auto shard = *cas::GetMessage<v1::KernelShard>(store_, digest);
  shard.mutable_kernels(1)->set_id(std::string(32, 'a'));
  digest = *cas::PutMessage(store_, shard);
  const absl::Status status = Export();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("\"b.py\": line 1, kernel \"load2\": its id"));
}

TEST_F(ExporterTest, ATreeOfAnotherRepositoryIsNotExported) {
  *manifest_.mutable_sources(0)->mutable_tree() = manifest_.sources(1).tree();
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(fs::is_empty(root_.path()));
}

TEST_F(ExporterTest, ADatasetThatDoesNotNameItsFilesCannotBeChecked) {
  manifest_.mutable_sources(1)->clear_files();
  const absl::Status status = Export();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernelmill retry JOB"));
}

TEST_F(ExporterTest, ALostBlobLeavesTheEarlierExportAsItWas) {
  ASSERT_THAT(Export(), IsOk());
  const auto before = AllFiles();
  *manifest_.mutable_sources(1)->mutable_kernels(0) = cas::ComputeDigest("gone");
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(AllFiles(), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace kernelmill::dataset
