#include "dataset/rows/row_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/dataset_files.h"
#include "dataset/training/change_conversations.h"
#include "dataset/training/conversations.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const Field& FindField(const Fields& fields, absl::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name) return field;
  }
  ADD_FAILURE() << "there is no " << name;
  return fields.front();
}

void CheckFields(const std::string& where, const Fields& fields) {
  for (const Field& field : fields) {
    const std::string at = absl::StrCat(where, "/", field.name);
    EXPECT_FALSE(field.description.empty()) << at;
    EXPECT_EQ(field.type == Field::Type::kStruct, !field.fields.empty()) << at;
    EXPECT_FALSE(field.list && field.nullable) << at << ": a list is empty and not null";
    EXPECT_FALSE(field.list && field.exact) << at << ": not_utf8 names no elements of lists";
    if (field.descriptor->has_optional_keyword()) EXPECT_TRUE(field.nullable) << at;
    if (field.exact) {
      EXPECT_EQ(field.descriptor->type(), google::protobuf::FieldDescriptor::TYPE_BYTES) << at;
    }
    CheckFields(at, field.fields);
  }
}

TEST(RowSchemas, EveryFieldHasADescriptionAndOptionsThatFitItsType) {
  for (const RowSchema& schema : RowSchemas()) {
    EXPECT_FALSE(schema.description.empty()) << schema.file;
    CheckFields(schema.file, schema.fields);
  }
}

TEST(RowSchemas, ARowWithExactTextsHasNotUtf8) {
  for (const RowSchema& schema : RowSchemas()) {
    bool exact = false;
    for (const Field& field : schema.fields) exact |= field.has_exact;
    EXPECT_EQ(exact, schema.not_utf8 != nullptr) << schema.file;
  }
}

TEST(RowSchemas, HaveTheFilesThatTheConstantsName) {
  std::vector<std::string> files;
  for (const RowSchema& schema : RowSchemas()) files.push_back(schema.file);
  EXPECT_THAT(files, ElementsAre(kKernelsFile, kFimRowsFile, kInstructFile, kPairsFile,
                                 kParallelFile, kWholeFilesFile, kIrFile, kReferencesFile,
                                 kHistoryFile, kTasksFile, kGraphsFile, kLedgerFile, kNoticesFile));
}

TEST(RowSchemas, TheWordsOfAnEnumAreItsNamesWithoutTheFirst) {
  const Fields& fields = GetSchema<v1::KernelRow>().fields;
  EXPECT_THAT(FindField(fields, "role").words, ElementsAre("kernel", "device", "host"));
  EXPECT_THAT(FindField(FindField(fields, "pieces").fields, "kind").words,
              ElementsAre("import", "constant", "function", "class"));
  EXPECT_THAT(FindField(FindField(fields, "checks").fields, "parses").words,
              ElementsAre("pass", "fail", "exempt"));
}

// A check of Checks is in rows once CheckOutcomes has it.
TEST(RowSchemas, ChecksAreThoseOfTheValidator) {
  const google::protobuf::Descriptor& checks = *v1::Checks::descriptor();
  const Fields& outcomes = FindField(GetSchema<v1::KernelRow>().fields, "checks").fields;
  ASSERT_EQ(outcomes.size(), checks.field_count());
  for (int i = 0; i < checks.field_count(); ++i) {
    const Field& outcome = outcomes[static_cast<size_t>(i)];
    EXPECT_EQ(outcome.name, checks.field(i)->name());
    EXPECT_EQ(outcome.nullable, job::IsCompilerCheck(outcome.name)) << outcome.name;
  }
}

TEST(RowSchemas, TemplatesAreThoseOfTheConversations) {
  std::vector<std::string> names = TemplateNames();
  names.insert(names.end(), ChangeTemplateNames().begin(), ChangeTemplateNames().end());
  EXPECT_THAT(FindField(GetSchema<v1::InstructRow>().fields, "template").words,
              ElementsAreArray(names));
}

TEST(DatasetFiles, AreEachListedOnceAndDescribed) {
  std::set<std::string> names;
  for (const DatasetFile& file : DatasetFiles()) {
    EXPECT_TRUE(names.insert(file.name).second) << file.name;
    EXPECT_STRNE(file.description, "") << file.name;
  }
}

TEST(DatasetFiles, AreAllInTheDocumentation) {
  const char* folder = std::getenv("KERNELMILL_DOCS");
  const auto page =
      ReadFile(absl::StrCat(folder == nullptr ? "docs" : folder, "/dataset.md"), 1 << 20);
  ASSERT_THAT(page, IsOk());
  for (const DatasetFile& file : DatasetFiles()) {
    EXPECT_THAT(*page, HasSubstr(absl::StrCat("`", file.name))) << "is not in docs/dataset.md";
  }
}

}  // namespace
}  // namespace kernelmill::dataset
