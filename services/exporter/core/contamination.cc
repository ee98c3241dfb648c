#include "services/exporter/core/contamination.h"

#include <map>
#include <string>
#include <utility>

#include "services/exporter/core/place.h"

namespace kernelmill::exporter {
namespace {

// Which holdout kernel it is, and where it is found.
Json ItemJson(const DatasetIndex& index, uint32_t number) {
  const KernelEntry& kernel = index.kernels[number];
  const SourceEntry& source = index.SourceOf(number);
  Json json = {{"id", kernel.id},
               {"repository", Text(source.repository)},
               {"commit", source.commit},
               {"first_line", kernel.first_line},
               {"last_line", kernel.last_line}};
  SetPlace(json, index, number);
  return json;
}

}  // namespace

Json ContaminationJson(const DatasetIndex& index, uint32_t number) {
  Json list = Json::array();
  for (const v1::Contamination& match : index.DecisionOn(number).contamination()) {
    list.push_back({{"holdout", ItemJson(index, match.holdout())},
                    {"rule", match.rule()},
                    {"score", Number(match.score())},
                    {"decisive", match.decisive()}});
  }
  return list;
}

Json ContaminationReport(const DatasetIndex& index) {
  std::map<uint32_t, std::map<std::string, int64_t>> by_item;
  int64_t labelled = 0;
  for (const uint32_t number : index.candidates) {
    const v1::Decision& decision = index.DecisionOn(number);
    if (decision.contamination().empty() || !decision.contamination(0).decisive()) continue;
    if (decision.fate() == v1::FATE_REJECTED) continue;
    ++by_item[decision.contamination(0).holdout()][decision.contamination(0).rule()];
    labelled += decision.fate() == v1::FATE_KEPT;
  }
  Json items = Json::array();
  for (const auto& [holdout, by_rule] : by_item) {
    items.push_back({{"holdout", ItemJson(index, holdout)}, {"kernels", by_rule}});
  }
  return {{"items", std::move(items)}, {"kept", labelled}};
}

}  // namespace kernelmill::exporter
