#include "common/json/json_strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::json {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "POINTER=TEXT" of every string, and last the error.
std::vector<std::string> Read(absl::string_view text) {
  std::vector<std::string> read;
  StringReader reader(text);
  while (reader.Next()) {
    read.push_back(
        absl::StrCat(reader.Pointer().value_or("(too long)"), "=", Unescape(reader.raw())));
  }
  if (!reader.error().empty()) read.emplace_back(reader.error());
  return read;
}

std::string Repeat(absl::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) absl::StrAppend(&out, text);
  return out;
}

TEST(StringReaderTest, StringsAreNamedByTheirPointers) {
  EXPECT_THAT(Read(R"( {"a": ["x", 1, {"b": "y"}], "c": {}, "d": [], "e": "z"} )"),
              ElementsAre("/a/0=x", "/a/2/b=y", "/e=z"));
  EXPECT_THAT(Read(R"([["p"], "q", [[], "r"]])"), ElementsAre("/0/0=p", "/1=q", "/2/1=r"));
  EXPECT_THAT(Read(R"("all")"), ElementsAre("=all"));
}

TEST(StringReaderTest, PointersEscapeWhatKeysHave) {
  EXPECT_THAT(Read(R"({"a/b": "1", "m~n": "2", "": "3", "q\"\u00e9": "4", "~1": "5"})"),
              ElementsAre("/a~1b=1", "/m~0n=2", "/=3", "/q\"\xc3\xa9=4", "/~01=5"));
}

TEST(StringReaderTest, NumbersAndWordsArePassedOver) {
  EXPECT_THAT(Read(R"([-1.5e+3, true, false, null, NaN, -Infinity, "s"])"), ElementsAre("/6=s"));
  EXPECT_THAT(Read("12"), IsEmpty());
}

TEST(StringReaderTest, BothValuesOfAKeyThatStandsTwiceAreRead) {
  EXPECT_THAT(Read(R"({"k": "1", "k": "2"})"), ElementsAre("/k=1", "/k=2"));
}

TEST(StringReaderTest, QuotesAndBackslashesDoNotEndAString) {
  EXPECT_THAT(Read(R"(["a\"b", "c\\", "d\\\"", "\\\\"])"),
              ElementsAre("/0=a\"b", "/1=c\\", "/2=d\\\"", "/3=\\\\"));
}

TEST(StringReaderTest, WhatStandsBeforeAnErrorIsRead) {
  EXPECT_THAT(Read(R"(["x", "y)"), ElementsAre("/0=x", "json_truncated"));
  EXPECT_THAT(Read(R"({"a": "x", "b")"), ElementsAre("/a=x", "json_truncated"));
  EXPECT_THAT(Read(R"(["x" "y"])"), ElementsAre("/0=x", "json_syntax"));
  EXPECT_THAT(Read(R"({"a": "x", b: "y"})"), ElementsAre("/a=x", "json_syntax"));
  EXPECT_THAT(Read(R"({"a" "x"})"), ElementsAre("json_syntax"));
  EXPECT_THAT(Read(R"(["x"}, "y"])"), ElementsAre("/0=x", "json_syntax"));
  EXPECT_THAT(Read(R"("x" "y")"), ElementsAre("=x", "json_syntax"));
  EXPECT_THAT(Read(R"(["x",])"), ElementsAre("/0=x", "json_syntax"));
  EXPECT_THAT(Read(""), ElementsAre("json_truncated"));
  EXPECT_THAT(Read("\x01"), ElementsAre("json_syntax"));
}

TEST(StringReaderTest, AnErrorIsWhereReadingEnded) {
  StringReader reader("[\"x\",\n ?]");
  while (reader.Next()) {
  }
  EXPECT_EQ(reader.position(), 7u);
  EXPECT_FALSE(reader.Next());
}

TEST(StringReaderTest, DepthIsBounded) {
  const size_t most = StringReader::kMaxDepth;
  EXPECT_THAT(Read(absl::StrCat(Repeat("[", most), "\"x\"", Repeat("]", most))),
              ElementsAre(absl::StrCat(Repeat("/0", most), "=x")));
  EXPECT_THAT(Read(absl::StrCat("[\"x\",", Repeat("[", 1000000))),
              ElementsAre("/0=x", "json_depth"));
}

TEST(StringReaderTest, PointersAreBounded) {
  const std::string key(StringReader::kMaxPointer, 'k');
  EXPECT_THAT(Read(absl::StrCat("{\"", key, "\": [\"x\"]}")),
              ElementsAre(absl::StrCat("/", key, "/0=x")));
  EXPECT_THAT(Read(absl::StrCat("{\"", key, "\": {\"k\": \"x\"}, \"a\": \"y\"}")),
              ElementsAre("(too long)=x", "/a=y"));
}

TEST(UnescapeTest, EscapesStandForCharacters) {
  EXPECT_EQ(Unescape(R"(a\n\t\"\\\/\b\f\rz)"), "a\n\t\"\\/\b\f\rz");
  EXPECT_EQ(Unescape(R"(\u0041\u00e9\u20ac\ud83d\ude00\uD83D\uDE00)"),
            "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
  EXPECT_EQ(Unescape(R"(\u0000)"), std::string(1, '\0'));
}

TEST(UnescapeTest, HalfASurrogatePairIsReplaced) {
  constexpr absl::string_view kReplaced = "\xef\xbf\xbd";
  EXPECT_EQ(Unescape(R"(\ud83d)"), kReplaced);
  EXPECT_EQ(Unescape(R"(\ude00x)"), absl::StrCat(kReplaced, "x"));
  EXPECT_EQ(Unescape(R"(\ud83d\u0041)"), absl::StrCat(kReplaced, "A"));
  EXPECT_EQ(Unescape(R"(\ud83d\ud83d\ude00)"), absl::StrCat(kReplaced, "\xf0\x9f\x98\x80"));
}

TEST(UnescapeTest, WhatIsNoEscapeStaysAsItIs) {
  EXPECT_EQ(Unescape(R"(\q\x41\u12g4\u12)"), R"(\q\x41\u12g4\u12)");
  EXPECT_EQ(Unescape("\\"), "\\");
  EXPECT_EQ(Unescape("\xff\xc3"), "\xff\xc3");
}

}  // namespace
}  // namespace kernelmill::json
