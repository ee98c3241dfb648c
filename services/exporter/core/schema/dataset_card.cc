#include "services/exporter/core/schema/dataset_card.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/exporter/core/schema/row_schemas.h"

namespace kernelmill::exporter {
namespace {

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
      absl::StrAppend(out, indent, "  ", field.list ? "sequence" : "dtype", ": ",
                      TypeName(field.type), "\n");
    }
  }
}

}  // namespace

std::string DatasetCard(absl::string_view name, absl::string_view dataset, int64_t kernels) {
  std::string configs, features;
  for (const RowSchema& schema : RowSchemas()) {
    const absl::string_view config = absl::StripSuffix(schema.file, ".jsonl");
    absl::StrAppend(&configs, "- config_name: ", config, "\n  data_files: ", schema.file, "\n",
                    configs.empty() ? "  default: true\n" : "");
    absl::StrAppend(&features, "- config_name: ", config, "\n  features:\n");
    AppendFeatures(schema.fields, "  ", &features);
  }
  return absl::StrCat(
      "---\nconfigs:\n", configs, "dataset_info:\n", features, "---\n\n# ", name, "\n\n", kernels,
      " GPU kernels with their origin and licence, made by kernelmill. `report.json` has the "
      "sums, ",
      "`ledger.jsonl` what was left out and why,\n`notices.jsonl` the texts that must go along. ",
      "`job.lock.yaml` makes the same dataset again: `", dataset, "`.\n");
}

}  // namespace kernelmill::exporter
