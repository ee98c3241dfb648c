#include "dataset/analysis/analysis_json.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelmill::dataset {
namespace {

// A part of a whole; null of nothing.
Json Share(int64_t part, int64_t whole) {
  return whole == 0 ? Json() : Number(static_cast<double>(part) / static_cast<double>(whole));
}

Json TallyJson(const std::string& name, const Tally& tally, const Tally& total) {
  return {{"name", name},          {"found", tally.found},
          {"kept", tally.kept},    {"share_of_kept", Share(tally.kept, total.kept)},
          {"lines", tally.lines},  {"size_bytes", tally.size_bytes},
          {"tokens", tally.tokens}};
}

Json TalliesJson(const Analysis::Tallies& tallies, const Tally& total) {
  std::vector<std::pair<std::string, Tally>> sorted(tallies.begin(), tallies.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.second.kept, a.second.found) >
           std::make_pair(b.second.kept, b.second.found);
  });
  Json list = Json::array();
  for (const auto& [name, tally] : sorted) list.push_back(TallyJson(name, tally, total));
  return list;
}

Json OutcomesJson(const Outcomes& outcomes) {
  return {{"pass", outcomes.pass},
          {"fail", outcomes.fail},
          {"exempt", outcomes.exempt},
          {"share", Share(outcomes.pass, outcomes.pass + outcomes.fail)}};
}

Json ChecksJson(const Analysis::Checks& checks) {
  Json list = Json::array();
  for (const auto& [name, tally] : checks) {
    list.push_back(
        {{"name", name}, {"found", OutcomesJson(tally.found)}, {"kept", OutcomesJson(tally.kept)}});
  }
  return list;
}

Json FilesJson(const std::map<std::string, FileTally>& files) {
  Json list = Json::array();
  for (const auto& [name, tally] : files) {
    list.push_back({{"name", Text(name)},
                    {"files", tally.files},
                    {"lines", tally.lines},
                    {"size_bytes", tally.size_bytes}});
  }
  return list;
}

// How many values are of 2^n to 2^(n+1) - 1, from the least to the greatest such range.
Json Histogram(const std::vector<uint32_t>& values) {
  std::vector<int64_t> counts;
  for (const uint32_t value : values) {
    const auto width = static_cast<size_t>(std::bit_width(value));
    if (counts.size() <= width) counts.resize(width + 1);
    ++counts[width];
  }
  Json list = Json::array();
  for (size_t width = 0; width < counts.size(); ++width) {
    if (list.empty() && counts[width] == 0) continue;
    const int64_t from = width == 0 ? 0 : int64_t{1} << (width - 1);
    list.push_back({{"from", from}, {"below", int64_t{1} << width}, {"kernels", counts[width]}});
  }
  return list;
}

// The value that this many thousandths of all are at most.
uint32_t Quantile(const std::vector<uint32_t>& sorted, size_t thousandths) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * thousandths / 1000)];
}

Json SizesJson(std::vector<uint32_t> values) {
  std::sort(values.begin(), values.end());
  Json quantiles = Json::array();
  if (!values.empty()) {
    for (const size_t thousandths : {0, 100, 250, 500, 750, 900, 990, 1000}) {
      quantiles.push_back({{"share", Number(static_cast<double>(thousandths) / 1000)},
                           {"value", Quantile(values, thousandths)}});
    }
  }
  return {{"quantiles", std::move(quantiles)}, {"histogram", Histogram(values)}};
}

Json CategoriesJson(const Analysis& analysis) {
  Json list = Json::array();
  for (const auto& [category, checks] : analysis.checks_by_category()) {
    const Analysis::Tallies& licenses = analysis.licenses_by_category().at(category);
    list.push_back({{"name", Text(category)},
                    {"checks", ChecksJson(checks)},
                    {"license_basis", TalliesJson(licenses, analysis.total())}});
  }
  return list;
}

Json CompileTallyJson(const Analysis::CompileTally& tally) {
  return {{"found", CompileCountsJson(tally.found)}, {"kept", CompileCountsJson(tally.kept)}};
}

// Null where the job compiles nothing.
Json CompileJson(const Analysis& analysis) {
  if (analysis.compile_by_repository().empty()) return nullptr;
  Json json = CompileTallyJson(analysis.compile());
  json["by_repository"] = Json::array();
  for (const auto& [repository, tally] : analysis.compile_by_repository()) {
    Json row = CompileTallyJson(tally);
    row["name"] = Text(repository);
    json["by_repository"].push_back(std::move(row));
  }
  return json;
}

Json LossesJson(const Analysis& analysis) {
  Json list = Json::array();
  for (const auto& [fate, reasons] : analysis.losses()) {
    for (const auto& [reason, kernels] : reasons) {
      list.push_back({{"fate", fate}, {"reason", reason}, {"kernels", kernels}});
    }
  }
  return list;
}

Json ClustersJson(const Analysis& analysis) {
  Json list = Json::array();
  for (const auto& [kernels, clusters] : analysis.clusters()) {
    list.push_back({{"kernels", kernels}, {"clusters", clusters}});
  }
  return list;
}

}  // namespace

Json AnalysisJson(absl::string_view name, absl::string_view dataset, const Analysis& analysis) {
  Json by = Json::object();
  for (const std::string& dimension : AnalysisDimensions()) {
    const auto found = analysis.by().find(dimension);
    by[dimension] =
        found == analysis.by().end() ? Json::array() : TalliesJson(found->second, analysis.total());
  }
  return {{"generator", "kernelmill"},
          {"schema", 1},
          {"name", Text(name)},
          {"dataset", std::string(dataset)},
          {"kernels", TallyJson("all", analysis.total(), analysis.total())},
          {"lost", LossesJson(analysis)},
          {"by", std::move(by)},
          {"checks", ChecksJson(analysis.checks())},
          {"categories", CategoriesJson(analysis)},
          {"compile", CompileJson(analysis)},
          {"files",
           {{"by_category", FilesJson(analysis.files_by_category())},
            {"by_repository", FilesJson(analysis.files_by_repository())}}},
          {"clusters", ClustersJson(analysis)},
          {"sizes",
           {{"tokens", SizesJson(analysis.tokens())}, {"lines", SizesJson(analysis.lines())}}}};
}

}  // namespace kernelmill::dataset
