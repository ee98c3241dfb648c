#include "dataset/output/row_writer.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

constexpr absl::string_view kNotUtf8 = "not_utf8";

}  // namespace

RowWriter::RowWriter(std::string* out) : out_(*out) { BeginStruct("", kNoElement); }

void RowWriter::Text(absl::string_view name, absl::string_view bytes) {
  BeginField(name);
  AppendText(bytes);
}

void RowWriter::Integer(absl::string_view name, int64_t value) {
  BeginField(name);
  absl::StrAppend(&out_, value);
}

void RowWriter::Number(absl::string_view name, double value) {
  BeginField(name);
  AppendNumber(value, &out_);
}

void RowWriter::Boolean(absl::string_view name, bool value) {
  BeginField(name);
  out_.append(value ? "true" : "false");
}

void RowWriter::Null(absl::string_view name) {
  BeginField(name);
  out_.append("null");
}

void RowWriter::TextOrNull(absl::string_view name, absl::string_view bytes) {
  bytes.empty() ? Null(name) : Text(name, bytes);
}

void RowWriter::LineOrNull(absl::string_view name, int line) {
  IntegerOrNull(name, line != 0, line);
}

void RowWriter::IntegerOrNull(absl::string_view name, bool known, int64_t value) {
  known ? Integer(name, value) : Null(name);
}

void RowWriter::NumberOrNull(absl::string_view name, bool known, double value) {
  known ? Number(name, value) : Null(name);
}

void RowWriter::ExactText(absl::string_view name, absl::string_view bytes) {
  Text(name, bytes);
  if (IsUtf8(bytes)) return;
  absl::StrAppend(&not_utf8_, not_utf8_.empty() ? "" : ",", R"({"base64":")",
                  absl::Base64Escape(bytes), R"(","field":")", PointerTo(name), R"("})");
}

void RowWriter::ExactTextOrNull(absl::string_view name, absl::string_view bytes) {
  bytes.empty() ? Null(name) : ExactText(name, bytes);
}

void RowWriter::NotUtf8() {
  BeginList(kNotUtf8);
  absl::StrAppend(&out_, not_utf8_, "]");
}

void RowWriter::BeginField(absl::string_view name) {
  if (fields_.size() > structs_.back().first_field) out_.push_back(',');
  fields_.push_back({name, out_.size()});
  absl::StrAppend(&out_, "\"", name, "\":");
}

void RowWriter::BeginList(absl::string_view name) {
  BeginField(name);
  out_.push_back('[');
}

void RowWriter::BeginElement() {
  if (out_.back() != '[') out_.push_back(',');
}

void RowWriter::BeginStruct(absl::string_view name, size_t element) {
  structs_.push_back({name, element, fields_.size()});
  out_.push_back('{');
}

void RowWriter::EndStruct() {
  const absl::Span<Field> fields = absl::MakeSpan(fields_).subspan(structs_.back().first_field);
  const auto by_name = [](const Field& a, const Field& b) { return a.name < b.name; };
  if (!std::is_sorted(fields.begin(), fields.end(), by_name)) Sort(fields);
  fields_.resize(structs_.back().first_field);
  structs_.pop_back();
  out_.push_back('}');
}

// They stand at the end of the text, a comma between two.
void RowWriter::Sort(absl::Span<Field> fields) {
  const size_t begin = fields.front().begin;
  size_t end = out_.size();
  for (size_t i = fields.size(); i-- > 0; end = fields[i].begin - 1) {
    fields[i].size = end - fields[i].begin;
  }
  std::sort(fields.begin(), fields.end(),
            [](const Field& a, const Field& b) { return a.name < b.name; });
  sorted_.clear();
  for (const Field& field : fields) {
    if (!sorted_.empty()) sorted_.push_back(',');
    sorted_.append(out_, field.begin, field.size);
  }
  out_.replace(begin, sorted_.size(), sorted_);
}

void RowWriter::AppendText(absl::string_view bytes) { AppendJsonText(bytes, &out_); }

std::string RowWriter::PointerTo(absl::string_view name) const {
  std::string pointer;
  for (size_t i = 1; i < structs_.size(); ++i) {
    absl::StrAppend(&pointer, "/", structs_[i].name);
    if (structs_[i].element != kNoElement) absl::StrAppend(&pointer, "/", structs_[i].element);
  }
  return absl::StrCat(pointer, "/", name);
}

}  // namespace kernelmill::dataset
