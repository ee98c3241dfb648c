#include "dataset/rows/row_json.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"

namespace kernelmill::dataset {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Writes a row straight from its message, without a tree of JSON values, in the canonical form of
// dataset/output/json.h: keys sorted (by_name), no blanks.
class RowWriter {
 public:
  explicit RowWriter(std::string* out) : out_(*out) {}

  // Writes the fields in the order of their names, which is the canonical one.
  void WriteStruct(const Message& row, const Fields& fields, const std::vector<int>& by_name) {
    char before = '{';
    for (const int place : by_name) {
      const Field& field = fields[static_cast<size_t>(place)];
      out_.push_back(before);
      before = ',';
      out_.append(field.json_key);
      if (field.list) {
        WriteList(row, field);
      } else if (IsNull(row, field)) {
        out_.append("null");
      } else {
        WriteValue(row, field, kNoElement);
      }
    }
    out_.append(fields.empty() ? "{}" : "}");
  }

 private:
  void WriteList(const Message& row, const Field& field) {
    const int size = field.reflection->FieldSize(row, field.descriptor);
    out_.push_back('[');
    for (int i = 0; i < size; ++i) {
      if (i > 0) out_.push_back(',');
      WriteValue(row, field, i);
    }
    out_.push_back(']');
  }

  void WriteValue(const Message& row, const Field& field, int index) {
    switch (field.type) {
      case Field::Type::kString:
        return AppendJsonText(GetText(row, field, index, &scratch_), &out_);
      case Field::Type::kInteger:
        return absl::StrAppend(&out_, GetInteger(row, field, index));
      case Field::Type::kNumber:
        return AppendNumber(GetNumber(row, field, index), &out_);
      case Field::Type::kBoolean:
        return absl::StrAppend(&out_, GetBoolean(row, field, index) ? "true" : "false");
      case Field::Type::kStruct:
        return WriteStruct(GetStruct(row, field, index), field.fields, field.by_name);
    }
  }

  std::string& out_;
  std::string scratch_;
};

// Finds the exact fields of a row that are not UTF-8. The way to the message that is visited is
// kept as names and places, since a pointer is seldom needed.
class ExactFieldsFinder {
 public:
  ExactFieldsFinder(const FieldDescriptor* list, Message* row) : list_(*list), row_(*row) {}

  // Enters only fields that are exact or have an exact one within (has_exact), so a row costs a
  // look at few fields.
  void Visit(const Message& message, const Fields& fields) {
    for (const Field& field : fields) {
      if (!field.has_exact) continue;
      // The index is set below, for lists only.
      way_.push_back({field.name, kNoElement});
      if (field.exact) {
        const absl::string_view text = GetText(message, field, kNoElement, &scratch_);
        if (!IsUtf8(text)) Add(text);
      } else if (field.list) {
        const int size = field.reflection->FieldSize(message, field.descriptor);
        for (int i = 0; i < size; ++i) {
          way_.back().index = i;
          Visit(GetStruct(message, field, i), field.fields);
        }
      } else if (field.reflection->HasField(message, field.descriptor)) {
        Visit(GetStruct(message, field, kNoElement), field.fields);
      }
      way_.pop_back();
    }
  }

 private:
  struct Step {
    absl::string_view name;
    int index;
  };

  // Adds an entry with the JSON pointer of the field and its exact bytes.
  void Add(absl::string_view text) {
    std::string pointer;
    for (const Step& step : way_) {
      absl::StrAppend(&pointer, "/", step.name);
      if (step.index != kNoElement) absl::StrAppend(&pointer, "/", step.index);
    }
    std::string bytes = absl::Base64Escape(text);
    Message& entry = *row_.GetReflection()->AddMessage(&row_, &list_);
    const auto& type = *entry.GetDescriptor();
    entry.GetReflection()->SetString(&entry, type.FindFieldByName("field"), std::move(pointer));
    entry.GetReflection()->SetString(&entry, type.FindFieldByName("base64"), std::move(bytes));
  }

  const FieldDescriptor& list_;
  Message& row_;
  std::vector<Step> way_;
  std::string scratch_;
};

}  // namespace

// Clears the list first, so that a row may be filled twice.
void FillNotUtf8(const RowSchema& schema, Message* row) {
  if (schema.not_utf8 == nullptr) return;
  row->GetReflection()->ClearField(row, schema.not_utf8);
  ExactFieldsFinder(schema.not_utf8, row).Visit(*row, schema.fields);
}

void AppendRowJson(const RowSchema& schema, const Message& row, std::string* out) {
  RowWriter(out).WriteStruct(row, schema.fields, schema.by_name);
}

}  // namespace kernelmill::dataset
