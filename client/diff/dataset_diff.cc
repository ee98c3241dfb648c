// The comparison of two exports: Matcher finds for each kernel of one ledger its kernel in the
// other one, Comparison turns matches into changes and explains them, and the rest of the file
// shows the result as text or JSON.
//
// Four passes of matching, each with a sort of both ledgers: n log n. Kernels are indexes and texts
// are numbers (see Texts), so that ledgers of millions of rows fit into memory.

#include "client/diff/dataset_diff.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/console/format.h"
#include "client/console/json.h"

namespace kernelmill::client {
namespace {

using Places = std::vector<uint32_t>;

// A matching between the kernels of two ledgers.
//
// The basic idea: each rule of CompareDatasets is a key. A pass sorts the unmatched kernels of both
// sides by the key and walks the two lists like a merge; kernels with equal keys are matched in the
// order of their ledgers. Stricter keys come first, so that a looser one only sees what they left
// over.
class Matcher {
 public:
  Matcher(const ExportedDataset& a, const ExportedDataset& b)
      : a_(a.kernels), b_(b.kernels), in_b_(a_.size(), kNoKernel), in_a_(b_.size(), kNoKernel) {}

  void Run() {
    const auto in_file = [](const ExportedKernel& k) {
      return std::make_tuple(k.repository, k.path, k.dsl);
    };
    // By text, at the same place.
    MatchBy([&](const auto& k) { return std::make_tuple(in_file(k), k.json_pointer, k.sha256); },
            [](const auto&) { return true; }, /*as_many=*/false);
    // By name, if both ledgers have the names.
    MatchBy([&](const auto& k) { return std::make_tuple(in_file(k), k.qualname); },
            [](const auto& k) { return k.qualname != 0; }, /*as_many=*/false);
    // By order, for kernels without names.
    MatchBy(
        in_file, [](const auto&) { return true; }, /*as_many=*/true);
    // By text, at another place.
    MatchBy([](const auto& k) { return std::make_tuple(k.dsl, k.sha256); },
            [](const auto&) { return true; }, /*as_many=*/false);
  }

  uint32_t FindInB(uint32_t a) const { return in_b_[a]; }
  uint32_t FindInA(uint32_t b) const { return in_a_[b]; }

 private:
  template <typename Key, typename Takes>
  static Places Open(const std::vector<ExportedKernel>& kernels, const Places& matches,
                     const Key& key, const Takes& takes) {
    Places open;
    for (uint32_t i = 0; i < kernels.size(); ++i) {
      if (matches[i] == kNoKernel && takes(kernels[i])) open.push_back(i);
    }
    std::sort(open.begin(), open.end(), [&](uint32_t x, uint32_t y) {
      return std::make_tuple(key(kernels[x]), x) < std::make_tuple(key(kernels[y]), y);
    });
    return open;
  }

  // Matches open kernels with equal keys in their order. With `as_many`, only if both sides have as
  // many of them, and unless both kernels have names.
  template <typename Key, typename Takes>
  void MatchBy(const Key& key, const Takes& takes, bool as_many) {
    // Open sorts by key and then by index, so equal keys are in the order of the ledger.
    const Places open_a = Open(a_, in_b_, key, takes);
    const Places open_b = Open(b_, in_a_, key, takes);
    const auto run_end = [&](const std::vector<ExportedKernel>& kernels, const Places& open,
                             size_t begin) {
      size_t end = begin + 1;
      while (end < open.size() && key(kernels[open[end]]) == key(kernels[open[begin]])) ++end;
      return end;
    };
    for (size_t i = 0, j = 0; i < open_a.size() && j < open_b.size();) {
      const auto key_a = key(a_[open_a[i]]);
      const auto key_b = key(b_[open_b[j]]);
      if (key_a != key_b) {
        ++(key_a < key_b ? i : j);
        continue;
      }
      const size_t end_a = run_end(a_, open_a, i);
      const size_t end_b = run_end(b_, open_b, j);
      if (!as_many || end_a - i == end_b - j) {
        for (size_t k = 0; k < std::min(end_a - i, end_b - j); ++k) {
          // Pair the first with the first, the second with the second, and so on; the longer side
          // keeps its rest.
          Match(open_a[i + k], open_b[j + k], as_many);
        }
      }
      i = end_a;
      j = end_b;
    }
  }

