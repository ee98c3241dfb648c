#include "dataset/parquet/row_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "dataset/parquet/shredder.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const Fields kFields = {
    {"text", Field::Type::kString, "a"},
    {"line", Field::Type::kInteger, "b", {}, {}, false, true},
    {"tags", Field::Type::kString, "c", {}, {}, true},
    {"place", Field::Type::kStruct, "d", {{"share", Field::Type::kNumber, "e"}}, {}, false, true},
    {"launches",
     Field::Type::kStruct,
     "f",
     {{"ok", Field::Type::kBoolean, "g"}, {"names", Field::Type::kString, "h", {}, {}, true, true}},
     {},
     true}};
constexpr char kFirst[] =
    R"({"launches":[{"names":["a",null],"ok":true},{"names":[],"ok":false}],"line":1,"place":{"share":0.0},"tags":[],"text":"x"})";
constexpr char kSecond[] = R"({"launches":[],"line":null,"place":null,"tags":["t","u"],"text":""})";

std::string Lines() { return absl::StrCat(kFirst, "\n", kSecond, "\n"); }

TEST(Columns, AreTheFieldsThatHoldValues) {
  const Columns columns(kFields);
  ASSERT_EQ(columns.columns().size(), 6);
  const Column& names = columns.columns()[5];
  EXPECT_THAT(names.path, ElementsAre("launches", "list", "element", "names", "list", "element"));
  EXPECT_EQ(names.max_repetition, 2);
  EXPECT_EQ(names.max_definition, 3);  // an element of launches, one of names, which is not null
  EXPECT_EQ(columns.columns()[0].max_definition, 0);
}

TEST(Shred, LevelsSayWhatIsMissing) {
  const Columns columns(kFields);
  const auto rows = Shred(columns, Lines());
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
  EXPECT_THAT(names.definitions, ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(names.repetitions, ElementsAre(0, 2, 1, 0));
  EXPECT_EQ(names.value_count, 1);
}

std::string ProblemOf(const std::string& row) {
  const Columns columns(kFields);
  const auto rows = Shred(columns, absl::StrCat(row, "\n"));
  EXPECT_THAT(rows, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(rows.status().message());
}

std::string Replaced(const std::string& what, const std::string& by) {
  std::string row = kSecond;
  return row.replace(row.find(what), what.size(), by);
}

TEST(Shred, WhatIsNotAsItsFieldSaysIsNamed) {
  EXPECT_THAT(ProblemOf("{"), HasSubstr("{: "));
  EXPECT_THAT(ProblemOf("[]"), HasSubstr("is no object"));
  EXPECT_THAT(ProblemOf(Replaced("\"line\":null,", "")), HasSubstr("has 4 fields instead of 5"));
  EXPECT_THAT(ProblemOf(Replaced("line", "lime")), HasSubstr("/line is not there"));
  EXPECT_THAT(ProblemOf(Replaced("\"line\":null", "\"line\":1.5")),
              HasSubstr("/line is of another type"));
  EXPECT_THAT(ProblemOf(Replaced("\"text\":\"\"", "\"text\":null")),
              HasSubstr("/text is of another type"));
  EXPECT_THAT(ProblemOf(Replaced("[\"t\",\"u\"]", "null")), HasSubstr("/tags is no list"));
  EXPECT_THAT(ProblemOf(Replaced("\"launches\":[]", "\"launches\":[{\"names\":[1],\"ok\":true}]")),
              HasSubstr("/launches/names is of another type"));
}

TEST(EncodeRowGroup, APageIsItsLevelsAndItsValues) {
  const Columns columns(kFields);
  const auto group = EncodeRowGroup(columns, Lines());
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
  const size_t frame = bytes.find("\x28\xb5\x2f\xfd");  // of zstd
  ASSERT_NE(frame, std::string::npos);
  std::string page(14, '\0');
  EXPECT_EQ(ZSTD_decompress(page.data(), page.size(), bytes.data() + frame, bytes.size() - frame),
            page.size());
  EXPECT_EQ(page, std::string("\2\0\0\0\3\1", 6) + std::string("\1\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(line.nulls, 1);
  EXPECT_EQ(line.levels, 2);
}

TEST(EncodeRowGroup, RangesAreOfTheValuesThatAreThere) {
  const Columns columns(kFields);
  const auto group = EncodeRowGroup(columns, Lines());
  ASSERT_THAT(group, IsOk());
  EXPECT_THAT(*group->columns[0].range, Pair("", "x"));
  EXPECT_THAT(*group->columns[2].range, Pair("t", "u"));
  // A zero of either sign is within the bounds.
  EXPECT_THAT(*group->columns[3].range,
              Pair(std::string("\0\0\0\0\0\0\0\x80", 8), std::string(8, '\0')));
  const auto empty = EncodeRowGroup(columns, absl::StrCat(kSecond, "\n"));
  ASSERT_THAT(empty, IsOk());
  EXPECT_FALSE(empty->columns[1].range.has_value());
}

TEST(EncodeRowGroup, StringsThatRepeatBecomeADictionary) {
  const Columns columns(kFields);
  std::string lines;
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&lines, Replaced("\"text\":\"\"", absl::StrCat("\"text\":\"", i % 3, "\"")),
                    "\n");
  }
  const auto group = EncodeRowGroup(columns, lines);
  ASSERT_THAT(group, IsOk());
  EXPECT_TRUE(group->columns[0].dictionary);
  EXPECT_GT(group->columns[0].dictionary_size, 0);
  EXPECT_LT(group->columns[0].dictionary_size, group->columns[0].compressed_size);
  EXPECT_FALSE(group->columns[1].dictionary);
}

}  // namespace
}  // namespace kernelmill::dataset
