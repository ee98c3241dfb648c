#include "dataset/output/output_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/dataset_files.h"

namespace kernelmill::dataset {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class OutputDirTest : public ::testing::Test {
 protected:
  OutputDirTest() : root_(*TempDir::Create()), out_(root_.path() + "/out") {}

  // An export of one report whose name is `mark`.
  absl::Status Export(const std::string& mark) {
    absl::StatusOr<StagingDir> staging = StagingDir::Create(out_);
    if (!staging.ok()) return staging.status();
    const absl::Status written =
        WriteFile(absl::StrCat(staging->path(), "/", kReportFile),
                  absl::StrCat("{\"generator\":\"kernelmill\",\"name\":\"", mark, "\"}"));
    return written.ok() ? staging->Commit() : written;
  }
  std::string Report() {
    return ReadFile(absl::StrCat(out_, "/", kReportFile), 1 << 20).value_or("");
  }
  int Entries() {
    return std::distance(fs::directory_iterator(root_.path()), fs::directory_iterator());
  }

  TempDir root_;
  std::string out_;
};

TEST_F(OutputDirTest, AppearsWhenCommittedAndReplacesAnEarlierExport) {
  ASSERT_THAT(Export("one"), IsOk());
  EXPECT_THAT(Report(), ::testing::HasSubstr("one"));
  ASSERT_THAT(Export("two"), IsOk());
  EXPECT_THAT(Report(), ::testing::HasSubstr("two"));
  EXPECT_EQ(Entries(), 1);
}

TEST_F(OutputDirTest, AFolderThatCannotBeWrittenIsRefusedBeforehand) {
  EXPECT_FALSE(CheckOutputDir("/proc/kernelmill/out").ok());
  EXPECT_THAT(CheckOutputDir(out_ + "/new/folder"), IsOk());
  EXPECT_EQ(Entries(), 0);
}

TEST_F(OutputDirTest, AnAbandonedExportLeavesNothing) {
  ASSERT_THAT(Export("one"), IsOk());
  {
    absl::StatusOr<StagingDir> staging = StagingDir::Create(out_);
    ASSERT_THAT(staging, IsOk());
    ASSERT_THAT(WriteFile(staging->path() + "/kernels.jsonl", "half"), IsOk());
    EXPECT_EQ(Entries(), 2);
  }
  EXPECT_EQ(Entries(), 1);
  EXPECT_THAT(Report(), ::testing::HasSubstr("one"));
}

TEST_F(OutputDirTest, WhatAKilledExportLeftIsNotTakenOver) {
  std::string left;
  {
    absl::StatusOr<StagingDir> staging = StagingDir::Create(out_);
    ASSERT_THAT(staging, IsOk());
    left = staging->path();
  }
  ASSERT_TRUE(fs::create_directory(left));
  ASSERT_THAT(WriteFile(left + "/kernels.jsonl", "half"), IsOk());
  ASSERT_THAT(Export("one"), IsOk());
  EXPECT_FALSE(fs::exists(out_ + "/kernels.jsonl"));
  EXPECT_EQ(Entries(), 1);
}

TEST_F(OutputDirTest, SecondExportAtOnceIsRefused) {
  const absl::StatusOr<StagingDir> first = StagingDir::Create(out_);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(StagingDir::Create(out_), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(OutputDirTest, OtherPeoplesFilesAreNotReplaced) {
  fs::create_directory(out_);
  EXPECT_THAT(CheckOutputDir(out_), IsOk());
  ASSERT_THAT(WriteFile(out_ + "/kernels.jsonl", "mine"), IsOk());
  EXPECT_THAT(CheckOutputDir(out_), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Export("one"), StatusIs(absl::StatusCode::kFailedPrecondition));
  fs::remove(out_ + "/kernels.jsonl");
  ASSERT_THAT(Export("one"), IsOk());
  ASSERT_THAT(WriteFile(out_ + "/notes.txt", "mine"), IsOk());
  EXPECT_THAT(Export("two"), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(fs::exists(out_ + "/notes.txt"));
}

TEST_F(OutputDirTest, FoldersOfAnEarlierExportAreReplacedButNotWithOtherPeoplesFilesInThem) {
  ASSERT_THAT(Export("one"), IsOk());
  const std::string folder = absl::StrCat(out_, "/", kTablesFolder, "/kernels");
  ASSERT_TRUE(fs::create_directories(folder));
  ASSERT_THAT(WriteFile(folder + "/train-00000.parquet", "rows"), IsOk());
  ASSERT_THAT(Export("two"), IsOk());
  EXPECT_FALSE(fs::exists(folder));
  ASSERT_TRUE(fs::create_directories(folder));
  ASSERT_THAT(WriteFile(folder + "/notes.txt", "mine"), IsOk());
  const absl::Status refused = Export("three");
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("data/kernels/notes.txt"));
  EXPECT_TRUE(fs::exists(folder + "/notes.txt"));
  fs::remove(folder + "/notes.txt");
  fs::create_symlink("/etc", folder + "/link.parquet");
  EXPECT_THAT(CheckOutputDir(out_), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(OutputDirTest, ARelativePathIsTakenFromTheWorkingDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(root_.path());
  out_ = "out/";
  const absl::Status exported = Export("one");
  fs::current_path(before);
  ASSERT_THAT(exported, IsOk());
  EXPECT_TRUE(fs::exists(root_.path() + "/out/" + kReportFile));
  EXPECT_EQ(Entries(), 1);
}

TEST_F(OutputDirTest, AFileIsNoDirectory) {
  ASSERT_THAT(WriteFile(out_, "x"), IsOk());
  EXPECT_THAT(CheckOutputDir(out_), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(CheckOutputDir("/"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckOutputDir(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::dataset
