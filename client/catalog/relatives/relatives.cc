#include "client/catalog/relatives/relatives.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client {
namespace {

// The relatives of all kernels without comparing each with each.
//
// The basic idea: similar kernels agree in some pair of neighbouring bins of their sketches. So a
// list sorted by such pairs has them side by side; lists sorted by name, launcher and file are used
// the same way. Neighbours become candidates, except in crowds of more than kCrowd, which say
// nothing. The sketches rank the candidates of a kernel, and the runs give the similarity of the
// nearest ones.
//
// The 64 bins give 32 pairs. Two kernels with the similarity s agree in a bin with the probability
// s, and in at least one pair with the probability 1 - (1 - s^2)^32: 95 % at s = 0.3 (kSimilar),
// nearly always from 0.5 on. Each list costs one sort, n log n. A kernel gets at most kCrowd - 1
// candidates from a list, and reads the runs of at most kMaxCompared others from the temp file, so
// that the work for one kernel is bounded whatever the dataset has.
constexpr size_t kCrowd = 48;
constexpr size_t kMaxCandidates = 128;
constexpr size_t kMaxCompared = 3 * kMaxRelatives;  // candidates compared by their runs
constexpr double kSimilar = 0.3;
constexpr double kSameName = 0.05;

enum class Tie : uint8_t { kSimilar, kName, kLauncher, kFile };
constexpr const char* kWhy[] = {"similar", "same name", "same launcher", "same file"};

struct Place {
  uint64_t key = 0;
  uint32_t entry = 0;
  bool operator<(const Place& other) const {
    return std::tie(key, entry) < std::tie(other.key, other.entry);
  }
};

struct Candidate {
  uint32_t entry = 0;
  Tie tie = Tie::kSimilar;
};

using Candidates = std::vector<std::vector<Candidate>>;

// The order by entry, then by tie: the ties of one entry are neighbours, the strongest first.
bool Before(const Candidate& a, const Candidate& b) {
  return std::tie(a.entry, a.tie) < std::tie(b.entry, b.tie);
}

// Sorts the candidates and removes repeated ones. It keeps at most kMaxCandidates, which bounds the
// memory for datasets of similar kernels.
void Compact(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), Before);
  const auto same = [](const Candidate& a, const Candidate& b) {
    return !Before(a, b) && !Before(b, a);
  };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());
  if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
}

// Makes kernels with equal keys candidates of each other.
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
      // Compact from time to time, and not at each candidate: sorting is then paid for by as many
      // additions.
      std::vector<Candidate>& all = (*candidates)[places[i].entry];
      if (all.size() > 2 * kMaxCandidates) Compact(all);
    }
  }
}

// Makes kernels that agree in the bins `bin` and `bin` + 1 candidates of each other. An empty bin
// of a short kernel would agree with all other empty ones, so it does not count.
void AddBand(const std::vector<CatalogEntry>& entries, size_t bin, Candidates* candidates) {
  std::vector<Place> places;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const auto& least = entries[i].sketch.least;
    if (least[bin] == Sketch::kEmpty || least[bin + 1] == Sketch::kEmpty) continue;
    places.push_back({static_cast<uint64_t>(least[bin]) << 16 | least[bin + 1], i});
  }
  AddNeighbours(std::move(places), Tie::kSimilar, candidates);
}

// Makes kernels with the same text candidates of each other; an empty text has no neighbours.
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

// Returns whether a tie makes a relative at this similarity. Common names such as "kernel" need
// some similarity too; a common launcher or file is enough by itself.
bool Holds(Tie tie, double similarity) {
  if (tie == Tie::kSimilar) return similarity >= kSimilar;
  return tie != Tie::kName || similarity >= kSameName;
}

// Another entry, with its ties: the candidates from `begin` to `end`.
struct Neighbour {
  uint32_t entry = 0;
  double similarity = 0;
  size_t begin = 0;
  size_t end = 0;
};

// Returns the nearest candidates by their sketches.
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

// Returns at most kMaxRelatives relatives of one entry, the most similar first. The sketches choose
// the neighbours to compare, and the exact runs give the similarity that pages show.
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
      // The first tie that holds is the strongest one.
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

