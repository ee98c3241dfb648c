#include <nlohmann/json.hpp>

#include "client/catalog/coverage/coverage.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

Json Kernel(const std::optional<uint32_t>& number, const std::vector<CatalogEntry>& entries) {
  if (!number.has_value()) return nullptr;
  const CatalogEntry& entry = entries[*number];
  return {{"id", entry.id},
          {"qualname", entry.qualname},
          {"repository", entry.repository},
          {"path", entry.path},
          {"score", entry.score}};
}

Json Text(absl::string_view text) { return std::string(text); }

Json Operation(const OperationCoverage& coverage, const std::vector<CatalogEntry>& entries) {
  return {{"name", Text(coverage.operation->name)},
          {"list", Text(coverage.operation->list)},
          {"forward", coverage.forward},
          {"backward", coverage.backward},
          {"differentiable", coverage.operation->differentiable},
          {"dtypes", coverage.dtypes},
          {"languages", coverage.languages},
          {"licenses", coverage.licenses},
          {"fused_with", coverage.fused_with},
          {"strided", coverage.strided},
          {"self_contained", coverage.self_contained},
          {"first_tier", coverage.first_tier},
          {"compile", coverage.compile},
          {"tested", coverage.tested},
          {"best", Kernel(coverage.best, entries)},
          {"nearest", coverage.found() > 0 ? Json(nullptr) : Kernel(coverage.nearest, entries)}};
}

}  // namespace

std::string CoverageJson(const Coverage& coverage, const std::vector<CatalogEntry>& entries) {
  Json operations = Json::array();
  for (const OperationCoverage& each : coverage.operations()) {
    operations.push_back(Operation(each, entries));
  }
  Json needs = Json::array();
  for (const Need& need : coverage.needs()) {
    const KnownOperation& operation = *coverage.operations()[need.operation].operation;
    needs.push_back({{"name", Text(operation.name)},
                     {"list", Text(operation.list)},
                     {"what", need.what},
                     {"weight", need.weight},
                     {"nearest", Kernel(need.nearest, entries)}});
  }
  return Json({{"kernels", coverage.kernels()}, {"operations", operations}, {"needed", needs}})
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace kernelmill::client
