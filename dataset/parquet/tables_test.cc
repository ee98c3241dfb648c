#include "dataset/parquet/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/rows/testing/test_rows.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kSchemas[] = R"([
  {"file": "kernels.jsonl", "fields": [
    {"name": "id", "type": "integer"},
    {"name": "split", "type": "string"},
    {"name": "text", "type": "string"}]},
  {"file": "ledger.jsonl", "fields": [{"name": "id", "type": "integer"}]}])";

// tests/peers/parquet_test.py has others' readers read what is written here.
class TablesTest : public ::testing::Test {
 protected:
  TablesTest() : root_(*TempDir::Create()), rows_(Json::parse(kSchemas)) {}

  const RowSchema& kernels() const { return rows_.schemas()[0]; }
  const RowSchema& ledger() const { return rows_.schemas()[1]; }

  std::unique_ptr<google::protobuf::Message> Row(int id, const std::string& split,
                                                 const std::string& text = "x") {
    return TestRows::FromJson(kernels(), {{"id", id}, {"split", split}, {"text", text}});
  }

  // Starts the tables of one schema or both anew.
  TableWriter Start(const TableLimits& limits = {}) {
    fs::remove_all(root_.path());
    fs::create_directory(root_.path());
    auto writer = TableWriter::Create(root_.path(), rows_.schemas(), limits);
    EXPECT_THAT(writer, IsOk());
    return *std::move(writer);
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
  TestRows rows_;
};

TEST_F(TablesTest, RowsGoToTheFileOfTheirSplit) {
  TableWriter writer = Start();
  ASSERT_THAT(writer.Append(Row(1, "test").get()), IsOk());
  RenderedRows rows;
  rows.Add(kernels(), Row(2, "train", "\"split\":\"test\"").get());
  rows.Add(kernels(), Row(3, "test").get());
  ASSERT_THAT(writer.Append(*kernels().prototype->GetDescriptor(), rows), IsOk());
  ASSERT_THAT(writer.Append(TestRows::FromJson(ledger(), {{"id", 1}}).get()), IsOk());
  const auto tables = writer.Finish(2);
  ASSERT_THAT(tables, IsOk());
  ASSERT_THAT(*tables, SizeIs(2));
  const Table& kernels = tables->front();
  EXPECT_EQ(kernels.config, "kernels");
  EXPECT_EQ(kernels.rows, 3);
  EXPECT_EQ(Read("kernels.jsonl"),
            "{\"id\":1,\"split\":\"test\",\"text\":\"x\"}\n"
            "{\"id\":2,\"split\":\"train\",\"text\":\"\\\"split\\\":\\\"test\\\"\"}\n"
            "{\"id\":3,\"split\":\"test\",\"text\":\"x\"}\n");
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

TEST_F(TablesTest, ATableWithoutRowsHasNoLines) {
  TableWriter writer = Start();
  ASSERT_THAT(writer.Append(Row(1, "train").get()), IsOk());
  EXPECT_EQ(writer.CountRows(), (std::map<std::string, int64_t>{{"kernels", 1}, {"ledger", 0}}));
  ASSERT_THAT(writer.Finish(1), IsOk());
  EXPECT_TRUE(fs::exists(Path("kernels.jsonl")));
  EXPECT_FALSE(fs::exists(Path("ledger.jsonl")));
  EXPECT_TRUE(fs::exists(Path("data/ledger/train-00000.parquet")));
}

// Readers guess types by the first lines.
TEST_F(TablesTest, LinesThatShowATypeComeFirst) {
  const TestRows rows(Json::parse(R"([{"file": "kernels.jsonl", "fields": [
    {"name": "id", "type": "integer"}, {"name": "late", "type": "string", "nullable": true},
    {"name": "inner", "type": "struct",
     "fields": [{"name": "list", "type": "string", "list": true}]}]}])"));
  const RowSchema& schema = rows.schemas()[0];
  auto writer = TableWriter::Create(root_.path(), rows.schemas());
  ASSERT_THAT(writer, IsOk());
  const auto add = [&](Json row) {
    ASSERT_THAT(writer->Append(TestRows::FromJson(schema, row).get()), IsOk());
  };
  for (int i = 0; i < 200; ++i) {
    add({{"id", i}, {"late", nullptr}, {"inner", {{"list", Json::array()}}}});
  }
  add({{"id", 200}, {"late", "x"}, {"inner", {{"list", Json::array()}}}});
  add({{"id", 201}, {"late", nullptr}, {"inner", {{"list", {"y"}}}}});
  add({{"id", 202}, {"late", "long"}, {"inner", {{"list", {"long"}}}}});
  const auto first = writer->EndLines(*schema.prototype->GetDescriptor());
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(*first, ElementsAre(200, 201));
  const auto tables = writer->Finish(2);
  ASSERT_THAT(tables, IsOk());
  const std::string text = Read("kernels.jsonl");
  std::vector<int> ids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) ids.push_back(Json::parse(line).at("id"));
  ASSERT_THAT(ids, SizeIs(203));
  EXPECT_THAT(std::vector<int>(ids.begin(), ids.begin() + 4), ElementsAre(200, 201, 0, 1));
  EXPECT_THAT(std::vector<int>(ids.end() - 2, ids.end()), ElementsAre(199, 202));
  EXPECT_EQ(tables->front().lines.size, text.size());
  EXPECT_EQ(tables->front().lines.sha256, Sha256Hex(text));
}

