#include "dataset/rows/row_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/json.h"

// Reads the .jsonl files of an export back into row messages, along the row schema. Keys that this
// version does not know are skipped, and fields that the line does not have stay unset, so that
// exports of other versions can be read. Errors name the file, the line and the field.
namespace kernelmill::dataset {
namespace {

namespace dom = simdjson::dom;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMostReportBytes = 256 << 20;
constexpr char kNotADataset[] = "; the folder must hold a dataset that kernelmill exported";
constexpr char kWithoutLines[] =
    "; the version was published without JSON lines: publish it with --json-lines, or use the "
    "exported folder; `kernelmill diff` and Python's kernelmill.load() read its Parquet files";

absl::Status WrongType(const Field& field, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("/", field.name, ": must be ", wanted));
}

// A linear search: a message has a few dozen fields.
const Field* FindField(const Fields& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

// Returns the number of an enum's word; 0, which is unspecified, if this version does not know it.
int GetEnumNumber(const Field& field, std::string_view word) {
  const auto found = std::find(field.enum_words.begin(), field.enum_words.end(), word);
  return found == field.enum_words.end() ? 0 : static_cast<int>(found - field.enum_words.begin());
}

// A word of an enum that this version does not know becomes unspecified.
absl::Status SetText(dom::element value, const Field& field, Message* row) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return WrongType(field, "a text");
  const Reflection& reflection = *row->GetReflection();
  if (!field.enum_words.empty()) {
    const int number = GetEnumNumber(field, text);
    if (field.list) {
      reflection.AddEnumValue(row, field.descriptor, number);
    } else {
      reflection.SetEnumValue(row, field.descriptor, number);
    }
  } else if (field.list) {
    reflection.AddString(row, field.descriptor, std::string(text));
  } else {
    reflection.SetString(row, field.descriptor, std::string(text));
  }
  return absl::OkStatus();
}

// No row has a list of numbers or of booleans: rows.proto's test holds that.
absl::Status SetInteger(dom::element value, const Field& field, Message* row) {
  int64_t number;
  if (value.get(number) != simdjson::SUCCESS) return WrongType(field, "an integer");
  const Reflection& reflection = *row->GetReflection();
  if (field.descriptor->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    reflection.SetInt64(row, field.descriptor, number);
    return absl::OkStatus();
  }
  const auto small = static_cast<int32_t>(number);
  if (small != number) return WrongType(field, "an integer of 32 bits");
  reflection.SetInt32(row, field.descriptor, small);
  return absl::OkStatus();
}

absl::Status SetNumber(dom::element value, const Field& field, Message* row) {
  double number;
  if (value.get(number) != simdjson::SUCCESS) return WrongType(field, "a number");
  row->GetReflection()->SetDouble(row, field.descriptor, number);
  return absl::OkStatus();
}

absl::Status SetBoolean(dom::element value, const Field& field, Message* row) {
  bool truth;
  if (value.get(truth) != simdjson::SUCCESS) return WrongType(field, "true or false");
  row->GetReflection()->SetBool(row, field.descriptor, truth);
  return absl::OkStatus();
}

absl::Status SetFields(const dom::object& object, const Fields& fields,
                       const std::vector<bool>& wanted, Message* row);

// Puts the struct's name before an error's, so that errors have a whole pointer.
absl::Status SetStruct(dom::element value, const Field& field, Message* row) {
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return WrongType(field, "an object");
  const Reflection& reflection = *row->GetReflection();
  Message* const inner = field.list ? reflection.AddMessage(row, field.descriptor)
                                    : reflection.MutableMessage(row, field.descriptor);
  absl::Status status = SetFields(object, field.fields, {}, inner);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("/", field.name, status.message()));
}

// Sets the field to the value, or adds the value to a list.
absl::Status SetValue(dom::element value, const Field& field, Message* row) {
  switch (field.type) {
    case Field::Type::kString:
      return SetText(value, field, row);
    case Field::Type::kInteger:
      return SetInteger(value, field, row);
    case Field::Type::kNumber:
      return SetNumber(value, field, row);
    case Field::Type::kBoolean:
      return SetBoolean(value, field, row);
    case Field::Type::kStruct:
      return SetStruct(value, field, row);
  }
  return absl::OkStatus();
}

// null leaves the field unset.
absl::Status SetField(dom::element value, const Field& field, Message* row) {
  if (!field.list) return value.is_null() ? absl::OkStatus() : SetValue(value, field, row);
  dom::array elements;
  if (value.get(elements) != simdjson::SUCCESS) return WrongType(field, "a list");
  for (const dom::element element : elements) RETURN_IF_ERROR(SetValue(element, field, row));
  return absl::OkStatus();
}

// Sets the fields of a message from an object. `wanted`: by the place of a field; empty: all.
absl::Status SetFields(const dom::object& object, const Fields& fields,
                       const std::vector<bool>& wanted, Message* row) {
  for (const dom::key_value_pair pair : object) {
    const Field* const field = FindField(fields, pair.key);
    if (field == nullptr) continue;
    if (!wanted.empty() && !wanted[static_cast<size_t>(field - fields.data())]) continue;
    RETURN_IF_ERROR(SetField(pair.value, *field, row));
  }
  return absl::OkStatus();
}

}  // namespace

