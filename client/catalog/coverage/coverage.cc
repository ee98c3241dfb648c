// The comparison of kernels with the operations that people want (operation_table.cc), and the list
// of gaps. An operation's parts are conditions on a kernel's tags and on whole words in the names
// of the kernel, its launcher and its file; see KnownOperation.

#include "client/catalog/coverage/coverage.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "dataset/pairs/kernel_traits.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxRun = 4;  // words in a phrase
constexpr double kFirstTier = 0.8;
constexpr char kUntagged[] = "#untagged";  // the table's word for a kernel without tags

// Returns whether a part is a condition: it excludes names with another meaning, and does not count
// for near.
bool IsCondition(absl::string_view part) { return absl::StrContains(part, kUntagged); }

// Adds all runs of up to kMaxRun neighbouring words, joined: "fused layer norm" gives fused,
// fusedlayer, fusedlayernorm, layer, layernorm, norm. The table then finds an operation however its
// name is cut into words.
void AddRuns(const std::vector<std::string>& words, std::set<std::string>* phrases) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string run;
    for (size_t j = i; j < std::min(words.size(), i + kMaxRun); ++j) {
      run += words[j];
      phrases->insert(run);
    }
  }
}

// Returns whether a kernel is a helper that only other kernels can use. It is at best near.
bool IsOnlyHelper(const CatalogEntry& entry) { return entry.kind == "helper" && !entry.decorated; }

using Json = nlohmann::ordered_json;

// Returns the place of a kernel; null without one.
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

// A set: each phrase once, in a fixed order.
std::vector<std::string> NamePhrases(const CatalogEntry& entry) {
  std::set<std::string> phrases;
  AddRuns(dataset::IdentifierWords(entry.name), &phrases);
  const std::vector<absl::string_view> launcher =
      absl::StrSplit(entry.launcher, absl::MaxSplits(' ', 1));
  if (launcher.size() == 2) AddRuns(dataset::IdentifierWords(LastPart(launcher[1])), &phrases);
  const absl::string_view file = BaseName(entry.path);
  AddRuns(dataset::IdentifierWords(file.substr(0, file.rfind('.'))), &phrases);
  return {phrases.begin(), phrases.end()};
}

// In the table conditions come after the parts that name the operation, so that a part is a naming
// one if its number is below naming_counts_.
Coverage::Coverage(absl::Span<const KnownOperation> operations)
    : part_counts_(operations.size(), 0),
      naming_counts_(operations.size(), 0),
      nearest_rank_(operations.size(), {0, -1}),
      best_standing_(operations.size(), -1) {
  for (size_t i = 0; i < operations.size(); ++i) {
    operations_.emplace_back().operation = &operations[i];
    for (const absl::string_view part : absl::StrSplit(operations[i].parts, " & ")) {
      for (const absl::string_view choice : absl::StrSplit(part, '|')) {
        uses_[choice].emplace_back(static_cast<uint16_t>(i), static_cast<uint8_t>(part_counts_[i]));
      }
      ++part_counts_[i];
      naming_counts_[i] += !IsCondition(part);
    }
  }
}

// The basic idea: `uses_` maps each choice (a tag or a phrase of names) to the parts of operations
// that accept it. A kernel's tags and phrases give a set of parts, sorted by operation. A kernel
// that has all parts of an operation counts for it; one that has the first part may be near.
void Coverage::Add(const CatalogEntry& entry, uint32_t number) {
  ++kernels_;
  if (entry.kind == "broken" || entry.kind == "test") return;
  std::set<std::pair<uint16_t, uint8_t>> parts;
  const auto add = [&](const std::string& choice) {
    const auto uses = uses_.find(choice);
    if (uses != uses_.end()) parts.insert(uses->second.begin(), uses->second.end());
  };
  for (const std::string& tag : entry.tags) {
    add(absl::StrCat("#", tag));
  }
  if (entry.tags.empty()) add(kUntagged);
  for (const std::string& phrase : NamePhrases(entry)) add(phrase);
  for (auto part = parts.begin(); part != parts.end();) {
    const uint16_t operation = part->first;
    // The set is sorted, so the operation's first part comes first if the kernel has it.
    const bool has_first = part->second == 0;
    // Count the parts that the kernel has of this operation. Parts of one operation are neighbours
    // in the set.
    int had = 0;
    int named = 0;
    for (; part != parts.end() && part->first == operation; ++part) {
      ++had;
      named += part->second < naming_counts_[operation];
    }
    if (had == part_counts_[operation] && !IsOnlyHelper(entry)) {
      Count(entry, number, operations_[operation]);
    } else if (has_first) {
      KeepNearest(entry, number, operation, named);
    }
  }
}

