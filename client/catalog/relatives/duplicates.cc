#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/catalog/relatives/overview.h"
#include "dataset/output/dataset_files.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;

std::string Text(const Json& row, const char* key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_string() ? at->get<std::string>() : "";
}

Duplicate Read(const Json& row) {
  Duplicate duplicate{.repository = Text(row, "repository"),
                      .path = Text(row, "path"),
                      .url = Text(row, "url"),
                      .reason = Text(row, "reason")};
  const auto line = row.find("first_line");
  if (line != row.end() && line->is_number_integer()) duplicate.first_line = line->get<int>();
  const auto similarity = row.find("similarity");
  if (similarity != row.end() && similarity->is_number()) {
    duplicate.similarity = similarity->get<double>();
  }
  return duplicate;
}

}  // namespace

absl::StatusOr<absl::flat_hash_map<std::string, Duplicates>> ReadDuplicates(
    const std::string& dataset) {
  const std::string path = absl::StrCat(dataset, "/", dataset::kLedgerFile);
  absl::flat_hash_map<std::string, Duplicates> duplicates;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  for (int64_t number = 1; file && std::getline(file, line); ++number) {
    const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": no row of a ledger"));
    }
    // Whole files have duplicates too, which are no kernels'.
    if (Text(row, "fate") != "duplicate" || Text(row, "form") == "file") continue;
    Duplicates& of = duplicates[Text(row, "of")];
    ++of.count;
    if (of.first.size() < kMaxDuplicates) of.first.push_back(Read(row));
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat(path, ": cannot be read to its end"));
  return duplicates;
}

}  // namespace kernelmill::client
