#include "dataset/output/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::dataset {
namespace {

TEST(Canonical, SortsKeysAndLeavesNoBlanks) {
  const Json json = {{"b", {1, 2}}, {"a", nullptr}, {"\u00e9", true}, {"B", Json::object()}};
  EXPECT_EQ(Canonical(json), "{\"B\":{},\"a\":null,\"b\":[1,2],\"\u00e9\":true}");
}

TEST(Canonical, EscapesOnlyWhatMustBe) {
  EXPECT_EQ(Canonical(Json("\"\\/\n\t\x01 \u2028\x7f")), "\"\\\"\\\\/\\n\\t\\u0001 \u2028\x7f\"");
}

TEST(Canonical, IsWhatTheLibraryDumps) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  std::string ascii = bytes.substr(0, 128);
  const Json values = {ascii,
                       bytes,
                       "",
                       "a\xc3",
                       "\xed\xa0\x80",
                       "\U0001f600",
                       -1,
                       18446744073709551615u,
                       1e300,
                       Json::array(),
                       {{"k\n", {{"", nullptr}}}, {ascii, false}}};
  EXPECT_EQ(Canonical(values), values.dump(-1, ' ', false, Json::error_handler_t::replace));
}

TEST(Canonical, NumbersOfAColumnAreOfOneType) {
  EXPECT_EQ(Canonical(Number(1)), "1.0");
  EXPECT_EQ(Canonical(Number(-0.0)), "0.0");
  EXPECT_EQ(Canonical(Number(0.7)), "0.7");
  EXPECT_EQ(Canonical(Number(0.1 + 0.2)), "0.30000000000000004");
}

TEST(SetText, AddsTheExactBytesWhereTextIsNotUtf8) {
  Json json = Json::object();
  SetText(json, "/path", "good");
  EXPECT_EQ(Canonical(json), R"({"path":"good"})");
  SetText(json, "/launcher/text", "a\xff");
  EXPECT_EQ(Canonical(json),
            "{\"launcher\":{\"text\":\"a\xef\xbf\xbd\"},"
            "\"not_utf8\":[{\"base64\":\"Yf8=\",\"field\":\"/launcher/text\"}],\"path\":\"good\"}");
}

}  // namespace
}  // namespace kernelmill::dataset
