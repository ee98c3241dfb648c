#include "dataset/rows/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "dataset/rows/row_schema.h"
#include "dataset/rows/testing/row_check.h"
#include "dataset/rows/testing/test_rows.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// docs/schema, or where the build says that it is.
std::string SchemaFile(const RowSchema& schema) {
  const char* folder = std::getenv("KERNELMILL_SCHEMAS");
  return absl::StrCat(folder == nullptr ? "docs/schema" : folder, "/",
                      absl::StripSuffix(schema.file, ".jsonl"), ".schema.json");
}

// Run with KERNELMILL_WRITE_SCHEMAS=1 after a change of rows.proto.
TEST(JsonSchema, TheFilesInDocsAreThoseOfTheRows) {
  for (const RowSchema& schema : RowSchemas()) {
    const std::string text = Pretty(JsonSchema(schema));
    const std::string path = SchemaFile(schema);
    if (std::getenv("KERNELMILL_WRITE_SCHEMAS") != nullptr) {
      ASSERT_THAT(WriteFile(path, text), IsOk());
    }
    const auto written = ReadFile(path, 1 << 20);
    ASSERT_THAT(written, IsOk());
    EXPECT_EQ(*written, text) << path << " is out of step: KERNELMILL_WRITE_SCHEMAS=1 writes it";
  }
}

const RowSchema& SmallSchema() {
  static const TestRows& rows = *new TestRows(Json::parse(R"([
    {"file": "small.jsonl", "description": "Rows of a test.", "fields": [
      {"name": "text", "type": "string", "description": "a"},
      {"name": "word", "type": "string", "description": "b", "words": ["x", "y"], "nullable": true},
      {"name": "share", "type": "number", "description": "c", "nullable": true},
      {"name": "places", "type": "struct", "description": "d", "list": true, "fields": [
        {"name": "line", "type": "integer", "description": "e"}]}]}])"));
  return rows.schemas().front();
}

TEST(JsonSchema, IsStrictAboutFieldsTypesAndAbsence) {
  const Json schema = JsonSchema(SmallSchema());
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json({"text", "word", "share", "places"}));
  EXPECT_EQ(
      schema["properties"]["word"],
      Json({{"description", "b"}, {"type", {"string", "null"}}, {"enum", {"x", "y", nullptr}}}));
  EXPECT_EQ(schema["properties"]["places"]["items"]["required"], Json::array({"line"}));
}

TEST(RowProblems, NameTheFieldThatIsWrong) {
  const Json row = {{"text", ""}, {"word", nullptr}, {"share", 1.0}, {"places", {{{"line", 1}}}}};
  EXPECT_THAT(RowProblems(row, SmallSchema()), IsEmpty());
  const auto problems = [&row](const char* key, const Json& value) {
    Json spoiled = row;
    spoiled[key] = value;
    return RowProblems(spoiled, SmallSchema());
  };
  EXPECT_THAT(problems("text", nullptr), ElementsAre(StartsWith("/text: null")));
  EXPECT_THAT(problems("word", "z"), ElementsAre(StartsWith("/word: ")));
  EXPECT_THAT(problems("word", ""), ElementsAre(StartsWith("/word: is empty")));
  EXPECT_THAT(problems("share", 1), ElementsAre(StartsWith("/share: 1 ")));
  EXPECT_THAT(problems("places", nullptr), ElementsAre(StartsWith("/places: is no list")));
  EXPECT_THAT(problems("places", Json::array({Json::object()})),
              ElementsAre(StartsWith("/places/line: is not there")));
  EXPECT_THAT(problems("more", 1), ElementsAre(StartsWith(": has fields of its own")));
}

}  // namespace
}  // namespace kernelmill::dataset
