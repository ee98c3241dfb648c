#include "common/job/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(ParseCsv, QuotedFieldsHoldCommasQuotesAndLines) {
  const auto records = ParseCsv("a,\"b,\"\"x\"\"\"\r\n\r\n\"two\nlines\",\n,\"\"\n", "f.csv");
  ASSERT_THAT(records, IsOk());
  ASSERT_EQ(records->size(), 3u);
  EXPECT_THAT((*records)[0].fields, ElementsAre("a", "b,\"x\""));
  EXPECT_THAT((*records)[1].fields, ElementsAre("two\nlines", ""));
  EXPECT_THAT((*records)[2].fields, ElementsAre("", ""));
  EXPECT_EQ((*records)[0].line, 1);
  EXPECT_EQ((*records)[1].line, 3);
  EXPECT_EQ((*records)[2].line, 5);
}

TEST(ParseCsv, TheLastLineNeedsNoEnd) {
  const auto records = ParseCsv("a,b\nc,d", "f.csv");
  ASSERT_THAT(records, IsOk());
  ASSERT_EQ(records->size(), 2u);
  EXPECT_THAT((*records)[1].fields, ElementsAre("c", "d"));
  EXPECT_TRUE(ParseCsv("", "f.csv")->empty());
}

TEST(ParseCsv, WrongQuotesAreRefusedWithFileAndLine) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {{"a\nb\"c\"\n", "f.csv:2: a field with a quote in it"},
                {"a\n\"b\nc\n", "f.csv:2: a quote is not closed"},
                {"\"a\nb\"c\n", "f.csv:2: a comma or a line end must follow"}};
  for (const auto& c : kCases) {
    const auto records = ParseCsv(c.text, "f.csv");
    EXPECT_THAT(records, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(std::string(records.status().message()), StartsWith(c.message));
  }
}

TEST(CsvRow, QuotesWhatRfc4180Asks) {
  EXPECT_EQ(CsvRow({"prompt", "completion"}), "prompt,completion\r\n");
  EXPECT_EQ(CsvRow({"a,b", "say \"x\""}), "\"a,b\",\"say \"\"x\"\"\"\r\n");
  EXPECT_EQ(CsvRow({"line\nline", "cr\r"}), "\"line\nline\",\"cr\r\"\r\n");
  EXPECT_EQ(CsvRow({"", " x "}), "\"\", x \r\n");
}

TEST(CsvRow, IsReadAsItWasWritten) {
  const std::vector<absl::string_view> fields = {"", "a,b", "say \"x\"", "two\r\nlines", " c "};
  const auto records = ParseCsv(CsvRow(fields), "f.csv");
  ASSERT_THAT(records, IsOk());
  ASSERT_EQ(records->size(), 1u);
  EXPECT_THAT((*records)[0].fields, ::testing::ElementsAreArray(fields));
}

TEST(CsvText, UnifiesNewlinesAndKeepsIndentation) {
  EXPECT_EQ(CsvText("    a\r\n\t\tb  c\r\n"), "    a\n\t\tb  c\n");
  EXPECT_EQ(CsvText("\xff"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace kernelmill::job
