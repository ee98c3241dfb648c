#include "dataset/parquet/row_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/rows/testing/test_rows.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const RowSchema& Schema() {
  static const TestRows& rows = *new TestRows(Json::parse(R"([
    {"file": "rows.jsonl", "fields": [
      {"name": "text", "type": "string"},
      {"name": "line", "type": "integer", "nullable": true},
      {"name": "tags", "type": "string", "list": true},
      {"name": "place", "type": "struct", "nullable": true, "fields": [
        {"name": "share", "type": "number"}]},
      {"name": "launches", "type": "struct", "list": true, "fields": [
        {"name": "ok", "type": "boolean"},
        {"name": "names", "type": "string", "list": true}]}]}])"));
  return rows.schemas().front();
}

constexpr char kFirst[] =
    R"({"launches":[{"names":["a","b"],"ok":true},{"names":[],"ok":false}],"line":1,"place":{"share":0.0},"tags":[],"text":"x"})";
constexpr char kSecond[] = R"({"launches":[],"line":null,"place":null,"tags":["t","u"],"text":""})";

// Rows as a table's waiting file has them.
std::string Framed(const std::vector<Json>& rows) {
  std::string framed;
  for (const Json& row : rows) {
    AppendFramed(TestRows::FromJson(Schema(), row)->SerializeAsString(), &framed);
  }
  return framed;
}

std::string TwoRows() { return Framed({Json::parse(kFirst), Json::parse(kSecond)}); }

absl::StatusOr<ShreddedRows> Shredded(const Columns& columns, absl::string_view framed) {
  ShreddedRows rows;
  const absl::Status status = Shred(columns, framed, &rows);
  if (!status.ok()) return status;
  return rows;
}

absl::StatusOr<RowGroup> Encoded(const Columns& columns, absl::string_view framed) {
  return RowGroupEncoder().Encode(columns, framed);
}

TEST(Columns, AreTheFieldsThatHoldValues) {
  const Columns columns(Schema());
  ASSERT_EQ(columns.columns().size(), 6);
  const Column& names = columns.columns()[5];
  EXPECT_THAT(names.path, ElementsAre("launches", "list", "element", "names", "list", "element"));
  EXPECT_EQ(names.max_repetition, 2);
  EXPECT_EQ(names.max_definition, 2);  // an element of launches, one of names
  EXPECT_EQ(columns.columns()[0].max_definition, 0);
}

TEST(Shred, LevelsSayWhatIsMissing) {
  const Columns columns(Schema());
  const auto rows = Shredded(columns, TwoRows());
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->rows, 2);
  const auto& [text, line, tags, share, ok, names] =
      std::tie(rows->columns[0], rows->columns[1], rows->columns[2], rows->columns[3],
               rows->columns[4], rows->columns[5]);
  EXPECT_EQ(text.values, std::string("\1\0\0\0x\0\0\0\0", 9));
  EXPECT_THAT(text.definitions, IsEmpty());
  EXPECT_THAT(line.definitions, ElementsAre(1, 0));
  EXPECT_EQ(line.values, std::string("\1\0\0\0\0\0\0\0", 8));
  EXPECT_THAT(tags.definitions, ElementsAre(0, 1, 1));
  EXPECT_THAT(tags.repetitions, ElementsAre(0, 0, 1));
  EXPECT_THAT(share.definitions, ElementsAre(1, 0));
  EXPECT_EQ(ok.values, std::string("\1\0", 2));
  EXPECT_THAT(ok.repetitions, ElementsAre(0, 1, 0));
  EXPECT_THAT(names.definitions, ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(names.repetitions, ElementsAre(0, 2, 1, 0));
  EXPECT_EQ(names.value_count, 2);
}

TEST(Shred, ATextThatIsNotUtf8IsRepaired) {
  const Columns columns(Schema());
  const std::unique_ptr<google::protobuf::Message> row =
      TestRows::FromJson(Schema(), Json::parse(kSecond));
  row->GetReflection()->SetString(row.get(), row->GetDescriptor()->FindFieldByName("text"),
                                  "a\xff");
  std::string framed;
  AppendFramed(row->SerializeAsString(), &framed);
  const auto rows = Shredded(columns, framed);
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->columns[0].values, std::string("\4\0\0\0a\xef\xbf\xbd", 8));
}