void Coverage::Count(const CatalogEntry& entry, uint32_t number, OperationCoverage& coverage) {
  ++(entry.backward() ? coverage.backward : coverage.forward);
  for (const std::string& dtype : entry.dtypes) ++coverage.dtypes[dtype];
  ++coverage.languages[entry.dsl];
  ++coverage.licenses[entry.license];
  for (const std::string& tag : entry.tags) {
    // A tag that the operation requires says nothing about fusion.
    const bool own = absl::StrContains(coverage.operation->parts, absl::StrCat("#", tag));
    if (tag != "backward" && !own) ++coverage.fused_with[tag];
  }
  coverage.strided += entry.strided;
  coverage.self_contained += entry.self_contained;
  coverage.first_tier += entry.score >= kFirstTier;
  coverage.compile += entry.compiles;
  coverage.tested += entry.tested;
  // `coverage` is an element of operations_; its index is that of the other columns.
  double& best = best_standing_[static_cast<size_t>(&coverage - operations_.data())];
  if (entry.standing > best) {
    best = entry.standing;
    coverage.best = number;
  }
}

void Coverage::KeepNearest(const CatalogEntry& entry, uint32_t number, size_t operation,
                           int parts) {
  // Half of the naming parts or fewer is not near.
  if (2 * parts <= naming_counts_[operation]) return;
  // Rank by parts, then by group, then by standing.
  const bool same_group = entry.HasTag(operations_[operation].operation->near);
  const std::pair<int, double> rank{2 * parts + same_group, entry.standing};
  // On a tie the first kernel of the dataset stays.
  if (rank <= nearest_rank_[operation]) return;
  nearest_rank_[operation] = rank;
  operations_[operation].nearest = number;
}

void Coverage::AddNeed(size_t operation, const char* what, double weight) {
  const OperationCoverage& coverage = operations_[operation];
  const auto nearest = coverage.best.has_value() ? coverage.best : coverage.nearest;
  needs_.push_back({operation, what, weight, nearest});
}

void Coverage::Finish() {
  // Operations with the same parts are the same operation.
  absl::flat_hash_map<absl::string_view, std::set<absl::string_view>> lists;
  for (const OperationCoverage& each : operations_) {
    lists[each.operation->parts].insert(each.operation->list);
  }
  for (size_t i = 0; i < operations_.size(); ++i) {
    OperationCoverage& each = operations_[i];
    // Each further list that asks for the operation adds a half. The weights order the gaps: a
    // missing kernel counts more than a missing backward pass, and that more than a lack of
    // quality.
    const double asked = 1.0 + 0.5 * static_cast<double>(lists[each.operation->parts].size() - 1);
    const bool chain = part_counts_[i] > 2;  // several operations in one: fewer people want it
    const double weight = asked * (chain ? 0.5 : 1);
    if (each.found() == 0) {
      AddNeed(i, "no kernel", 4 * weight);
      continue;
    }
    if (each.operation->differentiable && each.backward == 0) {
      AddNeed(i, "no backward pass", 3 * weight);
    }
    if (each.self_contained == 0) AddNeed(i, "none self-contained", 1.5 * weight);
    if (each.first_tier == 0) AddNeed(i, "none of tier 1", weight);
  }
  std::stable_sort(needs_.begin(), needs_.end(),
                   [](const Need& a, const Need& b) { return a.weight > b.weight; });
}

std::vector<std::string> WantedSearches(const Coverage& coverage, size_t limit) {
  std::vector<std::string> searches;
  std::set<std::string> seen;
  for (const Need& need : coverage.needs()) {
    if (searches.size() >= limit) break;
    const KnownOperation& operation = *coverage.operations()[need.operation].operation;
    // Remove the list's marks: "aten." and "kernelbench.2.37 ".
    absl::string_view name = operation.name;
    absl::ConsumePrefix(&name, "aten.");
    if (absl::ConsumePrefix(&name, "kernelbench.")) name.remove_prefix(name.find(' ') + 1);
    std::vector<std::string> words = {"triton.jit"};
    for (const absl::string_view word : absl::StrSplit(name, absl::ByAnyChar(" +,:"))) {
      if (!word.empty()) words.emplace_back(absl::StripPrefix(word, "_"));
    }
    if (need.what == "no backward pass") words.push_back("backward");
    const std::string search = absl::StrJoin(words, " ");
    // Several gaps of one operation, or of the same operation in two lists, give the same search.
    if (seen.insert(search).second) searches.push_back(search);
  }
  return searches;
}

// Invalid UTF-8 is replaced, so that the file is JSON for any dataset.
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
