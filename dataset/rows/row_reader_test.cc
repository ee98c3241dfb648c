#include "dataset/rows/row_reader.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "dataset/rows/row_json.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A folder of a dataset, removed with the object.
class Folder {
 public:
  Folder() : path_(::testing::TempDir() + "row_reader_test") {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  void Write(const std::string& file, const std::string& text) const {
    ASSERT_THAT(WriteFile(path_ + "/" + file, text), IsOk());
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Sets every field of a message, and two elements of every list.
void FillAll(const Fields& fields, int seed, Message* row) {
  const Reflection& reflection = *row->GetReflection();
  for (const Field& field : fields) {
    const FieldDescriptor* const at = field.descriptor;
    if (field.name == kNotUtf8) continue;  // FillNotUtf8 fills it
    ++seed;
    for (int i = 0; i < (field.list ? 2 : 1); ++i) {
      const std::string text = absl::StrCat("\"text\" \\ \n\t\u20ac ", seed, " ", i);
      switch (at->cpp_type()) {
        case FieldDescriptor::CPPTYPE_STRING:
          field.list ? reflection.AddString(row, at, text) : reflection.SetString(row, at, text);
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          ASSERT_FALSE(field.list);
          reflection.SetEnumValue(row, at, at->enum_type()->value(1)->number());
          break;
        case FieldDescriptor::CPPTYPE_INT32:
          ASSERT_FALSE(field.list) << at->full_name() << ": RowReader reads no list of integers";
          reflection.SetInt32(row, at, seed);
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          ASSERT_FALSE(field.list) << at->full_name() << ": RowReader reads no list of integers";
          reflection.SetInt64(row, at, int64_t{1} << 40);
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          ASSERT_FALSE(field.list) << at->full_name() << ": RowReader reads no list of numbers";
          reflection.SetDouble(row, at, seed + 0.1);
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          ASSERT_FALSE(field.list) << at->full_name() << ": RowReader reads no list of booleans";
          reflection.SetBool(row, at, true);
          break;
        case FieldDescriptor::CPPTYPE_MESSAGE:
          FillAll(field.fields, seed,
                  field.list ? reflection.AddMessage(row, at) : reflection.MutableMessage(row, at));
          break;
        default:
          FAIL() << at->full_name() << " is of a type that rows do not have";
      }
    }
  }
}

TEST(RowReaderTest, ReadsWhatTheWriterWroteForEveryKindOfRow) {
  for (const RowSchema& schema : RowSchemas()) {
    const std::unique_ptr<Message> row(schema.prototype->New());
    FillAll(schema.fields, 1, row.get());
    std::string line;
    AppendRowJson(schema, *row, &line);
    const std::unique_ptr<Message> read(schema.prototype->New());
    ASSERT_THAT(ParseRow(line, schema, read.get()), IsOk()) << schema.file;
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*row, *read)) << schema.file;
  }
}

TEST(RowReaderTest, ARowOfNullsAndEmptyListsIsAnEmptyMessage) {
  for (const RowSchema& schema : RowSchemas()) {
    const std::unique_ptr<Message> row(schema.prototype->New());
    std::string line;
    AppendRowJson(schema, *row, &line);
    const std::unique_ptr<Message> read(schema.prototype->New());
    ASSERT_THAT(ParseRow(line, schema, read.get()), IsOk()) << schema.file;
    std::string again;
    AppendRowJson(schema, *read, &again);
    EXPECT_EQ(again, line);
  }
}

TEST(RowReaderTest, GivesEachRowItsPlaceAndReadsItAgain) {
  const Folder folder;
  folder.Write("notices.jsonl",
               "{\"repository\":\"a\",\"path\":\"x\"}\n{\"repository\":\"b\",\"path\":null}\n");
  std::vector<std::string> repositories;
  std::vector<int64_t> offsets;
  EXPECT_THAT(ForEachRow<v1::NoticeRow>(folder.path(), {},
                                        [&](const v1::NoticeRow& row, const RowPlace& place) {
                                          repositories.push_back(row.repository());
                                          offsets.push_back(place.offset);
                                          return absl::OkStatus();
                                        }),
              IsOk());
  EXPECT_THAT(repositories, ElementsAre("a", "b"));
  EXPECT_THAT(offsets, ElementsAre(0, 30));
  absl::StatusOr<RowReader> reader = RowReader::Open(folder.path(), GetSchema<v1::NoticeRow>());
  ASSERT_THAT(reader, IsOk());
  v1::NoticeRow row;
  ASSERT_THAT(reader->ReadAt(offsets[1], &row), IsOk());
  EXPECT_EQ(row.repository(), "b");
  EXPECT_THAT(reader->ReadAt(7, &row), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(RowReaderTest, ReadsTheNamedFieldsAlone) {
  const Folder folder;
  folder.Write("notices.jsonl", "{\"repository\":\"a\",\"path\":\"x\",\"text\":\"t\"}\n");
  EXPECT_THAT(ForEachRow<v1::NoticeRow>(folder.path(), {.fields = {"path"}},
                                        [&](const v1::NoticeRow& row, const RowPlace&) {
                                          EXPECT_EQ(row.repository(), "");
                                          EXPECT_EQ(row.path(), "x");
                                          EXPECT_EQ(row.text(), "");
                                          return absl::OkStatus();
                                        }),
              IsOk());
}

TEST(RowReaderTest, OlderAndNewerDatasetsAreRead) {
  const auto row = ParseRow<v1::KernelRow>(
      "{\"id\":\"0\",\"dsl\":\"a language of tomorrow\",\"field_of_tomorrow\":[1]}");
  ASSERT_THAT(row, IsOk());
  EXPECT_EQ(row->dsl(), "a language of tomorrow");
  EXPECT_EQ(row->source(), "");
}

TEST(RowReaderTest, AFileThatTheReportSaysHasNoRowsMayBeMissing) {
  const Folder folder;
  folder.Write("report.json", R"({"rows": {"notices": 0, "kernels": 3}})");
  int rows = 0;
  EXPECT_THAT(ForEachRow<v1::NoticeRow>(folder.path(), {},
                                        [&](const v1::NoticeRow&, const RowPlace&) {
                                          ++rows;
                                          return absl::OkStatus();
                                        }),
              IsOk());
  EXPECT_EQ(rows, 0);
  for (const char* const report : {R"({"rows": {"kernels": 0}})", "{}", "[]", "x"}) {
    folder.Write("report.json", report);
    EXPECT_THAT(RowReader::Open(folder.path(), GetSchema<v1::LedgerRow>()),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(RowReader::Open(folder.path(), GetSchema<v1::KernelRow>()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(RowReaderTest, OneErrorForAMissingAnEmptyAndAForeignFile) {
  const Folder folder;
  const auto read = [&folder] {
    return ForEachRow<v1::KernelRow>(
        folder.path(), {.require_rows = true},
        [](const v1::KernelRow&, const RowPlace&) { return absl::OkStatus(); });
  };
  const auto refuses = [](const absl::Status& status, const std::string& what) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr(absl::StrCat(what, "; the folder must hold a dataset that kernelmill exported")));
  };
  refuses(read(), "kernels.jsonl: No such file or directory");
  folder.Write("kernels.jsonl", "");
  refuses(read(), "kernels.jsonl: has no rows");
  folder.Write("kernels.jsonl", "{\"id\":\"1\"}\n{\"name\":\"not a kernel\"}\n");
  refuses(read(), "kernels.jsonl:2: not a row of kernels.jsonl");
  folder.Write("kernels.jsonl", "id,source\n");
  refuses(read(), "kernels.jsonl:1: not a row of kernels.jsonl");
  folder.Write("kernels.jsonl",
               "{\"id\":\"1\",\"license\":{\"found\":[{\"first_line\":\"x\"}]}}\n");
  refuses(read(),
          "not a row of kernels.jsonl: /license/found/first_line: must be an "
          "integer");
}

TEST(RowReaderTest, ALineThatIsTooLongIsAnErrorWithItsNumber) {
  const Folder folder;
  folder.Write("kernels.jsonl",
               absl::StrCat("{\"id\":\"1\"}\n{\"id\":\"", std::string(100, 'a'), "\"}\n"));
  const auto read = [&folder](size_t most) {
    return ForEachRow<v1::KernelRow>(
        folder.path(), {.max_line_bytes = most},
        [](const v1::KernelRow&, const RowPlace&) { return absl::OkStatus(); });
  };
  EXPECT_THAT(read(109), IsOk());
  EXPECT_THAT(read(108), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(read(108).message()),
              HasSubstr("kernels.jsonl:2: the line must have at most 108 bytes"));
}

}  // namespace
}  // namespace kernelmill::dataset
