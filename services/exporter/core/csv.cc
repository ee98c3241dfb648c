#include "services/exporter/core/csv.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/text.h"

namespace kernelmill::exporter {

std::string CsvRow(const std::vector<absl::string_view>& fields) {
  std::string row;
  for (const absl::string_view field : fields) {
    if (!row.empty()) row += ',';
    if (field.find_first_of(",\"\r\n") == absl::string_view::npos && !field.empty()) {
      absl::StrAppend(&row, field);
    } else {
      absl::StrAppend(&row, "\"", absl::StrReplaceAll(field, {{"\"", "\"\""}}), "\"");
    }
  }
  return row + "\r\n";
}

std::string CsvText(absl::string_view code) {
  return absl::StrReplaceAll(ToUtf8(code), {{"\r\n", "\n"}});
}

}  // namespace kernelmill::exporter