  // Two names that differ are evidence against a match by order alone.
  void Match(uint32_t a, uint32_t b, bool unless_named) {
    if (unless_named && a_[a].qualname != 0 && b_[b].qualname != 0) return;
    in_b_[a] = b;
    in_a_[b] = a;
  }

  const std::vector<ExportedKernel>& a_;
  const std::vector<ExportedKernel>& b_;
  Places in_b_;
  Places in_a_;
};

bool IsAtPlaceOf(const ExportedKernel& a, const ExportedKernel& b) {
  return a.repository == b.repository && a.path == b.path;
}

// Returns "extract 11 -> 12" for the named stages whose version changed; empty if none did.
std::string ChangedStages(const ExportedDataset& a, const ExportedDataset& b,
                          const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const auto at_a = a.stages.find(name);
    const auto at_b = b.stages.find(name);
    if (at_a == a.stages.end() || at_b == b.stages.end() || at_a->second == at_b->second) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " ", at_a->second, " -> ", at_b->second);
  }
  return text;
}

// One comparison: matches the kernels, and explains each difference.
class Comparison {
 public:
  Comparison(const ExportedDataset& a, const ExportedDataset& b, Texts& texts)
      : a_(a), b_(b), texts_(texts), matcher_(a, b) {
    // Changed versions of the stages that decide which kernels are found, and of those that make a
    // kernel's text and module.
    finders_ = ChangedStages(a, b, {"fetch", "extract", "link"});
    linkers_ = ChangedStages(a, b, {"extract", "link"});
    for (const ExportedKernel& k : a.kernels) files_a_.insert({k.repository, k.path});
    for (const ExportedKernel& k : b.kernels) files_b_.insert({k.repository, k.path});
  }

  DatasetDiff Run() && {
    matcher_.Run();
    for (uint32_t i = 0; i < a_.kernels.size(); ++i) {
      if (matcher_.FindInB(i) != kNoKernel) {
        CompareKernel(i, matcher_.FindInB(i));
      } else {
        const ExportedKernel& kernel = a_.kernels[i];
        Add(kernel.kept ? ChangeKind::kWent : ChangeKind::kLost, i, kNoKernel,
            WhyAbsent(kernel, a_, b_, files_b_, "gone"));
      }
    }
    // Matched kernels have been compared from the side of `a`.
    for (uint32_t i = 0; i < b_.kernels.size(); ++i) {
      if (matcher_.FindInA(i) != kNoKernel) continue;
      const ExportedKernel& kernel = b_.kernels[i];
      Add(kernel.kept ? ChangeKind::kCame : ChangeKind::kFound, kNoKernel, i,
          WhyAbsent(kernel, b_, a_, files_a_, "new"));
    }
    SortChanges();
    CompareJobs();
    // A digest covers more than the kernels, so datasets without changes can still differ.
    diff_.same = a_.digest == b_.digest && diff_.changes.empty();
    return std::move(diff_);
  }

 private:
  using Files = absl::flat_hash_set<std::pair<uint32_t, uint32_t>>;

  void Add(ChangeKind kind, uint32_t a, uint32_t b, const std::string& reason) {
    diff_.changes.push_back({kind, a, b, texts_.Number(reason)});
    const ExportedKernel& kernel = b == kNoKernel ? a_.kernels[a] : b_.kernels[b];
    ++diff_.by_reason[{kind, reason}];
    ++diff_.by_repository[texts_.Of(kernel.repository)][kind];
  }

  std::string FateText(const ExportedKernel& kernel) const {
    const std::string& reason = texts_.Of(kernel.reason);
    return reason.empty() ? texts_.Of(kernel.fate)
                          : absl::StrCat(texts_.Of(kernel.fate), ": ", reason);
  }