TEST_F(TablesTest, TheNumberOfThreadsDoesNotShow) {
  const TableLimits limits = {10, 1000, 2500, 5000};
  std::map<std::string, std::string> one;
  for (const int threads : {1, 2, 8}) {
    TableWriter writer = Start(limits);
    for (int i = 0; i < 1000; ++i) {
      const char* const split = i % 7 == 0 ? "validation" : i % 5 == 0 ? "test" : "train";
      ASSERT_THAT(writer.Append(Row(i, split, std::string(i % 100, 'a')).get()), IsOk());
    }
    ASSERT_THAT(writer.Finish(threads), IsOk());
    if (threads == 1) one = Written();
    EXPECT_GT(one.size(), 10);
    EXPECT_EQ(Written(), one);
  }
}

// A later version of a dataset shares most files with this one.
TEST_F(TablesTest, ARowMoreChangesFewFiles) {
  const auto write = [this](int begin, int inserted) {
    TableWriter writer = Start({.group_rows = 10, .group_bytes = 1000, .mean_file_bytes = 2000});
    for (int i = begin; i < 1000; ++i) {
      EXPECT_THAT(writer.Append(Row(i, "train", std::string(i % 100, 'a')).get()), IsOk());
      if (i == inserted) EXPECT_THAT(writer.Append(Row(5000, "train").get()), IsOk());
    }
    std::set<std::string> digests;
    const auto tables = writer.Finish(1);
    EXPECT_THAT(tables, IsOk());
    for (const WrittenFile& file : tables->front().splits[0].files) digests.insert(file.sha256);
    EXPECT_EQ(tables->front().splits[0].rows, 1000 - begin + (inserted >= 0 ? 1 : 0));
    return digests;
  };
  const std::set<std::string> before = write(0, -1);
  EXPECT_GT(before.size(), 20);
  // A row before all others, in the middle, and one that is gone.
  for (const auto& [begin, inserted] : {std::pair(0, 0), {0, 500}, {1, -1}}) {
    std::set<std::string> changed;
    for (const std::string& digest : write(begin, inserted)) {
      if (!before.contains(digest)) changed.insert(digest);
    }
    EXPECT_THAT(changed, SizeIs(::testing::Le(2)));
  }
}

// How rows come, one by one or together, makes no difference either.
TEST_F(TablesTest, AFileEndsBeforeItHasTooMuch) {
  TableWriter writer = Start({2, 1 << 20, 1 << 30, 600});
  RenderedRows rows;
  for (int i = 0; i < 7; ++i) rows.Add(kernels(), Row(i, "train", std::string(100, 'a')).get());
  ASSERT_THAT(writer.Append(*kernels().prototype->GetDescriptor(), rows), IsOk());
  for (int i = 7; i < 10; ++i) {
    ASSERT_THAT(writer.Append(Row(i, "train", std::string(100, 'a')).get()), IsOk());
  }
  const auto tables = writer.Finish(1);
  ASSERT_THAT(tables, IsOk());
  const SplitFiles& train = tables->front().splits[0];
  ASSERT_THAT(train.files, SizeIs(3));  // with four, four and two rows
  EXPECT_EQ(train.files[2].path, "data/kernels/train-00002.parquet");
  EXPECT_EQ(train.rows, 10);
  EXPECT_EQ(train.json_bytes, Read("kernels.jsonl").size());
}

TEST_F(TablesTest, ATableWithoutRowsHasAnEmptyFile) {
  const auto tables = Start().Finish(1);
  ASSERT_THAT(tables, IsOk());
  EXPECT_EQ(tables->front().rows, 0);
  ASSERT_THAT(tables->front().splits, SizeIs(1));
  EXPECT_EQ(tables->front().splits[0].split, "train");
  EXPECT_THAT(Written(), SizeIs(2));
}

TEST_F(TablesTest, ALongRowIsWrittenWhole) {
  TableWriter writer = Start();
  ASSERT_THAT(writer.Append(Row(1, "train", std::string(5 << 20, 'a')).get()), IsOk());
  ASSERT_THAT(writer.Append(Row(2, "train").get()), IsOk());
  const auto tables = writer.Finish(1);
  ASSERT_THAT(tables, IsOk());
  EXPECT_EQ(tables->front().rows, 2);
}

TEST_F(TablesTest, RowsOfNoFileOrSplitAreRefused) {
  TableWriter writer = Start();
  const absl::Status split = writer.Append(Row(1, "training").get());
  EXPECT_THAT(split, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(split.message(), HasSubstr("the unknown split \"training\""));
  v1::RowTokens other;
  const absl::Status file = writer.Append(&other);
  EXPECT_THAT(file, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(file.message(), HasSubstr("RowTokens is not a row of a file"));
}

}  // namespace
}  // namespace kernelmill::dataset
