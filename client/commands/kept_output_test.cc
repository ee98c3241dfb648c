#include "client/commands/kept_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "common/base/file.h"
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