  void CompareKernel(uint32_t i, uint32_t j) {
    const ExportedKernel& a = a_.kernels[i];
    const ExportedKernel& b = b_.kernels[j];
    // First the fates. Only a kernel that both datasets keep can have changes of content, and it
    // may have several of them: each becomes a change of its own.
    const std::string also = a.sha256 == b.sha256 ? "" : "; its text changed";
    if (!a.kept && !b.kept) {
      if (a.fate == b.fate && a.reason == b.reason) return;
      return Add(ChangeKind::kFate, i, j, absl::StrCat(FateText(a), " -> ", FateText(b), also));
    }
    if (!a.kept) {
      return Add(ChangeKind::kCame, i, j, absl::StrCat("was ", FateText(a), also));
    }
    if (!b.kept) return Add(ChangeKind::kWent, i, j, absl::StrCat("now ", FateText(b), also));
    if (!IsAtPlaceOf(a, b)) {
      Add(ChangeKind::kMoved, i, j,
          a.repository == b.repository ? "another path" : "another source");
    }
    if (a.license != b.license) {
      Add(ChangeKind::kLicense, i, j,
          absl::StrCat(texts_.Of(a.license), " -> ", texts_.Of(b.license)));
    }
    const std::string compiled = CompileChange(a, b);
    if (!compiled.empty()) Add(ChangeKind::kCompile, i, j, compiled);
    if (a.sha256 != b.sha256) {
      Add(ChangeKind::kText, i, j, WhyChanged(a));
    } else if (a.module != b.module) {
      Add(ChangeKind::kModule, i, j, WhyChanged(a));
    }
  }

  // Returns "ok -> error, frontend: 2 of 8" with the number of common compilers and targets;
  // without common ones "exempt -> pass", the change of the check. Empty if nothing changed.
  std::string CompileChange(const ExportedKernel& a, const ExportedKernel& b) const {
    if (a.compiles == 0 || b.compiles == 0) return "";
    if (a.compiles == b.compiles && a.compiled == b.compiled) return "";
    const Results of_a = ReadResults(a);
    const Results of_b = ReadResults(b);
    int64_t both = 0;
    std::map<std::string, int64_t> changes;
    for (const auto& [target, status] : of_a) {
      const auto other = of_b.find(target);
      if (other == of_b.end()) continue;
      ++both;
      if (status != other->second) ++changes[absl::StrCat(status, " -> ", other->second)];
    }
    std::vector<std::string> texts;
    for (const auto& [change, count] : changes) {
      texts.push_back(absl::StrCat(change, ": ", count, " of ", both));
    }
    // Without common targets the results cannot be compared; the outcome of the check still can.
    if (both > 0 || a.compiles == b.compiles) return absl::StrJoin(texts, "; ");
    return absl::StrCat(texts_.Of(a.compiles), " -> ", texts_.Of(b.compiles));
  }

  // Results by compiler and target.
  using Results = std::map<absl::string_view, absl::string_view>;
  Results ReadResults(const ExportedKernel& kernel) const {
    Results results;
    for (const absl::string_view line :
         absl::StrSplit(texts_.Of(kernel.compiled), '\n', absl::SkipEmpty())) {
      results.insert(absl::StrSplit(line, absl::MaxSplits(": ", 1)));
    }
    return results;
  }

  // Returns the reason why a text changed: another commit, or another job on the same commit.
  std::string WhyChanged(const ExportedKernel& kernel) const {
    const std::string& repository = texts_.Of(kernel.repository);
    const auto a = a_.sources.find(repository);
    const auto b = b_.sources.find(repository);
    const bool known = a != a_.sources.end() && b != b_.sources.end();
    if (!known || a->second.commit != b->second.commit) return "another commit";
    return linkers_.empty() ? "the job takes other files"
                            : absl::StrCat("another stage version: ", linkers_);
  }

  // Returns the reason why `here` has the kernel and `there` does not. `word` is "gone" or "new".
  std::string WhyAbsent(const ExportedKernel& kernel, const ExportedDataset& here,
                        const ExportedDataset& there, const Files& files,
                        absl::string_view word) const {
    const std::string& repository = texts_.Of(kernel.repository);
    const auto source = there.sources.find(repository);
    // From the most general reason to the most special one.
    if (source == there.sources.end()) return absl::StrCat("the source is ", word);
    if (source->second.failed) {
      return word == "gone" ? "the source failed" : "the source had failed";
    }
    // Another commit, or an unknown one. A ledger only has files with kernels, so a file without a
    // row may exist.
    const bool file = files.contains({kernel.repository, kernel.path});
    const auto own = here.sources.find(repository);
    if (own != here.sources.end() && own->second.commit == source->second.commit) {
      // The same commit: only the stages or the job's settings can make a difference.
      if (!finders_.empty()) return absl::StrCat("another stage version: ", finders_);
      return "the job takes other files";
    }
    return file ? absl::StrCat("it is ", word, " in its file")
                : absl::StrCat("the file is ", word, ", or its first kernel");
  }

