#include "dataset/rows/row_schema.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/words/enum_words.h"
#include "dataset/output/dataset_files.h"
#include "kernelmill/v1/rows.pb.h"

// A row is a protobuf message, and rows.proto is the only place that says what columns a file has.
// Here the descriptors and the options of their fields are read once, at first use, into RowSchema,
// along which all readers and writers go: JSON, Parquet, JSON Schema, the card, Croissant. So a new
// column needs no code in any of them.
namespace kernelmill::dataset {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::Reflection;

// An enum is a string in rows. All integers share a type, whatever their width in the message.
Field::Type GetType(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM:
      return Field::Type::kString;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Field::Type::kNumber;
    case FieldDescriptor::CPPTYPE_BOOL:
      return Field::Type::kBoolean;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Field::Type::kStruct;
    default:
      return Field::Type::kInteger;
  }
}

// Reads the words of an enum. The value 0, unspecified, is no word of the column: rows have null,
// or "unspecified" where null is not allowed.
void ReadWords(const EnumDescriptor& type, Field* field) {
  for (int i = 0; i < type.value_count(); ++i) {
    const auto number = static_cast<size_t>(type.value(i)->number());
    std::string word = number == 0 ? "unspecified" : GetEnumWord(type, type.value(i)->number());
    if (number != 0) field->words.push_back(word);
    if (field->enum_words.size() <= number) field->enum_words.resize(number + 1);
    field->enum_words[number] = std::move(word);
  }
}

// JSON wants keys sorted, Parquet wants fields in the order of their declaration; so both are kept.
std::vector<int> SortByName(const Fields& fields) {
  std::vector<int> places(fields.size());
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(), [&fields](int a, int b) {
    return fields[static_cast<size_t>(a)].name < fields[static_cast<size_t>(b)].name;
  });
  return places;
}

Fields ReadFields(const Message& message);

// Reads a field with its options; a struct's fields too.
Field ReadField(const FieldDescriptor& descriptor, const Reflection& reflection) {
  Field field;
  const v1::Column& column = descriptor.options().GetExtension(v1::column);
  field.descriptor = &descriptor;
  field.reflection = &reflection;
  field.name = descriptor.name();
  field.json_key = absl::StrCat("\"", field.name, "\":");
  field.type = GetType(descriptor);
  field.description = column.description();
  field.words = {column.words().begin(), column.words().end()};
  field.list = descriptor.is_repeated();
  field.nullable = column.nullable();
  field.exact = column.exact();
  field.has_exact = column.exact();
  if (descriptor.enum_type() != nullptr) ReadWords(*descriptor.enum_type(), &field);
  if (field.type == Field::Type::kStruct) {
    MessageFactory& factory = *reflection.GetMessageFactory();
    field.fields = ReadFields(*factory.GetPrototype(descriptor.message_type()));
    field.by_name = SortByName(field.fields);
    field.has_exact = std::any_of(field.fields.begin(), field.fields.end(),
                                  [](const Field& inner) { return inner.has_exact; });
  }
  return field;
}

Fields ReadFields(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  Fields fields;
  for (int i = 0; i < type.field_count(); ++i) {
    fields.push_back(ReadField(*type.field(i), *message.GetReflection()));
  }
  return fields;
}

// Numbers the nullable fields and the lists, a struct before its fields. Those of a schema with too
// many stay without a number.
void NumberFilled(Fields& fields, int* next) {
  for (Field& field : fields) {
    const bool may_be_empty = field.nullable || field.list;
    if (may_be_empty && *next < static_cast<int>(kMostFilledBits)) field.filled_bit = (*next)++;
    NumberFilled(field.fields, next);
  }
}

