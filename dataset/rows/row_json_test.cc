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

constexpr char kSchemas[] = R"([
  {"file": "rows.jsonl", "fields": [
    {"name": "b", "type": "integer"},
    {"name": "a", "type": "string"},
    {"name": "y", "type": "boolean"},
    {"name": "n", "type": "number"},
    {"name": "l", "type": "string", "list": true},
    {"name": "outer", "type": "struct", "list": true, "fields": [
      {"name": "size", "type": "integer"},
      {"name": "inner", "type": "struct", "list": true, "fields": [
        {"name": "text", "type": "string"}]},
      {"name": "same", "type": "struct", "fields": [{"name": "text", "type": "string"}]}]}]},
  {"file": "exact.jsonl", "fields": [
    {"name": "path", "type": "string", "exact": true},
    {"name": "name", "type": "string"},
    {"name": "pieces", "type": "struct", "list": true, "fields": [
      {"name": "place", "type": "struct", "fields": [
        {"name": "path", "type": "string", "exact": true}]}]},
    {"name": "not_utf8", "type": "struct", "list": true, "fields": [
      {"name": "field", "type": "string"},
      {"name": "base64", "type": "string"}]}]}])";

class RowJsonTest : public ::testing::Test {
 protected:
  RowJsonTest() : rows_(Json::parse(kSchemas)) {}

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
  v1::KernelRow::Compile::Result result;
  Json json = ToJson(result);
  for (const char* const name : {"signature", "stage", "message", "line", "registers"}) {
    EXPECT_EQ(json.at(name), nullptr) << name;
  }
  EXPECT_EQ(json.at("toolchain"), "");
  EXPECT_EQ(json.at("limited"), false);
  EXPECT_EQ(json.at("forms"), Json::array());
  result.set_signature(0);
  result.set_registers(0);
  result.set_stage("passes");
  result.set_line(0);  // a field without presence: 0 says that it is unknown
  result.set_status(v1::COMPILE_STATUS_OK);
  json = ToJson(result);
  EXPECT_EQ(json.at("signature"), 0);
  EXPECT_EQ(json.at("registers"), 0);
  EXPECT_EQ(json.at("stage"), "passes");
  EXPECT_EQ(json.at("line"), nullptr);
  EXPECT_EQ(json.at("status"), "ok");
  v1::LedgerRow row;
  EXPECT_EQ(ToJson(row).at("role"), nullptr);
  EXPECT_EQ(ToJson(row).at("json_pointer"), nullptr);
  row.set_role(v1::KERNEL_ROLE_DEVICE);
  row.set_json_pointer("");
  EXPECT_EQ(ToJson(row).at("role"), "device");
  EXPECT_EQ(ToJson(row).at("json_pointer"), "");
  v1::PairRow pair;
  EXPECT_EQ(ToJson(pair).at("signals"), nullptr);
  pair.mutable_signals();
  EXPECT_EQ(Canonical(ToJson(pair).at("signals")),
            R"({"names":null,"operations":null,"parameters":null})");
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
      Make(1, Json::parse(R"({"path":"good","name":"","pieces":[{"place":{"path":"good"}},)"
                          R"({"place":{"path":"b"}}],"not_utf8":[]})"));
  FillNotUtf8(rows_.schemas()[1], row.get());
  EXPECT_THAT(Render(1, *row), ::testing::HasSubstr("\"not_utf8\":[],"));
  SetString("path", "a\xff", row.get());
  SetString("name", "\xff", row.get());
  Message* piece = row->GetReflection()->MutableRepeatedMessage(row.get(), Find(*row, "pieces"), 1);
  Message* place = piece->GetReflection()->MutableMessage(piece, Find(*piece, "place"));
  SetString("path", "b\xff", place);
  for (int times = 0; times < 2; ++times) {
    FillNotUtf8(rows_.schemas()[1], row.get());
    EXPECT_EQ(
        Render(1, *row),
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
