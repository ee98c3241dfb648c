#include "dataset/output/row_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

// The row that `fields` writes.
template <typename WriteFields>
std::string Row(const WriteFields& fields) {
  std::string out;
  RowWriter row(&out);
  fields(row);
  row.End();
  return out;
}

TEST(RowWriter, PutsFieldsInTheOrderOfTheirNames) {
  EXPECT_EQ(Row([](RowWriter&) {}), "{}");
  EXPECT_EQ(Row([](RowWriter& row) {
              row.Integer("b", 2);
              row.Integer("c", 3);
              row.Text("a", "1");
              row.Null("bb");
            }),
            R"({"a":"1","b":2,"bb":null,"c":3})");
}

TEST(RowWriter, AppendsToWhatIsThere) {
  std::string out = "[\n";
  RowWriter row(&out);
  row.Boolean("y", true);
  row.Boolean("x", false);
  row.End();
  EXPECT_EQ(out, "[\n{\"x\":false,\"y\":true}");
}

TEST(RowWriter, NestsListsOfStructs) {
  const std::vector<std::vector<std::string>> lists = {{"q", "p"}, {}, {"\n"}};
  EXPECT_EQ(
      Row([&](RowWriter& row) {
        row.StructList("outer", lists, [&](const std::vector<std::string>& list) {
          row.Integer("size", static_cast<int64_t>(list.size()));
          row.StructList("inner", list, [&](const std::string& text) {
            row.Text("text", text);
            row.Struct("same", [&] { row.Text("text", text); });
          });
        });
        row.TextList("first", std::vector<std::string>());
      }),
      R"({"first":[],"outer":[)"
      R"({"inner":[{"same":{"text":"q"},"text":"q"},{"same":{"text":"p"},"text":"p"}],"size":2},)"
      R"({"inner":[],"size":0},{"inner":[{"same":{"text":"\n"},"text":"\n"}],"size":1}]})");
}

TEST(RowWriter, WhatIsNotThereIsNull) {
  EXPECT_EQ(Row([](RowWriter& row) {
              row.TextOrNull("a", "");
              row.TextOrNull("b", "x");
              row.Text("c", "");
              row.LineOrNull("d", 0);
              row.LineOrNull("e", 7);
              row.NumberOrNull("f", false, 1);
              row.IntegerOrNull("g", true, 0);
              row.StructOrNull("h", false, [&] { row.Null("never"); });
              row.ExactTextOrNull("i", "");
            }),
            R"({"a":null,"b":"x","c":"","d":null,"e":7,"f":null,"g":0,"h":null,"i":null})");
}

TEST(RowWriter, NumbersAreWhatTheLibraryDumps) {
  std::vector<double> numbers = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.7,
                                 0.1 + 0.2,
                                 1e15,
                                 1e16,
                                 1e-5,
                                 123456.789,
                                 std::numeric_limits<double>::max(),
                                 std::numeric_limits<double>::denorm_min()};
  for (int i = 1; i < 2000; ++i) numbers.push_back(static_cast<double>(i) / 1999);
  for (const double number : numbers) {
    EXPECT_EQ(Row([&](RowWriter& row) { row.Number("n", number); }),
              Canonical({{"n", Number(number)}}));
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Row([&](RowWriter& row) { row.Number("n", none); }), R"({"n":null})");
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Row([&](RowWriter& row) { row.Integer("n", least); }), Canonical({{"n", least}}));
}

TEST(RowWriter, TextsAreEscapedAsTheLibraryDoes) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  for (const std::string& text : {bytes.substr(0, 128), bytes, std::string("a\xc3"),
                                  std::string("\U0001f600\"\\/"), std::string(100, '\n')}) {
    EXPECT_EQ(Row([&](RowWriter& row) {
                row.Text("t", text);
                row.TextList("l", std::vector<std::string>{text, ""});
              }),
              Canonical({{"t", Text(text)}, {"l", {Text(text), ""}}}));
  }
}

TEST(RowWriter, KeepsTheExactBytesOfTextsThatAreNotUtf8) {
  const std::vector<std::string> paths = {"good", "b\xff"};
  EXPECT_EQ(
      Row([&](RowWriter& row) {
        row.ExactText("path", "a\xff");
        row.Text("name", "\xff");
        row.StructList("pieces", paths, [&](const std::string& path) {
          row.Struct("place", [&] { row.ExactText("path", path); });
        });
        EXPECT_FALSE(row.is_utf8());
        row.NotUtf8();
      }),
      "{\"name\":\"\xef\xbf\xbd\",\"not_utf8\":[{\"base64\":\"Yf8=\",\"field\":\"/path\"},"
      "{\"base64\":\"Yv8=\",\"field\":\"/pieces/1/place/path\"}],\"path\":\"a\xef\xbf\xbd\","
      "\"pieces\":[{\"place\":{\"path\":\"good\"}},{\"place\":{\"path\":\"b\xef\xbf\xbd\"}}]}");
  EXPECT_EQ(Row([](RowWriter& row) {
              row.ExactText("path", "good");
              EXPECT_TRUE(row.is_utf8());
              row.NotUtf8();
            }),
            R"({"not_utf8":[],"path":"good"})");
}

}  // namespace
}  // namespace kernelmill::dataset