  const ExportedKernel& GetKernel(const KernelChange& change) const {
    return change.b == kNoKernel ? a_.kernels[change.a] : b_.kernels[change.b];
  }

  void SortChanges() {
    const auto key = [&](const KernelChange& change) {
      const ExportedKernel& kernel = GetKernel(change);
      return std::forward_as_tuple(change.kind, texts_.Of(kernel.repository),
                                   texts_.Of(kernel.path), kernel.first_line);
    };
    std::stable_sort(diff_.changes.begin(), diff_.changes.end(),
                     [&](const KernelChange& x, const KernelChange& y) { return key(x) < key(y); });
  }

  // The differences of the jobs explain those of the kernels: stages, pins of sources, and
  // settings. The settings of a source are only compared if both jobs have it.
  void CompareJobs() {
    CompareMaps(
        a_.stages, b_.stages, [](int64_t version) { return absl::StrCat(version); }, &diff_.stages);
    CompareMaps(
        a_.sources, b_.sources,
        [](const ExportedSource& source) {
          return source.failed ? "failed" : absl::StrCat("at ", source.commit);
        },
        &diff_.sources);
    CompareMaps(
        a_.source_settings, b_.source_settings, [](const std::string& text) { return text; },
        &diff_.settings, /*both=*/true);
    Difference(a_.settings, b_.settings, "- ");
    Difference(b_.settings, a_.settings, "+ ");
  }

  // With `both`, only keys that both maps have are compared.
  template <typename Map, typename Text>
  static void CompareMaps(const Map& a, const Map& b, const Text& text,
                          std::vector<std::string>* out, bool both = false) {
    for (const auto& [key, value] : a) {
      const auto other = b.find(key);
      if (other == b.end()) {
        if (!both) out->push_back(absl::StrCat("- ", key, " ", text(value)));
      } else if (text(value) != text(other->second)) {
        out->push_back(absl::StrCat(key, ": ", text(value), " -> ", text(other->second)));
      }
    }
    for (const auto& [key, value] : b) {
      if (!both && !a.contains(key)) out->push_back(absl::StrCat("+ ", key, " ", text(value)));
    }
  }

  void Difference(const std::vector<std::string>& from, const std::vector<std::string>& without,
                  absl::string_view mark) {
    std::vector<std::string> left;
    std::set_difference(from.begin(), from.end(), without.begin(), without.end(),
                        std::back_inserter(left));
    for (const std::string& line : left) diff_.settings.push_back(absl::StrCat(mark, line));
  }

  const ExportedDataset& a_;
  const ExportedDataset& b_;
  Texts& texts_;
  Matcher matcher_;
  Files files_a_;
  Files files_b_;
  std::string finders_;
  std::string linkers_;
  DatasetDiff diff_;
};

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostRepositories = 40;  // in the table, by the number of changes

