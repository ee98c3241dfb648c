#include "dataset/card/front_matter.h"

#include <algorithm>
#include <iterator>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/spdx/expression.h"
#include "dataset/output/dataset_files.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {
namespace {

// The Hub's names of licences, which are SPDX's in small letters without -only and -or-later.
constexpr absl::string_view kHubLicenses[] = {"afl-3.0",      "agpl-3.0",      "apache-2.0",
                                              "artistic-2.0", "blueoak-1.0.0", "bsd-2-clause",
                                              "bsd-3-clause", "bsl-1.0",       "bsd-3-clause-clear",
                                              "cc-by-4.0",    "cc-by-sa-4.0",  "cc0-1.0",
                                              "ecl-2.0",      "epl-1.0",       "epl-2.0",
                                              "eupl-1.1",     "eupl-1.2",      "gpl-2.0",
                                              "gpl-3.0",      "isc",           "lgpl-2.1",
                                              "lgpl-3.0",     "lppl-1.3c",     "mit",
                                              "mpl-2.0",      "ms-pl",         "ncsa",
                                              "ofl-1.1",      "osl-3.0",       "postgresql",
                                              "unlicense",    "wtfpl",         "zlib"};

std::string HubLicense(const spdx::LicenseTerm& term) {
  const std::string id = absl::AsciiStrToLower(term.id);
  const absl::string_view base = absl::StripSuffix(absl::StripSuffix(id, "-only"), "-or-later");
  const bool known =
      std::find(std::begin(kHubLicenses), std::end(kHubLicenses), base) != std::end(kHubLicenses);
  return std::string(known ? base : "other");
}

const char* TypeName(Field::Type type) {
  switch (type) {
    case Field::Type::kString:
      return "string";
    case Field::Type::kInteger:
      return "int64";
    case Field::Type::kNumber:
      return "float64";
    case Field::Type::kBoolean:
      return "bool";
    case Field::Type::kStruct:
      break;
  }
  return "";
}

// As `datasets` writes features in YAML.
void AppendFeatures(const Fields& fields, const std::string& indent, std::string* out) {
  for (const Field& field : fields) {
    absl::StrAppend(out, indent, "- name: ", field.name, "\n");
    if (field.type == Field::Type::kStruct) {
      absl::StrAppend(out, indent, "  ", field.list ? "list" : "struct", ":\n");
      AppendFeatures(field.fields, indent + "  ", out);
    } else {
      absl::StrAppend(out, indent, "  ", field.list ? "list" : "dtype", ": ", TypeName(field.type),
                      "\n");
    }
  }
}

const Fields& FieldsOf(const Table& table) {
  const std::vector<RowSchema>& schemas = RowSchemas();
  return std::find_if(schemas.begin(), schemas.end(),
                      [&table](const RowSchema& schema) { return schema.file == table.lines.path; })
      ->fields;
}

void AppendConfig(const Table& table, bool is_default, std::string* out) {
  absl::StrAppend(out, "- config_name: ", table.config, "\n", is_default ? "  default: true\n" : "",
                  "  data_files:\n");
  for (const SplitFiles& split : table.splits) {
    absl::StrAppend(out, "  - split: ", split.split, "\n    path: ", kTablesFolder, "/",
                    table.config, "/", split.split, "-*.parquet\n");
  }
}

void AppendInfo(const Table& table, std::string* out) {
  absl::StrAppend(out, "- config_name: ", table.config, "\n  features:\n");
  AppendFeatures(FieldsOf(table), "  ", out);
  absl::StrAppend(out, "  splits:\n");
  int64_t bytes = 0, file_bytes = 0;
  for (const SplitFiles& split : table.splits) {
    absl::StrAppend(out, "  - name: ", split.split, "\n    num_bytes: ", split.json_bytes,
                    "\n    num_examples: ", split.rows, "\n");
    bytes += split.json_bytes;
    for (const WrittenFile& file : split.files) file_bytes += file.size;
  }
  absl::StrAppend(out, "  download_size: ", file_bytes, "\n  dataset_size: ", bytes, "\n");
}

}  // namespace

std::set<std::string> HubLicenses(const Json& report) {
  std::set<std::string> names;
  for (const auto& [text, count] : report.at("licenses").items()) {
    const absl::StatusOr<spdx::SpdxExpression> expression = spdx::SpdxExpression::Parse(text);
    if (!expression.ok()) {
      names.insert(text == spdx::kNoAssertion ? "unknown" : "other");
      continue;
    }
    for (const spdx::LicenseTerm& term : expression->Terms()) names.insert(HubLicense(term));
  }
  return names;
}

std::string SizeCategory(int64_t rows) {
  constexpr absl::string_view kLimits[] = {"1K", "10K", "100K", "1M", "10M", "100M", "1B"};
  int64_t limit = 1000;
  if (rows < limit) return "n<1K";
  for (size_t i = 1; i < std::size(kLimits); ++i) {
    limit *= 10;
    if (rows < limit) return absl::StrCat(kLimits[i - 1], "<n<", kLimits[i]);
  }
  return "n>1B";
}

std::string FrontMatter(const Json& report, const std::vector<Table>& tables) {
  // A string of JSON is one of YAML.
  std::string head = absl::StrCat("---\npretty_name: ", Canonical(report.at("name")), "\n");
  const std::set<std::string> licenses = HubLicenses(report);
  if (!licenses.empty()) absl::StrAppend(&head, "license:\n");
  for (const std::string& license : licenses) absl::StrAppend(&head, "- ", license, "\n");
  if (licenses.contains("other")) {
    absl::StrAppend(&head, "license_name: by-row\nlicense_link: ", kNoticesFile, "\n");
  }
  absl::StrAppend(&head, "task_categories:\n- text-generation\ntags:\n- code\n- gpu-kernels\n",
                  "size_categories:\n- ", SizeCategory(report.at("kernels").at("kept")), "\n");
  std::string configs, infos;
  for (const Table& table : tables) {
    if (table.rows == 0) continue;
    AppendConfig(table, configs.empty(), &configs);
    AppendInfo(table, &infos);
  }
  if (!configs.empty()) absl::StrAppend(&head, "configs:\n", configs, "dataset_info:\n", infos);
  return absl::StrCat(head, "---\n");
}

}  // namespace kernelmill::dataset