constexpr size_t kRun = 5;  // tokens

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
    // std::exchange frees the candidates of the entry at once.
    ASSIGN_OR_RETURN(relatives[i], Nearest(entries, i, std::exchange(candidates[i], {}), runs));
  }
  return relatives;
}

// A run of five tokens is long enough to be rare in unrelated code, and short enough to survive
// small edits. The list is sorted, so that Similarity can merge two lists.
std::vector<uint64_t> HashRuns(const v1::KernelRow& kernel) {
  std::vector<absl::string_view> tokens;
  const auto language = dsl::GetSyntax(kernel.dsl());
  for (const code::Token& token : code::Lex(kernel.source(), language)) {
    if (token.kind != code::Token::kComment) tokens.push_back(token.text);
  }
  std::vector<uint64_t> runs;
  for (size_t i = 0; i + kRun <= tokens.size(); ++i) {
    runs.push_back(StableHash64(absl::StrCat(tokens[i], " ", tokens[i + 1], " ", tokens[i + 2], " ",
                                             absl::StrCat(tokens[i + 3], " ", tokens[i + 4]))));
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

Sketch MakeSketch(const std::vector<uint64_t>& runs) {
  Sketch sketch;
  sketch.least.fill(Sketch::kEmpty);
  for (const uint64_t hash : runs) {
    // The highest six bits choose the bin. The remainder is below kEmpty, so it cannot look like an
    // empty bin.
    uint16_t& least = sketch.least[hash >> 58];
    least = std::min(least, static_cast<uint16_t>(hash % Sketch::kEmpty));
  }
  return sketch;
}

// One-permutation MinHash: the share of equal bins among those that one of the texts fills.
double EstimatedSimilarity(const Sketch& a, const Sketch& b) {
  int same = 0;
  int filled = 0;
  for (size_t i = 0; i < Sketch::kBins; ++i) {
    if (a.least[i] == Sketch::kEmpty && b.least[i] == Sketch::kEmpty) continue;
    ++filled;
    same += a.least[i] == b.least[i];
  }
  return filled == 0 ? 0 : static_cast<double>(same) / filled;
}

absl::StatusOr<RunRecords> RunRecords::Create(const std::string& temp_parent) {
  ASSIGN_OR_RETURN(TempRecords records, TempRecords::Create(temp_parent));
  return RunRecords(std::move(records));
}

absl::Status RunRecords::Add(const std::vector<uint64_t>& runs) {
  return records_.Add({reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(uint64_t)});
}

absl::StatusOr<std::vector<uint64_t>> RunRecords::Read(uint32_t number) {
  ASSIGN_OR_RETURN(const std::string bytes, records_.Read(number));
  std::vector<uint64_t> runs(bytes.size() / sizeof(uint64_t));
  std::memcpy(runs.data(), bytes.data(), bytes.size());
  return runs;
}

// Both lists are ascending and without repetition, so one walk counts the common hashes.
double Similarity(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  size_t both = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    both += *x == *y;
    const bool next_x = *x <= *y;
    const bool next_y = *y <= *x;
    x += next_x;
    y += next_y;
  }
  const size_t either = a.size() + b.size() - both;
  return either == 0 ? 0 : static_cast<double>(both) / static_cast<double>(either);
}

absl::StatusOr<absl::flat_hash_map<std::string, Duplicates>> ReadDuplicates(
    const std::string& dataset) {
  absl::flat_hash_map<std::string, Duplicates> duplicates;
  absl::Status status = dataset::ForEachRow<v1::LedgerRow>(
      dataset,
      {.fields = {"repository", "path", "url", "first_line", "form", "fate", "reason", "of",
                  "similarity"}},
      [&duplicates](const v1::LedgerRow& row, const dataset::RowPlace&) {
        // Whole files have duplicates as well; no kernel is listed with them.
        if (row.fate() != "duplicate" || row.form() == v1::KERNEL_FORM_FILE) {
          return absl::OkStatus();
        }
        Duplicates& group = duplicates[row.of()];
        ++group.count;
        if (group.first.size() < kMaxDuplicates) {
          group.first.push_back({.repository = row.repository(),
                                 .path = row.path(),
                                 .url = row.url(),
                                 .first_line = row.first_line(),
                                 .reason = row.reason(),
                                 .similarity = row.similarity()});
        }
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return duplicates;
}

}  // namespace kernelmill::client