template <size_t size>
std::string Hex(const std::array<char, size>& bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

int64_t GetSum(const ExportedDataset& dataset, const std::string& name) {
  const auto sum = dataset.sums.find(name);
  return sum == dataset.sums.end() ? 0 : sum->second;
}

std::string HeadLine(absl::string_view mark, const ExportedDataset& dataset) {
  return absl::StrFormat(
      "%s %s  %s  %s\n  kernels %d found = %d kept + %d rejected + %d duplicate + %d "
      "contaminated\n",
      mark, OneLine(dataset.folder), OneLine(dataset.name), OneLine(dataset.digest),
      GetSum(dataset, "found"), GetSum(dataset, "kept"), GetSum(dataset, "rejected"),
      GetSum(dataset, "duplicate"), GetSum(dataset, "contaminated"));
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

// Returns the numbers of changed kernels by kind, and below each kind by reason.
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

// Returns the repositories with the most changes first.
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

// Returns the kernel that this one is a duplicate of; null if its ledger does not have it.
const ExportedKernel* FindLeader(const ExportedDataset& dataset, const ExportedKernel& kernel) {
  return kernel.of == std::array<char, 16>{} ? nullptr : dataset.Find(kernel.of);
}

std::string PlaceText(const ExportedKernel& kernel, const Texts& texts) {
  std::string place = absl::StrCat(texts.Of(kernel.repository), " ", texts.Of(kernel.path),
                                   kernel.json_pointer == 0 ? "" : "#",
                                   texts.Of(kernel.json_pointer), ":", kernel.first_line);
  if (kernel.qualname != 0) absl::StrAppend(&place, " ", texts.Of(kernel.qualname));
  return place;
}

// One dataset with its kernel of a change, which is null if the dataset does not have it.
struct Side {
  const ExportedDataset& dataset;
  const ExportedKernel* kernel;
};

Side MakeSide(const ExportedDataset& dataset, uint32_t at) {
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
  // Add the other kernel that the reason refers to. The reason of a kernel that came is its fate in
  // `a`; other reasons end with a fate in `b`.
  const Side& told = change.kind == ChangeKind::kCame ? a : b;
  if (told.kernel == nullptr) return text;
  const ExportedKernel* leader = FindLeader(told.dataset, *told.kernel);
  // A kernel that leads its own group has no other one to name.
  if (leader != nullptr && leader != told.kernel) {
    absl::StrAppend(&text, ", of ", PlaceText(*leader, texts));
  }
  return text;
}

OrderedJson TextOrNull(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

OrderedJson SideJson(const Side& side, const Texts& texts) {
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
          {"of", of ? OrderedJson(Hex(kernel.of)) : OrderedJson()}};
}

OrderedJson DatasetJson(const ExportedDataset& dataset) {
  return {{"folder", dataset.folder},
          {"name", dataset.name},
          {"dataset", dataset.digest},
          {"kernels", dataset.sums}};
}

// Returns the first line of the JSON form: everything except the single kernels.
OrderedJson SummaryJson(const ExportedDataset& a, const ExportedDataset& b,
                        const DatasetDiff& diff) {
  OrderedJson reasons = OrderedJson::array();
  for (const auto& [key, count] : diff.by_reason) {
    reasons.push_back({{"change", std::string(ChangeName(key.first))},
                       {"reason", key.second},
                       {"kernels", count}});
  }
  OrderedJson repositories = OrderedJson::array();
  for (const auto& [repository, kinds] : diff.by_repository) {
    OrderedJson row = {{"repository", repository}};
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

}  // namespace

absl::string_view ChangeName(ChangeKind kind) {
  static constexpr absl::string_view kNames[kChangeKinds] = {
      "came", "went", "text", "module", "license", "compile", "moved", "fate", "found", "lost"};
  return kNames[static_cast<int>(kind)];
}

DatasetDiff CompareDatasets(const ExportedDataset& a, const ExportedDataset& b, Texts& texts) {
  return Comparison(a, b, texts).Run();
}

// Changes are sorted by kind, so each kind is one run of the list.
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
        // Only the shown changes become text; there may be millions.
        lines.push_back(ChangeText(MakeSide(a, change.a), MakeSide(b, change.b), change, texts));
      }
    }
    text += Section(ChangeName(kind), lines, limit);
    if (all > limit) absl::StrAppend(&text, "  and ", all - limit, " more\n");
  }
  return text;
}

// Line by line, so that the whole diff is never in memory as text.
void WriteDiffJson(const ExportedDataset& a, const ExportedDataset& b, const DatasetDiff& diff,
                   const Texts& texts, const std::function<void(absl::string_view)>& write) {
  write(JsonLine("diff", SummaryJson(a, b, diff)));
  for (const KernelChange& change : diff.changes) {
    write(JsonLine("change", {{"change", std::string(ChangeName(change.kind))},
                              {"reason", texts.Of(change.reason)},
                              {"a", SideJson(MakeSide(a, change.a), texts)},
                              {"b", SideJson(MakeSide(b, change.b), texts)}}));
  }
}

}  // namespace kernelmill::client
