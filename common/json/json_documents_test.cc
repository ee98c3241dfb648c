#include "common/json/json_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::json {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "BEGIN POINTER TEXT" of every document.
std::vector<std::string> Split(absl::string_view path, absl::string_view text) {
  std::vector<std::string> found;
  Documents documents(path, text);
  Document document;
  while (documents.Next(&document)) {
    found.push_back(absl::StrCat(document.begin, " ", document.pointer, " ", document.text));
  }
  return found;
}

TEST(DocumentsTest, AJsonFileIsOneDocument) {
  EXPECT_THAT(Split("a.json", "{\n}\n"), ElementsAre("0  {\n}\n"));
  EXPECT_THAT(Split("a.json", "[1]\n\n"), ElementsAre("0  [1]\n\n"));
  EXPECT_THAT(Split("a.json", ""), IsEmpty());
}

TEST(DocumentsTest, AJsonlFileHasOneALine) {
  EXPECT_THAT(Split("a.jsonl", "{}\n\n \r\n[1]\r\n?"),
              ElementsAre("0 /1 {}", "7 /4 [1]\r", "12 /5 ?"));
  EXPECT_THAT(Split("a.jsonl", "{}"), ElementsAre("0 /1 {}"));
}

TEST(DocumentsTest, AJsonFileOfAValueALineIsReadSo) {
  EXPECT_THAT(Split("a.json", "{}\n[1]\n"), ElementsAre("0 /1 {}", "3 /2 [1]"));
  EXPECT_THAT(Split("a.json", "{\n[1]\n"), ElementsAre("0  {\n[1]\n"));
}

TEST(DocumentsTest, AJsonlFileThatIsOneValueIsReadSo) {
  EXPECT_THAT(Split("a.jsonl", "[\n{}\n]\n"), ElementsAre("0  [\n{}\n]\n"));
  EXPECT_THAT(Split("a.jsonl", "[\n{}\n"), ElementsAre("0 /1 [", "2 /2 {}"));
}

TEST(DocumentsTest, AByteOrderMarkIsLeftOut) {
  EXPECT_THAT(Split("a.json", "\xef\xbb\xbf{}"), ElementsAre("3  {}"));
  EXPECT_THAT(Split("a.jsonl", "\xef\xbb\xbf{}\n[]"), ElementsAre("3 /1 {}", "6 /2 []"));
}

TEST(DocumentsTest, PathsAreToldByTheirExtension) {
  EXPECT_TRUE(IsJsonPath("data/a.json"));
  EXPECT_TRUE(IsJsonPath("data/a.jsonl"));
  EXPECT_FALSE(IsJsonPath("json.py"));
  EXPECT_FALSE(IsJsonPath("a.json.py"));
}

}  // namespace
}  // namespace kernelmill::json
