#include "dataset/rows/testing/test_rows.h"

#include <google/protobuf/descriptor.pb.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::Message;
using google::protobuf::Reflection;

FieldDescriptorProto::Type GetType(const std::string& name) {
  if (name == "integer") return FieldDescriptorProto::TYPE_INT64;
  if (name == "number") return FieldDescriptorProto::TYPE_DOUBLE;
  if (name == "boolean") return FieldDescriptorProto::TYPE_BOOL;
  return name == "struct" ? FieldDescriptorProto::TYPE_MESSAGE : FieldDescriptorProto::TYPE_BYTES;
}

// Adds fields to a message, each struct as a message within it. `path` is the message's full name.
void AddFields(const Json& list, const std::string& path, DescriptorProto* message) {
  for (const Json& from : list) {
    const int number = message->field_size() + 1;
    FieldDescriptorProto* field = message->add_field();
    field->set_name(from.at("name").get<std::string>());
    field->set_number(number);
    field->set_type(GetType(from.at("type")));
    field->set_label(from.value("list", false) ? FieldDescriptorProto::LABEL_REPEATED
                                               : FieldDescriptorProto::LABEL_OPTIONAL);
    v1::Column* column = field->mutable_options()->MutableExtension(v1::column);
    column->set_description(from.value("description", ""));
    column->set_nullable(from.value("nullable", false));
    column->set_exact(from.value("exact", false));
    for (const Json& word : from.value("words", Json::array())) {
      column->add_words(word.get<std::string>());
    }
    if (field->type() != FieldDescriptorProto::TYPE_MESSAGE) continue;
    DescriptorProto* inner = message->add_nested_type();
    inner->set_name(absl::StrCat("Struct", number));
    field->set_type_name(absl::StrCat(path, ".", inner->name()));
    AddFields(from.at("fields"), field->type_name(), inner);
  }
}

void SetFields(const Json& json, const Fields& fields, Message* row);

// Sets a field, or adds an element to a list.
void SetValue(const Json& json, const Field& field, Message* row) {
  const Reflection& reflection = *row->GetReflection();
  const FieldDescriptor* const to = field.descriptor;
  const bool list = field.list;
  switch (field.type) {
    case Field::Type::kString: {
      const std::string text = json;
      return list ? reflection.AddString(row, to, text) : reflection.SetString(row, to, text);
    }
    case Field::Type::kInteger: {
      const int64_t number = json;
      return list ? reflection.AddInt64(row, to, number) : reflection.SetInt64(row, to, number);
    }
    case Field::Type::kNumber: {
      const double number = json;
      return list ? reflection.AddDouble(row, to, number) : reflection.SetDouble(row, to, number);
    }
    case Field::Type::kBoolean: {
      const bool truth = json;
      return list ? reflection.AddBool(row, to, truth) : reflection.SetBool(row, to, truth);
    }
    case Field::Type::kStruct:
      return SetFields(json, field.fields,
                       list ? reflection.AddMessage(row, to) : reflection.MutableMessage(row, to));
  }
}

void SetFields(const Json& json, const Fields& fields, Message* row) {
  for (const Field& field : fields) {
    const Json value = json.value(field.name, Json());
    if (value.is_null()) continue;
    if (!field.list) {
      SetValue(value, field, row);
      continue;
    }
    for (const Json& element : value) SetValue(element, field, row);
  }
}

}  // namespace

TestRows::TestRows(const Json& schemas)
    : pool_(google::protobuf::DescriptorPool::generated_pool()), factory_(&pool_) {
  FileDescriptorProto file;
  file.set_name("test_rows.proto");
  file.set_package("rows");
  for (const Json& schema : schemas) {
    DescriptorProto* message = file.add_message_type();
    message->set_name(absl::StrCat("Row", file.message_type_size()));
    v1::RowFile* options = message->mutable_options()->MutableExtension(v1::row_file);
    options->set_name(schema.at("file").get<std::string>());
    options->set_description(schema.value("description", ""));
    AddFields(schema.at("fields"), absl::StrCat(".rows.", message->name()), message);
  }
  const google::protobuf::FileDescriptor* const built = pool_.BuildFile(file);
  if (built == nullptr) {
    std::fprintf(stderr, "TestRows: wrong schemas\n");
    std::abort();
  }
  for (int i = 0; i < built->message_type_count(); ++i) {
    schemas_.emplace_back(*factory_.GetPrototype(built->message_type(i)));
  }
}

std::unique_ptr<Message> TestRows::FromJson(const RowSchema& schema, const Json& json) {
  std::unique_ptr<Message> row(schema.prototype->New());
  SetFields(json, schema.fields, row.get());
  return row;
}

}  // namespace kernelmill::dataset
