// usage: write_tables SCHEMAS.json FOLDER THREADS [GROUP_ROWS GROUP_BYTES FILE_BYTES]
// Writes rows as an export does, as JSON lines and Parquet, by schemas of any kind: for tests and
// measurements. SCHEMAS.json is as TestRows has it. The rows are the lines of FOLDER/in/FILE.
// Prints how many rows of which split each file has, as JSON.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"
#include "dataset/rows/row_schema.h"
#include "dataset/rows/testing/test_rows.h"

namespace {

using kernelmill::dataset::Json;
using kernelmill::dataset::RowSchema;
using kernelmill::dataset::TestRows;

absl::Status Run(int argc, char** argv) {
  const std::string folder = argv[2];
  ASSIGN_OR_RETURN(const std::string text, kernelmill::ReadFile(argv[1], 1 << 24));
  const TestRows rows(Json::parse(text));
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
