// The search for similar kernels in an export, without a store. It reads kernels.jsonl twice: first
// all texts, to compare them in batches, and then the places of the rows that match. A row's
// number, counted over the rows of the split train, connects the two passes; both use the same
// walk, so that the numbers agree.

#include "client/commands/exported_kernels.h"

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "common/base/status.h"
#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"
#include "services/deduplicator/server/similar_search.h"

namespace kernelmill::client {
namespace {

using deduplicator::KernelComparison;

// Rows that are in memory at once.
constexpr int kBatchRows = 256;

// Calls visit(row) for each row of the split train.
absl::Status ForEachTrainRow(const std::string& dataset, std::vector<std::string> fields,
                             const std::function<void(const v1::KernelRow&)>& visit) {
  fields.emplace_back("split");
  return dataset::ForEachRow<v1::KernelRow>(
      dataset, {.fields = std::move(fields), .require_rows = true},
      [&visit](const v1::KernelRow& row, const dataset::RowPlace&) {
        // A dataset without splits is used for training as a whole.
        if (row.split().empty() || row.split() == "train") visit(row);
        return absl::OkStatus();
      });
}

// Passes all rows to the comparison, in batches. The comparison numbers them in this order.
absl::Status CompareAll(const std::string& dataset, KernelComparison& comparison) {
  v1::KernelShard batch;
  RETURN_IF_ERROR(
      ForEachTrainRow(dataset, {"source", "name", "dsl"}, [&](const v1::KernelRow& row) {
        v1::Kernel* const kernel = batch.add_kernels();
        kernel->set_source(row.source());
        kernel->set_name(row.name());
        kernel->set_dsl(row.dsl());
        if (batch.kernels_size() == kBatchRows) comparison.Add(std::exchange(batch, {}));
      }));
  comparison.Add(batch);
  return absl::OkStatus();
}

// Fills in the places of the rows of these numbers, counted from 0 among those of train.
absl::Status ReadPlaces(const std::string& dataset, std::map<int64_t, DatasetMatch>* places) {
  int64_t number = 0;
  return ForEachTrainRow(dataset, {"repository", "path", "qualname", "first_line"},
                         [&](const v1::KernelRow& row) {
                           const auto place = places->find(number++);
                           if (place == places->end()) return;
                           place->second.repository = row.repository();
                           place->second.path = row.path();
                           place->second.qualname = row.qualname();
                           place->second.first_line = row.first_line();
                         });
}

}  // namespace

absl::StatusOr<std::vector<std::optional<DatasetMatch>>> FindInExport(
    const std::string& folder, const std::vector<v1::Kernel>& kernels, double threshold) {
  v1::SimilarRequest request;
  request.set_top(1);
  request.set_threshold(threshold);
  for (const v1::Kernel& kernel : kernels) *request.add_kernels() = kernel;
  ASSIGN_OR_RETURN(const auto comparison, KernelComparison::Open(request));
  RETURN_IF_ERROR(CompareAll(folder, *comparison));
  const std::vector<std::vector<KernelComparison::Match>> found = comparison->Matches();
  std::map<int64_t, DatasetMatch> places;
  for (const auto& matches : found) {
    // Only the best match of a kernel is asked for; see set_top above.
    if (!matches.empty()) places[matches[0].number];
  }
  RETURN_IF_ERROR(ReadPlaces(folder, &places));
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
