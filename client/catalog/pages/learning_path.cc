#include "client/catalog/pages/learning_path.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kernelmill::client {
namespace {

constexpr size_t kOfARepository = 2;
constexpr double kEnoughComments = 0.15;

double CleannessOf(const CatalogEntry& entry) {
  const double comments = std::min(entry.comment_ratio, kEnoughComments) / kEnoughComments;
  return entry.score + 0.3 * comments + 0.1 * entry.documented + 0.1 * entry.tested;
}

bool CanTeach(const CatalogEntry& entry) {
  return entry.self_contained && (entry.kind == "operation" || entry.kind == "example");
}

std::vector<uint32_t> Choose(const std::vector<CatalogEntry>& entries,
                             std::vector<uint32_t> candidates) {
  const auto by_cleanness = [&](uint32_t a, uint32_t b) {
    return std::pair(-CleannessOf(entries[a]), a) < std::pair(-CleannessOf(entries[b]), b);
  };
  std::sort(candidates.begin(), candidates.end(), by_cleanness);
  std::vector<uint32_t> chosen;
  std::set<std::string> names;
  std::map<std::string, size_t> of_repository;
  for (const uint32_t candidate : candidates) {
    if (chosen.size() == kPathLength) break;
    const CatalogEntry& entry = entries[candidate];
    if (of_repository[entry.repository] >= kOfARepository) continue;
    if (!names.insert(entry.name).second) continue;
    ++of_repository[entry.repository];
    chosen.push_back(candidate);
  }
  std::sort(chosen.begin(), chosen.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(DifficultyOf(entries[a]), a) < std::pair(DifficultyOf(entries[b]), b);
  });
  return chosen;
}

}  // namespace

double DifficultyOf(const CatalogEntry& entry) {
  return entry.lines * (1 + static_cast<double>(entry.features.size()) / 6);
}

std::map<std::string, std::vector<uint32_t>> LearningPaths(
    const std::vector<CatalogEntry>& entries) {
  std::map<std::string, std::vector<uint32_t>> by_tag;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (!CanTeach(entries[i])) continue;
    for (const std::string& tag : entries[i].tags) {
      if (tag != "backward") by_tag[tag].push_back(i);
    }
  }
  std::map<std::string, std::vector<uint32_t>> paths;
  for (auto& [tag, candidates] : by_tag) {
    std::vector<uint32_t> chosen = Choose(entries, std::move(candidates));
    if (chosen.size() > 1) paths[tag] = std::move(chosen);
  }
  return paths;
}

}  // namespace kernelmill::client
