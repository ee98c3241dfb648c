#include "dataset/parquet/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::dataset {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const RowSchema kKernels = {"kernels.jsonl",
                            "",
                            {{"id", Field::Type::kInteger, ""},
                             {"split", Field::Type::kString, ""},
                             {"text", Field::Type::kString, ""}}};
const RowSchema kLedger = {"ledger.jsonl", "", {{"id", Field::Type::kInteger, ""}}};

// tests/peers/parquet_test.py has others' readers read what is written here.
class TablesTest : public ::testing::Test {
 protected:
  TablesTest() : root_(*TempDir::Create()) {}

  static std::string Row(int id, const std::string& split, const std::string& text = "x") {
    return absl::StrCat("{\"id\":", id, ",\"split\":\"", split, "\",\"text\":\"", text, "\"}\n");
  }
  std::string Path(const std::string& name) { return absl::StrCat(root_.path(), "/", name); }
  std::string Read(const std::string& name) { return ReadFile(Path(name), 1 << 24).value_or(""); }

  std::map<std::string, std::string> Written() {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(Path("data"))) {
      const std::string path = entry.path().lexically_relative(root_.path());
      if (entry.is_regular_file()) files[path] = Read(path);
    }
    return files;
  }

  TempDir root_;
};

TEST_F(TablesTest, RowsGoToTheFileOfTheirSplit) {
  ASSERT_THAT(WriteFile(Path("kernels.jsonl"),
                        absl::StrCat(Row(1, "test"), Row(2, "train", "\\\"split\\\":\\\"test\\\""),
                                     Row(3, "test"))),
              IsOk());
  ASSERT_THAT(WriteFile(Path("ledger.jsonl"), "{\"id\":1}\n"), IsOk());
  const auto tables = WriteTables(root_.path(), {kKernels, kLedger}, 2);
  ASSERT_THAT(tables, IsOk());
  ASSERT_THAT(*tables, SizeIs(2));
  const Table& kernels = tables->front();
  EXPECT_EQ(kernels.config, "kernels");
  EXPECT_EQ(kernels.rows, 3);
  EXPECT_EQ(kernels.lines.size, Read("kernels.jsonl").size());
  EXPECT_EQ(kernels.lines.sha256, Sha256Hex(Read("kernels.jsonl")));
  ASSERT_THAT(kernels.splits, SizeIs(2));
  EXPECT_EQ(kernels.splits[0].split, "train");
  EXPECT_EQ(kernels.splits[0].rows, 1);
  EXPECT_EQ(kernels.splits[1].split, "test");
  EXPECT_EQ(kernels.splits[1].rows, 2);
  ASSERT_THAT(kernels.splits[1].files, SizeIs(1));
  const WrittenFile& file = kernels.splits[1].files[0];
  EXPECT_EQ(file.path, "data/kernels/test-00000.parquet");
  const std::string bytes = Read(file.path);
  EXPECT_EQ(file.size, bytes.size());
  EXPECT_EQ(file.sha256, Sha256Hex(bytes));
  EXPECT_EQ(bytes.substr(0, 4), "PAR1");
  EXPECT_EQ(bytes.substr(bytes.size() - 4), "PAR1");
  EXPECT_EQ(tables->back().splits[0].files[0].path, "data/ledger/train-00000.parquet");
}

TEST_F(TablesTest, TheNumberOfThreadsDoesNotShow) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    const char* const split = i % 7 == 0 ? "validation" : i % 5 == 0 ? "test" : "train";
    absl::StrAppend(&lines, Row(i, split, std::string(i % 100, 'a')));
  }
  ASSERT_THAT(WriteFile(Path("kernels.jsonl"), lines), IsOk());
  const TableLimits limits = {10, 1000, 5000};
  ASSERT_THAT(WriteTables(root_.path(), {kKernels}, 1, limits), IsOk());
  const std::map<std::string, std::string> one = Written();
  EXPECT_GT(one.size(), 10);
  for (const int threads : {2, 8}) {
    fs::remove_all(Path("data"));
    ASSERT_THAT(WriteTables(root_.path(), {kKernels}, threads, limits), IsOk());
    EXPECT_EQ(Written(), one);
  }
}

TEST_F(TablesTest, AFileEndsBeforeItHasTooMuch) {
  std::string lines;
  for (int i = 0; i < 10; ++i) absl::StrAppend(&lines, Row(i, "train", std::string(100, 'a')));
  ASSERT_THAT(WriteFile(Path("kernels.jsonl"), lines), IsOk());
  const auto tables = WriteTables(root_.path(), {kKernels}, 1, {2, 1 << 20, 600});
  ASSERT_THAT(tables, IsOk());
  const SplitFiles& train = tables->front().splits[0];
  ASSERT_THAT(train.files, SizeIs(3));  // of four, four and two rows
  EXPECT_EQ(train.files[2].path, "data/kernels/train-00002.parquet");
  EXPECT_EQ(train.rows, 10);
  EXPECT_EQ(train.json_bytes, lines.size());
}

TEST_F(TablesTest, ATableWithoutRowsHasAnEmptyFile) {
  ASSERT_THAT(WriteFile(Path("kernels.jsonl"), ""), IsOk());
  const auto tables = WriteTables(root_.path(), {kKernels}, 1);
  ASSERT_THAT(tables, IsOk());
  EXPECT_EQ(tables->front().rows, 0);
  ASSERT_THAT(tables->front().splits, SizeIs(1));
  EXPECT_EQ(tables->front().splits[0].split, "train");
  EXPECT_THAT(Written(), SizeIs(1));
}

TEST_F(TablesTest, ALongLineIsReadWhole) {
  const std::string text(5 << 20, 'a');
  ASSERT_THAT(WriteFile(Path("kernels.jsonl"), Row(1, "train", text) + Row(2, "train")), IsOk());
  const auto tables = WriteTables(root_.path(), {kKernels}, 1);
  ASSERT_THAT(tables, IsOk());
  EXPECT_EQ(tables->front().rows, 2);
}

TEST_F(TablesTest, RowsThatAreNotAsTheSchemaSaysAreRefused) {
  const auto problem = [this](const std::string& lines) {
    fs::remove_all(Path("data"));
    EXPECT_THAT(WriteFile(Path("kernels.jsonl"), lines), IsOk());
    const auto tables = WriteTables(root_.path(), {kKernels}, 1);
    EXPECT_THAT(tables, StatusIs(absl::StatusCode::kInternal));
    return std::string(tables.status().message());
  };
  EXPECT_THAT(problem(Row(1, "dev")),
              HasSubstr("kernels.jsonl: a row is of a split that there is not"));
  EXPECT_THAT(problem(Row(1, "training")), HasSubstr("a split that there is not"));
  EXPECT_THAT(problem("{\"id\":1}\n"), HasSubstr("has no split"));
  EXPECT_THAT(problem("{\"id\":1,\"split\":\"train\"}\n"), HasSubstr("2 fields instead of 3"));
  EXPECT_THAT(problem("{\"id\":1"), HasSubstr("the last line has no end"));
  fs::remove(Path("kernels.jsonl"));
  EXPECT_THAT(WriteTables(root_.path(), {kKernels}, 1), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace kernelmill::dataset