// Parses lines; its buffers serve one line after another.
struct RowReader::Parser {
  explicit Parser(const RowSchema& schema, const std::vector<std::string>& fields = {})
      : schema(schema), key(schema.prototype->GetDescriptor()->FindFieldByNumber(1)->name()) {
    if (fields.empty()) return;
    for (const Field& field : schema.fields) {
      wanted.push_back(std::find(fields.begin(), fields.end(), field.name) != fields.end());
    }
  }

  // The JSON parser may read, though not use, some bytes after the line: `line` has them meanwhile.
  absl::Status Parse(std::string* line, Message* row) {
    row->Clear();
    const size_t size = line->size();
    line->resize(size + simdjson::SIMDJSON_PADDING);
    dom::element element;
    const simdjson::error_code error =
        json.parse(line->data(), size, /*realloc_if_needed=*/false).get(element);
    line->resize(size);
    dom::object object;
    if (error != simdjson::SUCCESS || element.get(object) != simdjson::SUCCESS ||
        object.at_key(key).error() != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(absl::StrCat("not a row of ", schema.file));
    }
    absl::Status status = SetFields(object, schema.fields, wanted, row);
    if (status.ok()) return status;
    return absl::InvalidArgumentError(
        absl::StrCat("not a row of ", schema.file, ": ", status.message()));
  }

  const RowSchema& schema;
  const std::string& key;    // the field with number 1, which every row of every version has
  std::vector<bool> wanted;  // by the place of a field in the schema; empty: all
  dom::parser json;
};

namespace {

// Says whether report.json has 0 rows for the file, which then is not written.
bool IsWithoutRows(const std::string& dataset, const RowSchema& schema) {
  const absl::StatusOr<std::string> text =
      ReadFile(absl::StrCat(dataset, "/", kReportFile), kMostReportBytes);
  if (!text.ok()) return false;
  const Json report = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const auto rows = report.is_object() ? report.find("rows") : report.end();
  if (rows == report.end() || !rows->is_object()) return false;
  const auto count = rows->find(std::string(absl::StripSuffix(schema.file, ".jsonl")));
  return count != rows->end() && *count == 0;
}

bool IsPublished(const std::string& dataset) {
  return std::filesystem::exists(absl::StrCat(dataset, "/PUBLICATION.json"));
}

}  // namespace

// INVALID_ARGUMENT: the file is missing, and report.json does not say that it has no rows.
absl::StatusOr<RowReader> RowReader::Open(const std::string& dataset, const RowSchema& schema,
                                          const RowReaderOptions& options) {
  std::string path = absl::StrCat(dataset, "/", schema.file);
  std::ifstream file(path, std::ios::binary);
  if (file) return RowReader(std::move(path), std::move(file), schema, options);
  const int error = errno;
  if (error != ENOENT || !IsWithoutRows(dataset, schema)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", std::strerror(error), IsPublished(dataset) ? kWithoutLines : kNotADataset));
  }
  file.open("/dev/null", std::ios::binary);
  return RowReader(std::move(path), std::move(file), schema, options);
}

RowReader::RowReader(std::string path, std::ifstream file, const RowSchema& schema,
                     const RowReaderOptions& options)
    : path_(std::move(path)),
      file_(std::move(file)),
      parser_(std::make_unique<Parser>(schema, options.fields)),
      require_rows_(options.require_rows),
      max_line_bytes_(options.max_line_bytes) {}

RowReader::RowReader(RowReader&&) noexcept = default;
RowReader::~RowReader() = default;

// Notes the place of each row, with which ReadAt finds it again.
absl::StatusOr<bool> RowReader::Next(Message* row) {
  const absl::StatusOr<bool> more = ReadLine(file_, &line_, max_line_bytes_);
  if (absl::IsDataLoss(more.status())) return Annotate(more.status(), path_);
  if (more.ok() && !*more) {
    if (require_rows_ && place_.line == 0) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ": has no rows", kNotADataset));
    }
    return false;
  }
  place_ = {.line = place_.line + 1, .offset = next_offset_};
  next_offset_ += static_cast<int64_t>(line_.size()) + 1;
  const absl::Status status = more.ok() ? parser_->Parse(&line_, row) : more.status();
  if (status.ok()) return true;
  return absl::InvalidArgumentError(
      absl::StrCat(path_, ":", place_.line, ": ", status.message(), kNotADataset));
}

// DATA_LOSS: what is at the offset is no row any more.
absl::Status RowReader::ReadAt(int64_t offset, Message* row) {
  file_.clear();
  const absl::StatusOr<bool> found =
      file_.seekg(offset) ? ReadLine(file_, &line_, max_line_bytes_) : false;
  if (!found.ok() || !*found || !parser_->Parse(&line_, row).ok()) {
    return absl::DataLossError(absl::StrCat(path_, ": changed while it was read"));
  }
  return absl::OkStatus();
}

// Makes a parser for one line; many lines are read faster by a RowReader.
absl::Status ParseRow(absl::string_view line, const RowSchema& schema, Message* row) {
  std::string copy(line);
  return RowReader::Parser(schema).Parse(&copy, row);
}

}  // namespace kernelmill::dataset
