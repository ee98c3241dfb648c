#include "dataset/rows/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "dataset/rows/row_schemas.h"
#include "dataset/rows/testing/row_check.h"

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

// Run with KERNELMILL_WRITE_SCHEMAS=1 after a change of the table.
TEST(JsonSchema, TheFilesInDocsAreOfTheTable) {
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

void CheckTable(const std::string& where, const Fields& fields) {
  std::set<std::string> names;
  for (const Field& field : fields) {
    const std::string at = absl::StrCat(where, "/", field.name);
    EXPECT_TRUE(names.insert(field.name).second) << at << " stands twice";
    EXPECT_FALSE(field.description.empty()) << at;
    EXPECT_EQ(field.type == Field::Type::kStruct, !field.fields.empty()) << at;
    EXPECT_FALSE(field.list && field.nullable) << at << ": a list is empty and not null";
    CheckTable(at, field.fields);
  }
}

TEST(RowSchemas, AreSound) {
  for (const RowSchema& schema : RowSchemas()) CheckTable(schema.file, schema.fields);
}

const RowSchema kSmall = {
    "small.jsonl",
    "Rows of a test.",
    {{"text", Field::Type::kString, "a"},
     {"word", Field::Type::kString, "b", {}, {"x", "y"}, false, true},
     {"share", Field::Type::kNumber, "c", {}, {}, false, true},
     {"places", Field::Type::kStruct, "d", {{"line", Field::Type::kInteger, "e"}}, {}, true}}};

TEST(JsonSchema, IsStrictAboutFieldsTypesAndAbsence) {
  const Json schema = JsonSchema(kSmall);
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json({"text", "word", "share", "places"}));
  EXPECT_EQ(
      schema["properties"]["word"],
      Json({{"description", "b"}, {"type", {"string", "null"}}, {"enum", {"x", "y", nullptr}}}));
  EXPECT_EQ(schema["properties"]["places"]["items"]["required"], Json::array({"line"}));
}

TEST(RowProblems, NameTheFieldThatIsWrong) {
  const Json row = {{"text", ""}, {"word", nullptr}, {"share", 1.0}, {"places", {{{"line", 1}}}}};
  EXPECT_THAT(RowProblems(row, kSmall), IsEmpty());
  const auto problems = [&row](const char* key, const Json& value) {
    Json spoiled = row;
    spoiled[key] = value;
    return RowProblems(spoiled, kSmall);
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
