#include "client/diff/diff_output.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/console/format.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRepositories = 40;  // in the table, those with the most changes

template <size_t size>
std::string Hex(const std::array<char, size>& bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

int64_t SumOf(const ExportedDataset& dataset, const std::string& name) {
  const auto sum = dataset.sums.find(name);
  return sum == dataset.sums.end() ? 0 : sum->second;
}

std::string HeadLine(absl::string_view mark, const ExportedDataset& dataset) {
  return absl::StrFormat(
      "%s %s  %s\n  kernels %d found = %d kept + %d rejected + %d duplicate + %d contaminated\n",
      mark, OneLine(dataset.name), OneLine(dataset.digest), SumOf(dataset, "found"),
      SumOf(dataset, "kept"), SumOf(dataset, "rejected"), SumOf(dataset, "duplicate"),
      SumOf(dataset, "contaminated"));
}

std::string Section(absl::string_view title, const std::vector<std::string>& lines, size_t limit) {
  if (lines.empty()) return "";
  std::string text = absl::StrCat(title, "\n");
  for (size_t i = 0; i < lines.size() && i < limit; ++i) {
    absl::StrAppend(&text, "  ", OneLine(lines[i]), "\n");
  }
  if (lines.size() > limit) absl::StrAppend(&text, "  and ", lines.size() - limit, " more\n");
  return text;
}

std::string ReasonsText(const DatasetDiff& diff) {
  std::string text;
  for (int kind = 0; kind < kChangeKinds; ++kind) {
    int64_t total = 0;
    std::string reasons;
    for (const auto& [key, count] : diff.by_reason) {
      if (key.first != static_cast<ChangeKind>(kind)) continue;
      total += count;
      absl::StrAppendFormat(&reasons, "  %8d  %s\n", count, OneLine(key.second));
    }
    if (total == 0) continue;
    absl::StrAppendFormat(&text, "%-9s %d\n", ChangeName(static_cast<ChangeKind>(kind)), total);
    text += reasons;
  }
  return text;
}

std::string RepositoriesText(const DatasetDiff& diff) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [repository, kinds] : diff.by_repository) {
    int64_t total = 0;
    for (const auto& [kind, count] : kinds) total += count;
    order.emplace_back(-total, repository);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> lines;
  for (const auto& [negative, repository] : order) {
    std::string line = absl::StrCat(repository, ": ");
    bool first = true;
    for (const auto& [kind, count] : diff.by_repository.at(repository)) {
      absl::StrAppend(&line, first ? "" : ", ", count, " ", ChangeName(kind));
      first = false;
    }
    lines.push_back(std::move(line));
  }
  return Section("repositories", lines, kMostRepositories);
}

// The kernel that one goes by, where its ledger has it; else nothing.
const ExportedKernel* LeaderOf(const ExportedDataset& dataset, const ExportedKernel& kernel) {
  return kernel.of == std::array<char, 16>{} ? nullptr : dataset.Find(kernel.of);
}

std::string PlaceText(const ExportedKernel& kernel, const Texts& texts) {
  std::string place = absl::StrCat(texts.Of(kernel.repository), " ", texts.Of(kernel.path),
                                   kernel.json_pointer == 0 ? "" : "#",
                                   texts.Of(kernel.json_pointer), ":", kernel.first_line);
  if (kernel.qualname != 0) absl::StrAppend(&place, " ", texts.Of(kernel.qualname));
  return place;
}

// What is said of one dataset's kernel, which may not be there.
struct Side {
  const ExportedDataset& dataset;
  const ExportedKernel* kernel;
};

Side SideOf(const ExportedDataset& dataset, uint32_t at) {
  return {dataset, at == kNoKernel ? nullptr : &dataset.kernels[at]};
}

