#include "dataset/rows/row_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "dataset/output/json.h"
#include "dataset/rows/testing/test_rows.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {
namespace {

using google::protobuf::Message;

constexpr char kMessages[] = R"(
  message Inner { bytes text = 1; }
  message Outer { int64 size = 2; repeated Inner inner = 1; Inner same = 3; }
  message Row {
    int64 b = 1;
    bytes a = 2;
    bool y = 3;
    double n = 4;
    repeated string l = 5;
    repeated Outer outer = 6;
  }
  message Absent {
    bytes text = 1 [(column) = {nullable: true}];
    int64 line = 2 [(column) = {nullable: true}];
    optional int64 known = 3 [(column) = {nullable: true}];
    optional double share = 4 [(column) = {nullable: true}];
    Inner inner = 5 [(column) = {nullable: true}];
    KernelRole role = 6 [(column) = {nullable: true}];
    bytes plain = 7;
  }
  message Place { bytes path = 1 [(column) = {exact: true}]; }
  message Piece { Place place = 1; }
  message Exact {
    bytes path = 1 [(column) = {exact: true}];
    bytes name = 2;
    repeated Piece pieces = 3;
    repeated ExactBytes not_utf8 = 4;
  })";

class RowJsonTest : public ::testing::Test {
 protected:
  RowJsonTest() : rows_(kMessages, {"Row", "Absent", "Exact"}) {}

  // The row of that schema with the fields that `json` has.
  std::unique_ptr<Message> Make(size_t schema, const Json& json) {
    return TestRows::FromJson(rows_.schemas()[schema], json);
  }
  std::string Render(size_t schema, const Message& row) {
    std::string out;
    AppendRowJson(rows_.schemas()[schema], row, &out);
    return out;
  }
  std::unique_ptr<Message> New(size_t schema) {
    return std::unique_ptr<Message>(rows_.schemas()[schema].prototype->New());
  }
  static const google::protobuf::FieldDescriptor* Find(const Message& row, const char* name) {
    return row.GetDescriptor()->FindFieldByName(name);
  }
  static void SetString(const char* name, const std::string& text, Message* row) {
    row->GetReflection()->SetString(row, Find(*row, name), text);
  }

  TestRows rows_;
};

TEST_F(RowJsonTest, FieldsAreInTheOrderOfTheirNames) {
  const Json json =
      Json::parse(R"({"a":"1","b":2,"l":["q",""],"n":0.5,"outer":[)"
                  R"({"inner":[{"text":"q"},{"text":"\n"}],"same":{"text":"p"},"size":2},)"
                  R"({"inner":[],"same":{"text":""},"size":0}],"y":true})");
  EXPECT_EQ(Render(0, *Make(0, json)), json.dump());
  EXPECT_EQ(Render(0, *New(0)), R"({"a":"","b":0,"l":[],"n":0.0,"outer":[],"y":false})");
}

TEST_F(RowJsonTest, WhatIsUnsetIsNullIfTheFieldMayBe) {
  EXPECT_EQ(Render(1, *New(1)), R"({"inner":null,"known":null,"line":null,"plain":"",)"
                                R"("role":null,"share":null,"text":null})");
  const std::unique_ptr<Message> row = New(1);
  const auto& reflection = *row->GetReflection();
  SetString("text", "x", row.get());
  reflection.SetInt64(row.get(), Find(*row, "known"), 0);
  reflection.SetDouble(row.get(), Find(*row, "share"), 0);
  reflection.SetEnumValue(row.get(), Find(*row, "role"), 2);
  reflection.MutableMessage(row.get(), Find(*row, "inner"));
  EXPECT_EQ(Render(1, *row), R"({"inner":{"text":""},"known":0,"line":null,"plain":"",)"
                             R"("role":"device","share":0.0,"text":"x"})");
}

TEST_F(RowJsonTest, NumbersAreWhatTheLibraryDumps) {
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
  const std::unique_ptr<Message> row = New(0);
  for (const double number : numbers) {
    row->GetReflection()->SetDouble(row.get(), Find(*row, "n"), number);
    const std::string expected = Canonical({{"n", Number(number)}});
    EXPECT_THAT(Render(0, *row), ::testing::HasSubstr(expected.substr(1, expected.size() - 2)));
  }
  const int64_t least = std::numeric_limits<int64_t>::min();
  row->GetReflection()->SetInt64(row.get(), Find(*row, "b"), least);
  EXPECT_THAT(Render(0, *row), ::testing::HasSubstr("\"b\":-9223372036854775808,"));
}

TEST_F(RowJsonTest, TextsAreEscapedAsTheLibraryDoes) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  const std::unique_ptr<Message> row = New(0);
  for (const std::string& text : {bytes.substr(0, 128), bytes, std::string("a\xc3"),
                                  std::string("\U0001f600\"\\/"), std::string(100, '\n')}) {
    SetString("a", text, row.get());
    EXPECT_THAT(Render(0, *row),
                ::testing::StartsWith("{\"a\":" + Canonical(Text(text)) + ",\"b\""));
  }
}

TEST_F(RowJsonTest, ARowKeepsTheExactBytesOfTextsThatAreNotUtf8) {
  const std::unique_ptr<Message> row =
      Make(2, Json::parse(R"({"path":"good","name":"","pieces":[{"place":{"path":"good"}},)"
                          R"({"place":{"path":"b"}}],"not_utf8":[]})"));
  FillNotUtf8(rows_.schemas()[2], row.get());
  EXPECT_THAT(Render(2, *row), ::testing::HasSubstr("\"not_utf8\":[],"));
  SetString("path", "a\xff", row.get());
  SetString("name", "\xff", row.get());
  Message* piece = row->GetReflection()->MutableRepeatedMessage(row.get(), Find(*row, "pieces"), 1);
  Message* place = piece->GetReflection()->MutableMessage(piece, Find(*piece, "place"));
  SetString("path", "b\xff", place);
  for (int times = 0; times < 2; ++times) {
    FillNotUtf8(rows_.schemas()[2], row.get());
    EXPECT_EQ(
        Render(2, *row),
        "{\"name\":\"\xef\xbf\xbd\",\"not_utf8\":[{\"base64\":\"Yf8=\",\"field\":\"/path\"},"
        "{\"base64\":\"Yv8=\",\"field\":\"/pieces/1/place/path\"}],\"path\":\"a\xef\xbf\xbd\","
        "\"pieces\":[{\"place\":{\"path\":\"good\"}},{\"place\":{\"path\":\"b\xef\xbf\xbd\"}}]}");
  }
}

TEST(ToJson, IsOfAnyPartOfARow) {
  v1::RowTokens tokens;
  tokens.set_cl100k_base(3);
  EXPECT_EQ(ToJson(tokens), Json({{"cl100k_base", 3}, {"o200k_base", 0}}));
}

}  // namespace
}  // namespace kernelmill::dataset
