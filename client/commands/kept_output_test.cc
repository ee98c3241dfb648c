#include "client/commands/kept_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KeptOutputTest : public ::testing::Test {
 protected:
  KeptOutputTest() : dir_(*TempDir::Create()) {
    WriteReport(R"({"generator": "kernelmill", "sources": [
      {"repository": "a", "kernels": {"kept": 3}, "training_files": {"kept": 0}},
      {"repository": "b", "kernels": {"kept": 2}, "training_files": {"kept": 5}},
      {"repository": "none", "kernels": {"kept": 0}, "training_files": {"kept": 0}}]})");
    for (const char* name : {"a", "b", "none"}) AddSource(name);
    SetKept(9);
  }

  void WriteReport(const std::string& text) {
    ASSERT_THAT(WriteFile(dir_.path() + "/report.json", text), IsOk());
  }
  void AddSource(const std::string& name) { job_.lock.add_sources()->set_name(name); }
  void SetKept(int64_t kept) {
    job_.status.clear_counters();
    v1::Counter* counter = job_.status.add_counters();
    counter->set_name("dataset.kept");
    counter->set_value(kept);
  }
  void AddFailure(const std::string& source, const std::string& stage, const std::string& path) {
    v1::Failure& failure = job_.failures.emplace_back();
    failure.set_source(source);
    failure.set_stage(stage);
    failure.set_path(path);
  }
  LostKernels Find() { return FindLostKernels(dir_.path(), job_).value(); }

  TempDir dir_;
  FinishedJobResult job_;
};

TEST_F(KeptOutputTest, WithoutFailuresNothingIsLost) {
  EXPECT_EQ(Find().kernels, 0);
  AddFailure("", "manifest", "gates.min_kept");
  EXPECT_EQ(Find().kernels, 0);
}

TEST_F(KeptOutputTest, AnEmptyDatasetReplacesNone) {
  SetKept(0);
  EXPECT_EQ(Find().kernels, 10);
  EXPECT_TRUE(Find().new_is_empty);
  WriteReport(R"({"generator": "kernelmill", "sources": []})");
  EXPECT_EQ(Find().kernels, 0);
}

TEST_F(KeptOutputTest, AFailedSourceLosesWhatItKeptBefore) {
  AddFailure("none", "fetch", "");
  EXPECT_EQ(Find().kernels, 0);
  AddFailure("b", "pin", "");
  EXPECT_EQ(Find().kernels, 7);
  EXPECT_THAT(Find().sources, ElementsAre("b"));
}

TEST_F(KeptOutputTest, AnotherVersionOfAPackageIsTheSameSource) {
  WriteReport(R"({"sources": [{"repository": "liger==0.6.2", "kernels": {"kept": 3}}]})");
  job_.lock.clear_sources();
  AddSource("liger==0.6.3");
  EXPECT_EQ(Find().kernels, 0);
  AddFailure("liger==0.6.3", "fetch", "");
  EXPECT_EQ(Find().kernels, 3);
  EXPECT_THAT(Find().sources, ElementsAre("liger==0.6.2"));
}

// A row of a ledger.
std::string Row(const std::string& source, const std::string& name, const std::string& text,
                const std::string& fate = "kept", const std::string& reason = "") {
  return nlohmann::json{{"id", text},      {"repository", source}, {"path", "k.py"},
                        {"sha256", text},  {"qualname", name},     {"fate", fate},
                        {"reason", reason}}
             .dump() +
         "\n";
}

class EarlierOutputTest : public ::testing::Test {
 protected:
  EarlierOutputTest() : dir_(*TempDir::Create()) {
    dataset_.set_hash(std::string(64, 'a'));
    dataset_.set_size_bytes(1);
    EXPECT_THAT(WriteFile(dir_.path() + "/report.json", "{}"), IsOk());
  }
  void WriteLedger(const std::string& rows) {
    ASSERT_THAT(WriteFile(dir_.path() + "/ledger.jsonl", rows), IsOk());
  }
  std::vector<LostFromSource> FindLost(const std::string& before, const std::string& now) {
    WriteLedger(before);
    const EarlierOutput earlier = EarlierOutput::Read(dir_.path(), dataset_).value();
    WriteLedger(now);
    return earlier.FindLost(dir_.path()).value();
  }

  TempDir dir_;
  cas::Digest dataset_;
};

TEST_F(EarlierOutputTest, ANewVersionThatLosesKernelsIsNamedWithReasons) {
  const auto lost = FindLost(Row("liger==1", "a", "1") + Row("liger==1", "b", "2") +
                                 Row("liger==1", "c", "3") + Row("liger==1", "d", "4"),
                             Row("liger==2", "a", "1 changed") + Row("other", "moved", "2") +
                                 Row("liger==2", "c", "3", "rejected", "license:GPL-3.0-only"));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].source, "liger==1");
  EXPECT_EQ(lost[0].before, 4);
  EXPECT_EQ(lost[0].lost, 2);
  EXPECT_THAT(lost[0].reasons, ElementsAre(std::pair("no longer found", 1),
                                           std::pair("now rejected: license:GPL-3.0-only", 1)));
}

TEST_F(EarlierOutputTest, ASourceThatIsGoneLosesAllAndComesFirst) {
  const auto lost =
      FindLost(Row("a", "x", "1") + Row("b", "y", "2") + Row("b", "z", "3"), Row("a", "w", "4"));
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(lost[0].source, "b");
  EXPECT_EQ(lost[0].reasons.begin()->first, "the source has no kernels now");
}

TEST_F(EarlierOutputTest, TheSameDatasetAndAnEmptyFolderLoseNothing) {
  EXPECT_THAT(FindLost(Row("a", "x", "1"), Row("a", "x", "1")), IsEmpty());
  const TempDir empty = *TempDir::Create();
  EXPECT_THAT(EarlierOutput::Read(empty.path(), dataset_)->FindLost(empty.path()).value(),
              IsEmpty());
  ASSERT_THAT(WriteFile(dir_.path() + "/report.json",
                        absl::StrCat(R"({"dataset": ")", cas::ToString(dataset_), R"("})")),
              IsOk());
  EXPECT_THAT(FindLost(Row("a", "x", "1"), ""), IsEmpty());
}

TEST_F(KeptOutputTest, FilesThatFailLoseNoSource) {
  AddFailure("a", "fetch", "big.py");
  AddFailure("a", "extract", "");
  EXPECT_THAT(Find().sources, IsEmpty());
}

TEST_F(KeptOutputTest, AnEmptyDatasetWithFailuresLosesEverything) {
  SetKept(0);
  AddFailure("a", "extract", "");
  EXPECT_THAT(Find().sources, ElementsAre("a", "b"));
}

TEST_F(KeptOutputTest, AFailedSearchMayHaveFoundWhatIsMissing) {
  job_.lock.clear_sources();
  AddSource("b");
  AddFailure("another", "pin", "");
  EXPECT_THAT(Find().sources, IsEmpty()) << "the job file no longer names a";
  AddFailure("search", "discover", "");
  EXPECT_THAT(Find().sources, ElementsAre("a"));
}

TEST_F(KeptOutputTest, AFolderWithoutAReportHoldsNothing) {
  AddFailure("a", "fetch", "");
  WriteReport("no JSON");
  EXPECT_EQ(Find().kernels, 0);
  EXPECT_EQ(FindLostKernels(dir_.path() + "/missing", job_)->kernels, 0);
}

}  // namespace
}  // namespace kernelmill::client
