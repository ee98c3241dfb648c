#include "dataset/rows/testing/test_rows.h"

#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace kernelmill::dataset {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::Message;
using google::protobuf::Reflection;

[[noreturn]] void Abort(const std::string& problem) {
  std::fprintf(stderr, "TestRows: %s\n", problem.c_str());
  std::abort();
}

class PrintErrors final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    std::fprintf(stderr, "%d:%d: %s\n", line, column, message.c_str());
  }
};

FileDescriptorProto Parse(absl::string_view messages) {
  const std::string text = absl::StrCat("syntax = \"proto3\"; package kernelmill.v1.test;",
                                        "import \"kernelmill/v1/rows.proto\";", messages);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  PrintErrors errors;
  google::protobuf::io::Tokenizer tokenizer(&input, &errors);
  google::protobuf::compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  FileDescriptorProto file;
  if (!parser.Parse(&tokenizer, &file)) Abort("the messages cannot be parsed");
  file.set_name("test_rows.proto");
  return file;
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
    const Json& value = json.at(field.name);
    if (value.is_null()) continue;
    if (!field.list) {
      SetValue(value, field, row);
      continue;
    }
    for (const Json& element : value) SetValue(element, field, row);
  }
}

}  // namespace

TestRows::TestRows(absl::string_view messages, const std::vector<std::string>& names)
    : TestRows(Parse(messages), names) {}

TestRows::TestRows(const FileDescriptorProto& file, const std::vector<std::string>& names)
    : pool_(google::protobuf::DescriptorPool::generated_pool()), factory_(&pool_) {
  const google::protobuf::FileDescriptor* const built = pool_.BuildFile(file);
  if (built == nullptr) Abort("the messages are wrong");
  for (const std::string& name : names) {
    const google::protobuf::Descriptor* const type = built->FindMessageTypeByName(name);
    if (type == nullptr) Abort(absl::StrCat("there is no message ", name));
    schemas_.emplace_back(*factory_.GetPrototype(type));
  }
}

std::unique_ptr<Message> TestRows::FromJson(const RowSchema& schema, const Json& json) {
  std::unique_ptr<Message> row(schema.prototype->New());
  SetFields(json, schema.fields, row.get());
  return row;
}

}  // namespace kernelmill::dataset