void MarkFilled(const Message& row, const Fields& fields, FilledFields* filled) {
  for (const Field& field : fields) {
    const bool is_struct = field.type == Field::Type::kStruct;
    if (!is_struct && field.filled_bit < 0) continue;
    const int size = field.list ? field.reflection->FieldSize(row, field.descriptor) : 1;
    if (size == 0 || (!field.list && IsNull(row, field))) continue;
    if (field.filled_bit >= 0) filled->set(static_cast<size_t>(field.filled_bit));
    if (!is_struct) continue;
    for (int i = 0; i < size; ++i) {
      MarkFilled(GetStruct(row, field, field.list ? i : kNoElement), field.fields, filled);
    }
  }
}

}  // namespace

// Two fields have a meaning for all files: `not_utf8` and `split`. A message may lack them.
RowSchema::RowSchema(const Message& row) : prototype(&row) {
  const Descriptor& message = *row.GetDescriptor();
  const v1::RowFile& options = message.options().GetExtension(v1::row_file);
  file = options.name();
  description = options.description();
  fields = ReadFields(row);
  by_name = SortByName(fields);
  not_utf8 = message.FindFieldByName(kNotUtf8);
  split = message.FindFieldByName("split");
  NumberFilled(fields, &filled_bits);
}

FilledFields GetFilledFields(const RowSchema& schema, const Message& row) {
  FilledFields filled;
  MarkFilled(row, schema.fields, &filled);
  return filled;
}

// An enum's value from a newer version has no word here and reads as unspecified.
absl::string_view GetText(const Message& row, const Field& field, int index, std::string* scratch) {
  const Reflection& reflection = *field.reflection;
  const FieldDescriptor* const descriptor = field.descriptor;
  if (field.enum_words.empty()) {
    return index == kNoElement
               ? reflection.GetStringReference(row, descriptor, scratch)
               : reflection.GetRepeatedStringReference(row, descriptor, index, scratch);
  }
  const auto number = static_cast<size_t>(
      index == kNoElement ? reflection.GetEnumValue(row, descriptor)
                          : reflection.GetRepeatedEnumValue(row, descriptor, index));
  return field.enum_words[number < field.enum_words.size() ? number : 0];
}

// Protobuf has a getter for each width; rows have one type.
int64_t GetInteger(const Message& row, const Field& field, int index) {
  const Reflection& reflection = *field.reflection;
  const FieldDescriptor* const descriptor = field.descriptor;
  const bool one = index == kNoElement;
  switch (descriptor->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return one ? reflection.GetInt32(row, descriptor)
                 : reflection.GetRepeatedInt32(row, descriptor, index);
    case FieldDescriptor::CPPTYPE_UINT32:
      return one ? reflection.GetUInt32(row, descriptor)
                 : reflection.GetRepeatedUInt32(row, descriptor, index);
    default:
      return one ? reflection.GetInt64(row, descriptor)
                 : reflection.GetRepeatedInt64(row, descriptor, index);
  }
}

double GetNumber(const Message& row, const Field& field, int index) {
  const Reflection& reflection = *field.reflection;
  return index == kNoElement ? reflection.GetDouble(row, field.descriptor)
                             : reflection.GetRepeatedDouble(row, field.descriptor, index);
}

bool GetBoolean(const Message& row, const Field& field, int index) {
  const Reflection& reflection = *field.reflection;
  return index == kNoElement ? reflection.GetBool(row, field.descriptor)
                             : reflection.GetRepeatedBool(row, field.descriptor, index);
}

const Message& GetStruct(const Message& row, const Field& field, int index) {
  const Reflection& reflection = *field.reflection;
  return index == kNoElement ? reflection.GetMessage(row, field.descriptor)
                             : reflection.GetRepeatedMessage(row, field.descriptor, index);
}

// Made once and never destroyed.
const std::vector<RowSchema>& RowSchemas() {
  static const auto* const schemas = [] {
    auto* all = new std::vector<RowSchema>;
    for (const DatasetFile& file : DatasetFiles()) {
      if (file.row != nullptr) all->emplace_back(*file.row);
    }
    return all;
  }();
  return *schemas;
}

}  // namespace kernelmill::dataset
