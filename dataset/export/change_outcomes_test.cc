#include "dataset/export/change_outcomes.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr v1::CompileStatus kOk = v1::COMPILE_STATUS_OK;
constexpr v1::CompileStatus kError = v1::COMPILE_STATUS_ERROR;
constexpr v1::CompileStatus kUnknown = v1::COMPILE_STATUS_UNKNOWN;

void AddResult(const std::string& target, v1::CompileStatus status, const std::string& stage,
               v1::HistoryRow::Version* version) {
  v1::KernelRow::Compile::Result* result = version->mutable_compile()->add_results();
  result->set_toolchain("triton-3.9.0");
  result->set_target(target);
  result->set_status(status);
  if (status == kOk) return;
  result->set_stage(stage);
  result->set_message("NameError: n is not defined");
  result->set_line(7);
}

v1::HistoryRow Turned(v1::CompileStatus before, v1::CompileStatus after,
                      const std::string& stage = "frontend") {
  v1::HistoryRow row;
  AddResult("cuda:90", before, stage, row.mutable_before());
  AddResult("cuda:90", after, stage, row.mutable_after());
  return row;
}

TEST(FillTurns, AnErrorThatBecomesOkIsARepairWithItsMessage) {
  v1::HistoryRow row = Turned(kError, kOk);
  AddResult("hip:gfx942", kUnknown, "", row.mutable_before());
  AddResult("hip:gfx942", kOk, "", row.mutable_after());
  FillTurns(&row);
  EXPECT_TRUE(row.repair());
  EXPECT_TRUE(row.has_breaks());
  EXPECT_FALSE(row.breaks());
  ASSERT_EQ(row.turns_size(), 1) << "unknown says nothing";
  EXPECT_EQ(row.turns(0).toolchain(), "triton-3.9.0");
  EXPECT_EQ(row.turns(0).target(), "cuda:90");
  EXPECT_EQ(row.turns(0).before(), kError);
  EXPECT_EQ(row.turns(0).after(), kOk);
  EXPECT_EQ(row.turns(0).stage(), "frontend");
  EXPECT_EQ(row.turns(0).message(), "NameError: n is not defined");
  EXPECT_EQ(row.turns(0).line(), 7);
}

TEST(FillTurns, TheReverseBreaksAndBothAreNeither) {
  v1::HistoryRow row = Turned(kOk, kError);
  FillTurns(&row);
  EXPECT_TRUE(row.breaks());
  EXPECT_FALSE(row.repair());
  EXPECT_EQ(row.turns(0).message(), "NameError: n is not defined") << "the refused side's";
  row = Turned(kOk, kError);
  AddResult("cuda:100", kError, "passes", row.mutable_before());
  AddResult("cuda:100", kOk, "", row.mutable_after());
  FillTurns(&row);
  EXPECT_FALSE(row.breaks());
  EXPECT_FALSE(row.repair());
  EXPECT_EQ(row.turns_size(), 2);
}

TEST(FillTurns, WhereNothingTurnsBothAreFalseAndWhereNobodyJudgedTheyAreUnset) {
  for (const v1::CompileStatus status : {kOk, kError}) {
    v1::HistoryRow row = Turned(status, status);
    FillTurns(&row);
    EXPECT_TRUE(row.has_repair());
    EXPECT_FALSE(row.repair());
    EXPECT_EQ(row.turns_size(), 0);
  }
  for (v1::HistoryRow row : {v1::HistoryRow(), Turned(kUnknown, kOk), Turned(kError, kOk, "limit"),
                             Turned(kOk, kError, "sandbox")}) {
    FillTurns(&row);
    EXPECT_FALSE(row.has_repair());
    EXPECT_FALSE(row.has_breaks());
  }
}

// Two shards: two kernels that were compiled in parts, and one whose compilation failed.
class VersionResultsTest : public ::testing::Test {
 protected:
  VersionResultsTest() {
    AddKernels({"a", "b"});
    AddResults("of a");
    AddResults("of b");
    source_.add_version_parts(2);
    AddKernels({"c"});
    source_.add_version_parts(0);
  }

  void AddKernels(const std::vector<std::string>& modules) {
    v1::KernelShard shard;
    for (const std::string& module : modules) shard.add_kernels()->set_module(module);
    *source_.add_version_kernels() = *cas::PutMessage(store_, shard);
  }
  void AddResults(const std::string& name) {
    v1::CompiledShard shard;
    shard.add_kernels()->set_not_attempted(name);
    *source_.add_version_compiled() = *cas::PutMessage(store_, shard);
  }
  static v1::KernelVersion Version(int64_t place, const std::string& module) {
    v1::KernelVersion version;
    version.set_compiled(place);
    version.set_module(module);
    return version;
  }

  cas::MemoryBlobStore store_;
  v1::ManifestSource source_;
};

TEST_F(VersionResultsTest, PlacesCountThroughShardsAndParts) {
  const auto results = VersionResults::Read(store_, source_);
  ASSERT_THAT(results, IsOk());
  EXPECT_EQ(results->kernels(), 2);
  EXPECT_EQ((*results->Find(Version(0, "a")))->not_attempted(), "of a");
  EXPECT_EQ((*results->Find(Version(1, "b")))->not_attempted(), "of b");
  EXPECT_EQ(*results->Find(Version(2, "c")), nullptr);
  EXPECT_EQ(*results->Find(v1::KernelVersion()), nullptr);
}

TEST_F(VersionResultsTest, AVersionOfAnotherKernelIsDamage) {
  const auto results = VersionResults::Read(store_, source_);
  ASSERT_THAT(results, IsOk());
  for (const v1::KernelVersion& version : {Version(0, "b"), Version(3, "a"), Version(-1, "a")}) {
    EXPECT_THAT(results->Find(version), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(VersionResultsTest, ResultsOfAnotherNumberOfKernelsAreDamage) {
  source_.set_version_parts(0, 1);
  EXPECT_THAT(VersionResults::Read(store_, source_), StatusIs(absl::StatusCode::kDataLoss));
  source_.set_version_parts(0, 2);
  source_.set_version_parts(1, 1);
  EXPECT_THAT(VersionResults::Read(store_, source_), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(VersionResultsTest, AJobThatDoesNotCompileHasNone) {
  const auto results = VersionResults::Read(store_, v1::ManifestSource());
  ASSERT_THAT(results, IsOk());
  EXPECT_EQ(*results->Find(Version(0, "a")), nullptr);
}

}  // namespace
}  // namespace kernelmill::dataset
