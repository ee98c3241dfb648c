#include "dataset/tasks/evidence_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// An INVALID_ARGUMENT whose message has the text.
MATCHER_P(FailsWith, text, "") {
  *result_listener << arg.status();
  return absl::IsInvalidArgument(arg.status()) && absl::StrContains(arg.status().message(), text);
}

std::string Rewrite(const std::string& json) {
  const absl::StatusOr<EvidenceValue> value = ParseEvidence(json);
  EXPECT_THAT(value, IsOk()) << json;
  return value.ok() ? Canonical(*value) : "";
}

// The texts are those of Python's json.dumps(sort_keys=True, separators=(",", ":"),
// ensure_ascii=False).
TEST(EvidenceJson, CanonicalIsAsPythonWritesIt) {
  EXPECT_EQ(Rewrite(R"({"b": [1, 2.5, null], "a": {"y": true, "x": false}})"),
            R"({"a":{"x":false,"y":true},"b":[1,2.5,null]})");
  EXPECT_EQ(Rewrite(R"(["\u001f\u0001\b\f\n\r\t\"\\\/", "\u00e9\ud83d\ude00", "\u007f"])"),
            "[\"\\u001f\\u0001\\b\\f\\n\\r\\t\\\"\\\\/\",\"\u00e9\U0001f600\",\"\x7f\"]");
  EXPECT_EQ(Rewrite("{\"\\ud83d\\ude00\": 1, \"\\uff00\": 2}"), "{\"\uff00\":2,\"\U0001f600\":1}");
}

TEST(EvidenceJson, NumbersStayAsTheyAreWritten) {
  EXPECT_EQ(Rewrite("[1e-05, 0.1, 1.0, 12345678901234567890123, -3, 18446744073709551615]"),
            "[1e-05,0.1,1.0,12345678901234567890123,-3,18446744073709551615]");
}

TEST(EvidenceJson, SkippedMembersAreThoseOfTheValueItself) {
  const absl::StatusOr<EvidenceValue> value =
      ParseEvidence(R"({"id": "x", "a": {"id": 1}, "origin": {}})");
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(Canonical(*value, {"id", "origin"}), R"({"a":{"id":1}})");
}

TEST(EvidenceJson, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", "{", "{\"a\": NaN}", "{\"a\": Infinity}", "{\"a\": -Infinity}",
                           "{\"a\": 1e999}", "[1] [2]", "{\"a\": 1, \"a\": 2}", "\"\\ud800\"",
                           "\"\xff\"", "{'a': 1}", "[1,]", "[01]", "\"\n\""}) {
    EXPECT_THAT(ParseEvidence(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(EvidenceJson, SizesAreBounded) {
  EXPECT_THAT(ParseEvidence(absl::StrCat("\"", std::string(kMaxEvidenceLine, 'a'), "\"")),
              FailsWith("bytes"));
  EXPECT_THAT(ParseEvidence(std::string(16, '[') + std::string(16, ']')), IsOk());
  EXPECT_THAT(ParseEvidence(std::string(17, '[') + std::string(17, ']')), FailsWith("levels"));
  EXPECT_THAT(ParseEvidence(std::string(kMaxEvidenceLine, '[')), FailsWith("levels"));
  std::string members = "{\"a\": 1";
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&members, ", \"", i, "\": 1");
  EXPECT_THAT(ParseEvidence(members + "}"), FailsWith("members"));
}

}  // namespace
}  // namespace kernelmill::dataset
