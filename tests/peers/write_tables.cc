// usage: write_tables SCHEMAS.json FOLDER THREADS [GROUP_ROWS GROUP_BYTES FILE_BYTES]
// Writes the JSON lines of a folder as Parquet, as an export does, by schemas of any kind: for
// tests and measurements. SCHEMAS.json is a list of {"file", "fields"}; a field is {"name",
// "type"}, with "fields", "list" and "nullable" where they apply. Prints how many rows of which
// split each file has, as JSON.

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"
#include "dataset/rows/field.h"

namespace {

using kernelmill::dataset::Field;
using kernelmill::dataset::Fields;
using kernelmill::dataset::Json;

Field::Type TypeOf(const std::string& name) {
  if (name == "integer") return Field::Type::kInteger;
  if (name == "number") return Field::Type::kNumber;
  if (name == "boolean") return Field::Type::kBoolean;
  return name == "struct" ? Field::Type::kStruct : Field::Type::kString;
}

Fields FieldsOf(const Json& list) {
  Fields fields;
  for (const Json& from : list) {
    Field field = {from.at("name"), TypeOf(from.at("type")), ""};
    if (field.type == Field::Type::kStruct) field.fields = FieldsOf(from.at("fields"));
    field.list = from.value("list", false);
    field.nullable = from.value("nullable", false);
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 7) {
    std::cerr << "usage: write_tables SCHEMAS.json FOLDER THREADS [GROUP_ROWS GROUP_BYTES "
                 "FILE_BYTES]\n";
    return 2;
  }
  const auto text = kernelmill::ReadFile(argv[1], 1 << 24);
  if (!text.ok()) {
    std::cerr << text.status() << "\n";
    return 1;
  }
  std::vector<kernelmill::dataset::RowSchema> schemas;
  for (const Json& schema : Json::parse(*text)) {
    schemas.push_back({schema.at("file"), "", FieldsOf(schema.at("fields"))});
  }
  kernelmill::dataset::TableLimits limits;
  if (argc == 7) limits = {std::atoll(argv[4]), std::atoll(argv[5]), std::atoll(argv[6])};
  const auto tables =
      kernelmill::dataset::WriteTables(argv[2], schemas, std::atoi(argv[3]), limits);
  if (!tables.ok()) {
    std::cerr << tables.status() << "\n";
    return 1;
  }
  Json written = Json::array();
  for (const kernelmill::dataset::Table& table : *tables) {
    for (const kernelmill::dataset::SplitFiles& split : table.splits) {
      Json files = Json::array();
      for (const kernelmill::dataset::WrittenFile& file : split.files) files.push_back(file.path);
      written.push_back({{"config", table.config},
                         {"split", split.split},
                         {"rows", split.rows},
                         {"files", files}});
    }
  }
  std::cout << written.dump() << "\n";
  return 0;
}