TEST(Shred, WhatIsNoRowIsRefused) {
  const Columns columns(Schema());
  const std::string framed = TwoRows();
  EXPECT_THAT(Shredded(columns, absl::string_view(framed).substr(0, framed.size() - 1)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Shredded(columns, "ab"), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Shredded(columns, std::string("\2\0\0\0\xff\xff", 6)),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(RowGroupEncoder, APageIsItsLevelsAndItsValues) {
  const Columns columns(Schema());
  const auto group = Encoded(columns, TwoRows());
  ASSERT_THAT(group, IsOk());
  EXPECT_EQ(group->rows, 2);
  ASSERT_EQ(group->columns.size(), 6);
  int64_t size = 0;
  for (const ColumnChunk& chunk : group->columns) size += chunk.compressed_size;
  EXPECT_EQ(size, group->bytes.size());
  // PageHeader: data page, 14 bytes, .. compressed, 2 values, PLAIN, RLE, RLE.
  const ColumnChunk& line = group->columns[1];
  const std::string bytes =
      group->bytes.substr(group->columns[0].compressed_size, line.compressed_size);
  EXPECT_EQ(bytes.substr(0, 4), std::string("\x15\x00\x15\x1c", 4));
  const size_t frame = bytes.find("\x28\xb5\x2f\xfd");  // zstd's magic number
  ASSERT_NE(frame, std::string::npos);
  std::string page(14, '\0');
  EXPECT_EQ(ZSTD_decompress(page.data(), page.size(), bytes.data() + frame, bytes.size() - frame),
            page.size());
  EXPECT_EQ(page, std::string("\2\0\0\0\3\1", 6) + std::string("\1\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(line.nulls, 1);
  EXPECT_EQ(line.levels, 2);
}

TEST(RowGroupEncoder, RangesAreOfTheValuesThatAreThere) {
  const Columns columns(Schema());
  const auto group = Encoded(columns, TwoRows());
  ASSERT_THAT(group, IsOk());
  EXPECT_THAT(*group->columns[0].range, Pair("", "x"));
  EXPECT_THAT(*group->columns[2].range, Pair("t", "u"));
  // A zero of either sign is within the bounds.
  EXPECT_THAT(*group->columns[3].range,
              Pair(std::string("\0\0\0\0\0\0\0\x80", 8), std::string(8, '\0')));
  const auto empty = Encoded(columns, Framed({Json::parse(kSecond)}));
  ASSERT_THAT(empty, IsOk());
  EXPECT_FALSE(empty->columns[1].range.has_value());
}

TEST(RowGroupEncoder, StringsThatRepeatBecomeADictionary) {
  const Columns columns(Schema());
  std::vector<Json> rows(100, Json::parse(kSecond));
  for (size_t i = 0; i < rows.size(); ++i) rows[i]["text"] = absl::StrCat(i % 3);
  const auto group = Encoded(columns, Framed(rows));
  ASSERT_THAT(group, IsOk());
  EXPECT_TRUE(group->columns[0].dictionary);
  EXPECT_GT(group->columns[0].dictionary_size, 0);
  EXPECT_LT(group->columns[0].dictionary_size, group->columns[0].compressed_size);
  EXPECT_FALSE(group->columns[1].dictionary);
}

TEST(RowGroupEncoder, AGroupDoesNotDependOnTheGroupsBeforeIt) {
  const Columns columns(Schema());
  RowGroupEncoder encoder;
  std::vector<Json> many(100, Json::parse(kFirst));
  for (size_t i = 0; i < many.size(); ++i) many[i]["text"] = absl::StrCat("a longer text ", i);
  ASSERT_THAT(encoder.Encode(columns, Framed(many)), IsOk());
  EXPECT_THAT(encoder.Encode(columns, "ab"), StatusIs(absl::StatusCode::kDataLoss));
  const auto group = encoder.Encode(columns, TwoRows());
  ASSERT_THAT(group, IsOk());
  const auto alone = Encoded(columns, TwoRows());
  ASSERT_THAT(alone, IsOk());
  EXPECT_EQ(group->rows, 2);
  EXPECT_EQ(group->bytes, alone->bytes);
}

}  // namespace
}  // namespace kernelmill::dataset
