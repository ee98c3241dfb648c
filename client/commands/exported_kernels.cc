#include "client/commands/exported_kernels.h"

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/json.h"
#include "dataset/output/output_dir.h"
#include "services/deduplicator/server/similar_search.h"

namespace kernelmill::client {
namespace {

using dataset::Json;
using deduplicator::KernelComparison;

constexpr int kBatchRows = 256;

std::string TextIn(const Json& row, const char* key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_string() ? at->get<std::string>() : "";
}

// Calls visit(row) for each row of the split train.
absl::Status ForEachRow(const std::string& path,
                        const std::function<absl::Status(const Json&)>& visit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read; is it of an export?"));
  }
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object() || TextIn(row, "source").empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": no row of a kernel"));
    }
    const std::string split = TextIn(row, "split");
    if (split.empty() || split == "train") RETURN_IF_ERROR(visit(row));
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat(path, ": cannot be read to its end"));
  return absl::OkStatus();
}

void AddKernel(const Json& row, v1::KernelShard* shard) {
  v1::Kernel* kernel = shard->add_kernels();
  kernel->set_source(TextIn(row, "source"));
  kernel->set_name(TextIn(row, "name"));
  v1::Dsl dsl = v1::DSL_UNSPECIFIED;
  v1::Dsl_Parse(absl::StrCat("DSL_", absl::AsciiStrToUpper(TextIn(row, "dsl"))), &dsl);
  kernel->set_dsl(dsl);
}

absl::Status CompareAll(const std::string& path, KernelComparison& comparison) {
  v1::KernelShard batch;
  RETURN_IF_ERROR(ForEachRow(path, [&](const Json& row) {
    AddKernel(row, &batch);
    if (batch.kernels_size() == kBatchRows) comparison.Add(std::exchange(batch, {}));
    return absl::OkStatus();
  }));
  comparison.Add(batch);
  return absl::OkStatus();
}

// Where the rows of these numbers are from.
absl::Status ReadPlaces(const std::string& path, std::map<int64_t, DatasetMatch>* places) {
  int64_t number = 0;
  return ForEachRow(path, [&](const Json& row) {
    const auto place = places->find(number++);
    if (place == places->end()) return absl::OkStatus();
    place->second.repository = TextIn(row, "repository");
    place->second.path = TextIn(row, "path");
    place->second.qualname = TextIn(row, "qualname");
    const auto line = row.find("first_line");
    if (line != row.end() && line->is_number_integer()) place->second.first_line = line->get<int>();
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInExport(
    const std::string& folder, const std::vector<v1::Kernel>& kernels, double threshold) {
  const std::string path = absl::StrCat(folder, "/", dataset::kKernelsFile);
  v1::SimilarRequest request;
  request.set_top(1);
  request.set_threshold(threshold);
  for (const v1::Kernel& kernel : kernels) *request.add_kernels() = kernel;
  ASSIGN_OR_RETURN(const auto comparison, KernelComparison::Open(request));
  RETURN_IF_ERROR(CompareAll(path, *comparison));
  const std::vector<std::vector<KernelComparison::Match>> found = comparison->Matches();
  std::map<int64_t, DatasetMatch> places;
  for (const auto& matches : found) {
    if (!matches.empty()) places[matches[0].number];
  }
  RETURN_IF_ERROR(ReadPlaces(path, &places));
  std::vector<std::optional<DatasetMatch>> best;
  for (const auto& matches : found) {
    best.emplace_back();
    if (matches.empty()) continue;
    best.back() = places.at(matches[0].number);
    best.back()->kind = matches[0].kind;
    best.back()->similarity = matches[0].similarity;
  }
  return best;
}

}  // namespace kernelmill::client
