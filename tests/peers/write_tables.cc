// usage: write_tables SCHEMAS.json FOLDER THREADS [GROUP_ROWS GROUP_BYTES FILE_BYTES]
// Writes rows as an export does, as JSON lines and Parquet, by schemas of any kind: for tests and
// measurements. SCHEMAS.json is a list of {"file", "fields"}; a field is {"name", "type"}, with
// "fields", "list" and "nullable" if they apply. The rows are the lines of FOLDER/in/FILE. Prints
// how many rows of which split each file has, as JSON.

#include <google/protobuf/descriptor.pb.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"
#include "dataset/rows/row_schema.h"
#include "dataset/rows/testing/test_rows.h"
#include "kernelmill/v1/rows.pb.h"

namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using kernelmill::dataset::Json;
using kernelmill::dataset::RowSchema;
using kernelmill::dataset::TestRows;

FieldDescriptorProto::Type GetType(const std::string& name) {
  if (name == "integer") return FieldDescriptorProto::TYPE_INT64;
  if (name == "number") return FieldDescriptorProto::TYPE_DOUBLE;
  if (name == "boolean") return FieldDescriptorProto::TYPE_BOOL;
  return name == "struct" ? FieldDescriptorProto::TYPE_MESSAGE : FieldDescriptorProto::TYPE_BYTES;
}

// A message of the fields; each struct is a message within it. `path` is its full name.
void AddFields(const Json& list, const std::string& path, DescriptorProto* message) {
  for (const Json& from : list) {
    const int number = message->field_size() + 1;
    FieldDescriptorProto* field = message->add_field();
    field->set_name(from.at("name"));
    field->set_number(number);
    field->set_type(GetType(from.at("type")));
    field->set_label(from.value("list", false) ? FieldDescriptorProto::LABEL_REPEATED
                                               : FieldDescriptorProto::LABEL_OPTIONAL);
    field->mutable_options()
        ->MutableExtension(kernelmill::v1::column)
        ->set_nullable(from.value("nullable", false));
    if (field->type() != FieldDescriptorProto::TYPE_MESSAGE) continue;
    DescriptorProto* inner = message->add_nested_type();
    inner->set_name(absl::StrCat("Struct", number));
    field->set_type_name(absl::StrCat(path, ".", inner->name()));
    AddFields(from.at("fields"), field->type_name(), inner);
  }
}

absl::Status Run(int argc, char** argv) {
  const std::string folder = argv[2];
  ASSIGN_OR_RETURN(const std::string text, kernelmill::ReadFile(argv[1], 1 << 24));
  google::protobuf::FileDescriptorProto file;
  file.set_name("write_tables.proto");
  file.set_package("rows");
  std::vector<std::string> names;
  for (const Json& schema : Json::parse(text)) {
    DescriptorProto* message = file.add_message_type();
    names.push_back(absl::StrCat("Row", names.size()));
    message->set_name(names.back());
    message->mutable_options()
        ->MutableExtension(kernelmill::v1::row_file)
        ->set_name(schema.at("file").get<std::string>());
    AddFields(schema.at("fields"), absl::StrCat(".rows.", names.back()), message);
  }
  const TestRows rows(file, names);
  kernelmill::dataset::TableLimits limits;
  if (argc == 7) limits = {std::atoll(argv[4]), std::atoll(argv[5]), std::atoll(argv[6])};
  ASSIGN_OR_RETURN(kernelmill::dataset::TableWriter writer,
                   kernelmill::dataset::TableWriter::Create(folder, rows.schemas(), limits));
  for (const RowSchema& schema : rows.schemas()) {
    std::ifstream lines(absl::StrCat(folder, "/in/", schema.file));
    for (std::string line; std::getline(lines, line);) {
      RETURN_IF_ERROR(writer.Append(TestRows::FromJson(schema, Json::parse(line)).get()));
    }
  }
  ASSIGN_OR_RETURN(const auto tables, writer.Finish(std::atoi(argv[3])));
  Json written = Json::array();
  for (const kernelmill::dataset::Table& table : tables) {
    for (const kernelmill::dataset::SplitFiles& split : table.splits) {
      Json files = Json::array();
      for (const kernelmill::dataset::WrittenFile& each : split.files) files.push_back(each.path);
      written.push_back({{"config", table.config},
                         {"split", split.split},
                         {"rows", split.rows},
                         {"files", files}});
    }
  }
  std::cout << written.dump() << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 7) {
    std::cerr << "usage: write_tables SCHEMAS.json FOLDER THREADS [GROUP_ROWS GROUP_BYTES "
                 "FILE_BYTES]\n";
    return 2;
  }
  const absl::Status status = Run(argc, argv);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