std::string ChangeText(const Side& a, const Side& b, const KernelChange& change,
                       const Texts& texts) {
  const ExportedKernel& shown = b.kernel == nullptr ? *a.kernel : *b.kernel;
  std::string text = PlaceText(shown, texts);
  if (change.kind == ChangeKind::kMoved) {
    absl::StrAppend(&text, " (was ", PlaceText(*a.kernel, texts), ")");
  }
  absl::StrAppend(&text, ": ", texts.Of(change.reason));
  // Of which other kernel that is said.
  const Side& told = change.kind == ChangeKind::kCame ? a : b;
  if (told.kernel == nullptr) return text;
  const ExportedKernel* leader = LeaderOf(told.dataset, *told.kernel);
  if (leader != nullptr && leader != told.kernel) {
    absl::StrAppend(&text, ", of ", PlaceText(*leader, texts));
  }
  return text;
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json SideJson(const Side& side, const Texts& texts) {
  if (side.kernel == nullptr) return nullptr;
  const ExportedKernel& kernel = *side.kernel;
  const bool of = kernel.of != std::array<char, 16>{};
  return {{"id", Hex(kernel.id)},
          {"repository", texts.Of(kernel.repository)},
          {"path", texts.Of(kernel.path)},
          {"json_pointer", TextOrNull(texts.Of(kernel.json_pointer))},
          {"first_line", kernel.first_line},
          {"dsl", texts.Of(kernel.dsl)},
          {"sha256", Hex(kernel.sha256)},
          {"qualname", TextOrNull(texts.Of(kernel.qualname))},
          {"license", TextOrNull(texts.Of(kernel.license))},
          {"compiles", TextOrNull(texts.Of(kernel.compiles))},
          {"fate", texts.Of(kernel.fate)},
          {"reason", TextOrNull(texts.Of(kernel.reason))},
          {"of", of ? Json(Hex(kernel.of)) : Json()}};
}

Json DatasetJson(const ExportedDataset& dataset) {
  return {{"name", dataset.name}, {"dataset", dataset.digest}, {"kernels", dataset.sums}};
}

Json SummaryJson(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff) {
  Json reasons = Json::array();
  for (const auto& [key, count] : diff.by_reason) {
    reasons.push_back({{"change", std::string(ChangeName(key.first))},
                       {"reason", key.second},
                       {"kernels", count}});
  }
  Json repositories = Json::array();
  for (const auto& [repository, kinds] : diff.by_repository) {
    Json row = {{"repository", repository}};
    for (const auto& [kind, count] : kinds) row[std::string(ChangeName(kind))] = count;
    repositories.push_back(std::move(row));
  }
  return {{"same", diff.same},
          {"a", DatasetJson(a)},
          {"b", DatasetJson(b)},
          {"stages", diff.stages},
          {"sources", diff.sources},
          {"settings", diff.settings},
          {"changes", std::move(reasons)},
          {"repositories", std::move(repositories)}};
}

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string DiffText(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff,
                     const Texts& texts, size_t limit) {
  std::string text = absl::StrCat(HeadLine("a", a), HeadLine("b", b));
  absl::StrAppend(&text, Section("stages", diff.stages, limit),
                  Section("sources", diff.sources, limit),
                  Section("settings", diff.settings, limit));
  if (diff.changes.empty()) {
    return absl::StrCat(text, diff.same ? "the same dataset\n" : "the same kernels\n");
  }
  absl::StrAppend(&text, ReasonsText(diff), RepositoriesText(diff));
  for (size_t i = 0; i < diff.changes.size();) {
    const ChangeKind kind = diff.changes[i].kind;
    std::vector<std::string> lines;
    size_t all = 0;
    for (; i < diff.changes.size() && diff.changes[i].kind == kind; ++i, ++all) {
      const KernelChange& change = diff.changes[i];
      if (all < limit) {
        lines.push_back(ChangeText(SideOf(a, change.a), SideOf(b, change.b), change, texts));
      }
    }
    text += Section(ChangeName(kind), lines, limit);
    if (all > limit) absl::StrAppend(&text, "  and ", all - limit, " more\n");
  }
  return text;
}

void WriteDiffJson(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff,
                   const Texts& texts, const std::function<void(absl::string_view)>& write) {
  write(Line(SummaryJson(a, b, diff)));
  for (const KernelChange& change : diff.changes) {
    write(Line({{"change", std::string(ChangeName(change.kind))},
                {"reason", texts.Of(change.reason)},
                {"a", SideJson(SideOf(a, change.a), texts)},
                {"b", SideJson(SideOf(b, change.b), texts)}}));
  }
}

}  // namespace kernelmill::client
