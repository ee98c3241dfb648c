#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/catalog/relatives/overview.h"
#include "common/base/hash.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

// The basic idea: kernels that are alike agree in two neighbouring bins of their sketches
// somewhere, so a table from pairs of bins to kernels has them side by side; names, launchers and
// files likewise. Who stands together is compared, but where too many do, which says nothing: by
// the sketches first, then the nearest of these by their runs.
constexpr size_t kCrowd = 48;
constexpr size_t kMaxCandidates = 128;
constexpr size_t kMaxCompared = 3 * kMaxRelatives;  // by their runs
constexpr double kAlike = 0.3;
constexpr double kSameName = 0.05;

enum class Tie : uint8_t { kAlike, kName, kLauncher, kFile };
constexpr const char* kWhy[] = {"alike", "same name", "same launcher", "same file"};

struct Place {
  uint64_t key = 0;
  uint32_t entry = 0;
  bool operator<(const Place& other) const {
    return std::tie(key, entry) < std::tie(other.key, other.entry);
  }
};

struct Candidate {
  uint32_t entry = 0;
  Tie tie = Tie::kAlike;
};

using Candidates = std::vector<std::vector<Candidate>>;

bool Before(const Candidate& a, const Candidate& b) {
  return std::tie(a.entry, a.tie) < std::tie(b.entry, b.tie);
}

// Each once, and no more than kMaxCandidates, so that memory does not go with how alike all are.
void Compact(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), Before);
  const auto same = [](const Candidate& a, const Candidate& b) {
    return !Before(a, b) && !Before(b, a);
  };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());
  if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
}

// Kernels with equal keys become each other's candidates.
void AddNeighbours(std::vector<Place> places, Tie tie, Candidates* candidates) {
  std::sort(places.begin(), places.end());
  for (size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    while (end < places.size() && places[end].key == places[begin].key) ++end;
    if (end - begin > kCrowd) continue;
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = begin; j < end; ++j) {
        if (places[i].entry == places[j].entry) continue;
        (*candidates)[places[i].entry].push_back({places[j].entry, tie});
      }
      std::vector<Candidate>& all = (*candidates)[places[i].entry];
      if (all.size() > 2 * kMaxCandidates) Compact(all);
    }
  }
}

void AddBand(const std::vector<CatalogEntry>& entries, size_t bin, Candidates* candidates) {
  std::vector<Place> places;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const auto& least = entries[i].sketch.least;
    if (least[bin] == Sketch::kEmpty || least[bin + 1] == Sketch::kEmpty) continue;
    places.push_back({static_cast<uint64_t>(least[bin]) << 16 | least[bin + 1], i});
  }
  AddNeighbours(std::move(places), Tie::kAlike, candidates);
}

template <typename Key>
void AddByText(const std::vector<CatalogEntry>& entries, Tie tie, const Key& key,
               Candidates* candidates) {
  std::vector<Place> places;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const std::string text = key(entries[i]);
    if (!text.empty()) places.push_back({StableHash64(text), i});
  }
  AddNeighbours(std::move(places), tie, candidates);
}

bool Holds(Tie tie, double similarity) {
  if (tie == Tie::kAlike) return similarity >= kAlike;
  return tie != Tie::kName || similarity >= kSameName;
}

// What an entry has in common with another: the ties from `begin` to `end`.
struct Neighbour {
  uint32_t entry = 0;
  double similarity = 0;
  size_t begin = 0;
  size_t end = 0;
};

// The candidates that sketches have as the nearest.
std::vector<Neighbour> NearestBySketch(const std::vector<CatalogEntry>& entries, uint32_t entry,
                                       const std::vector<Candidate>& candidates) {
  std::vector<Neighbour> neighbours;
  for (size_t i = 0; i < candidates.size();) {
    Neighbour neighbour{.entry = candidates[i].entry, .begin = i};
    while (i < candidates.size() && candidates[i].entry == neighbour.entry) ++i;
    neighbour.end = i;
    neighbour.similarity =
        EstimatedSimilarity(entries[entry].sketch, entries[neighbour.entry].sketch);
    neighbours.push_back(neighbour);
  }
  std::stable_sort(neighbours.begin(), neighbours.end(),
                   [](const auto& a, const auto& b) { return a.similarity > b.similarity; });
  if (neighbours.size() > kMaxCompared) neighbours.resize(kMaxCompared);
  return neighbours;
}

absl::StatusOr<std::vector<Relative>> Nearest(const std::vector<CatalogEntry>& entries,
                                              uint32_t entry, std::vector<Candidate> candidates,
                                              RunRecords& records) {
  Compact(candidates);
  std::vector<std::pair<Tie, Relative>> found;
  if (candidates.empty()) return std::vector<Relative>();
  ASSIGN_OR_RETURN(const std::vector<uint64_t> own, records.Read(entry));
  for (const Neighbour& neighbour : NearestBySketch(entries, entry, candidates)) {
    ASSIGN_OR_RETURN(const std::vector<uint64_t> others, records.Read(neighbour.entry));
    const double similarity = Similarity(own, others);
    for (size_t i = neighbour.begin; i < neighbour.end; ++i) {
      const Tie tie = candidates[i].tie;
      if (!Holds(tie, similarity)) continue;
      found.emplace_back(tie, Relative{neighbour.entry, similarity, kWhy[static_cast<int>(tie)]});
      break;
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.second.similarity, a.first, a.second.entry) <
           std::tuple(-b.second.similarity, b.first, b.second.entry);
  });
  std::vector<Relative> nearest;
  for (size_t i = 0; i < std::min(found.size(), kMaxRelatives); ++i) {
    nearest.push_back(found[i].second);
  }
  return nearest;
}

}  // namespace

bool CatalogEntry::HasTag(absl::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool CatalogEntry::backward() const { return HasTag("backward"); }

absl::StatusOr<std::vector<std::vector<Relative>>> FindRelatives(
    const std::vector<CatalogEntry>& entries, RunRecords& runs) {
  Candidates candidates(entries.size());
  for (size_t bin = 0; bin < Sketch::kBins; bin += 2) AddBand(entries, bin, &candidates);
  AddByText(
      entries, Tie::kName, [](const CatalogEntry& entry) { return entry.name; }, &candidates);
  AddByText(
      entries, Tie::kLauncher,
      [](const CatalogEntry& entry) {
        return entry.launcher.empty() ? "" : absl::StrCat(entry.repository, "\n", entry.launcher);
      },
      &candidates);
  AddByText(
      entries, Tie::kFile,
      [](const CatalogEntry& entry) { return absl::StrCat(entry.repository, "\n", entry.path); },
      &candidates);
  std::vector<std::vector<Relative>> relatives(entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    ASSIGN_OR_RETURN(relatives[i], Nearest(entries, i, std::exchange(candidates[i], {}), runs));
  }
  return relatives;
}

}  // namespace kernelmill::client
