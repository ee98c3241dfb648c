#include "client/catalog/entries/notices.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "dataset/output/dataset_files.h"

namespace kernelmill::client {

absl::Status ForEachNotice(const std::string& dataset,
                           const std::function<absl::Status(const Notice&)>& visit) {
  const std::string path = absl::StrCat(dataset, "/", dataset::kNoticesFile);
  std::ifstream file(path, std::ios::binary);
  std::string line;
  for (int64_t number = 1; file && std::getline(file, line); ++number) {
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto text = [&row](const char* key) {
      const auto at = row.find(key);
      return at != row.end() && at->is_string() ? at->get<std::string>() : "";
    };
    if (!row.is_object() || text("path").empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": no row of a notice"));
    }
    RETURN_IF_ERROR(visit({text("repository"), text("path"), text("url"), text("text")}));
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat(path, ": cannot be read to its end"));
  return absl::OkStatus();
}

}  // namespace kernelmill::client
