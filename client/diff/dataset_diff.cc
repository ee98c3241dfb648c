#include "client/diff/dataset_diff.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kernelmill::client {
namespace {

using Places = std::vector<uint32_t>;

// Which kernel of one ledger is which of the other.
class Matcher {
 public:
  Matcher(const ExportedDataset& a, const ExportedDataset& b)
      : a_(a.kernels), b_(b.kernels), of_a_(a_.size(), kNoKernel), of_b_(b_.size(), kNoKernel) {}

  void Run() {
    const auto in_file = [](const ExportedKernel& k) {
      return std::make_tuple(k.repository, k.path, k.dsl);
    };
    // The same text at the same place.
    MatchBy([&](const auto& k) { return std::make_tuple(in_file(k), k.json_pointer, k.sha256); },
            [](const auto&) { return true; }, /*as_many=*/false);
    // Of the same name, where names are told.
    MatchBy([&](const auto& k) { return std::make_tuple(in_file(k), k.qualname); },
            [](const auto& k) { return k.qualname != 0; }, /*as_many=*/false);
    // Nobody says their names: in order.
    MatchBy(
        in_file, [](const auto&) { return true; }, /*as_many=*/true);
    // The same text elsewhere.
    MatchBy([](const auto& k) { return std::make_tuple(k.dsl, k.sha256); },
            [](const auto&) { return true; }, /*as_many=*/false);
  }

  uint32_t OfA(uint32_t a) const { return of_a_[a]; }
  uint32_t OfB(uint32_t b) const { return of_b_[b]; }

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

  // Matches the open kernels of equal keys, the first with the first; `as_many`: only where both
  // have as many, and the two are not known by different names.
  template <typename Key, typename Takes>
  void MatchBy(const Key& key, const Takes& takes, bool as_many) {
    const Places open_a = Open(a_, of_a_, key, takes);
    const Places open_b = Open(b_, of_b_, key, takes);
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
          Match(open_a[i + k], open_b[j + k], as_many);
        }
      }
      i = end_a;
      j = end_b;
    }
  }

  void Match(uint32_t a, uint32_t b, bool unless_named) {
    if (unless_named && a_[a].qualname != 0 && b_[b].qualname != 0) return;
    of_a_[a] = b;
    of_b_[b] = a;
  }

  const std::vector<ExportedKernel>& a_;
  const std::vector<ExportedKernel>& b_;
  Places of_a_;
  Places of_b_;
};

bool IsAtPlaceOf(const ExportedKernel& a, const ExportedKernel& b) {
  return a.repository == b.repository && a.path == b.path;
}

// "extract 11 -> 12" of the stages that find kernels, empty where none has another version.
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

class Comparison {
 public:
  Comparison(const ExportedDataset& a, const ExportedDataset& b, Texts& texts)
      : a_(a), b_(b), texts_(texts), matcher_(a, b) {
    finders_ = ChangedStages(a, b, {"fetch", "extract", "link"});
    linkers_ = ChangedStages(a, b, {"extract", "link"});
    for (const ExportedKernel& k : a.kernels) files_a_.insert({k.repository, k.path});
    for (const ExportedKernel& k : b.kernels) files_b_.insert({k.repository, k.path});
  }

  DatasetDiff Run() && {
    matcher_.Run();
    for (uint32_t i = 0; i < a_.kernels.size(); ++i) {
      if (matcher_.OfA(i) != kNoKernel) {
        CompareKernel(i, matcher_.OfA(i));
      } else {
        const ExportedKernel& kernel = a_.kernels[i];
        Add(kernel.kept ? ChangeKind::kWent : ChangeKind::kLost, i, kNoKernel,
            WhyAbsent(kernel, a_, b_, files_b_, "gone"));
      }
    }
    for (uint32_t i = 0; i < b_.kernels.size(); ++i) {
      if (matcher_.OfB(i) != kNoKernel) continue;
      const ExportedKernel& kernel = b_.kernels[i];
      Add(kernel.kept ? ChangeKind::kCame : ChangeKind::kFound, kNoKernel, i,
          WhyAbsent(kernel, b_, a_, files_a_, "new"));
    }
    SortChanges();
    CompareJobs();
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

  // "ok -> error, frontend: 2 of 8": for so many of the compilers and targets that both were asked
  // for; where there are none, "exempt -> pass" of the check; empty where nothing changed.
  std::string CompileChange(const ExportedKernel& a, const ExportedKernel& b) const {
    if (a.compiles == 0 || b.compiles == 0) return "";
    if (a.compiles == b.compiles && a.compiled == b.compiled) return "";
    const Results of_a = ResultsOf(a);
    const Results of_b = ResultsOf(b);
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
    if (both > 0 || a.compiles == b.compiles) return absl::StrJoin(texts, "; ");
    return absl::StrCat(texts_.Of(a.compiles), " -> ", texts_.Of(b.compiles));
  }

  // By compiler and target.
  using Results = std::map<absl::string_view, absl::string_view>;
  Results ResultsOf(const ExportedKernel& kernel) const {
    Results results;
    for (const absl::string_view line :
         absl::StrSplit(texts_.Of(kernel.compiled), '\n', absl::SkipEmpty())) {
      results.insert(absl::StrSplit(line, absl::MaxSplits(": ", 1)));
    }
    return results;
  }

  // Between the commits of the two datasets, or within one.
  std::string WhyChanged(const ExportedKernel& kernel) const {
    const std::string& repository = texts_.Of(kernel.repository);
    const auto a = a_.sources.find(repository);
    const auto b = b_.sources.find(repository);
    const bool known = a != a_.sources.end() && b != b_.sources.end();
    if (!known || a->second.commit != b->second.commit) return "another commit";
    return linkers_.empty() ? "the job takes other files"
                            : absl::StrCat("another stage version: ", linkers_);
  }

  // Why `here` has the kernel and `there` has not. `word` is "gone" or "new".
  std::string WhyAbsent(const ExportedKernel& kernel, const ExportedDataset& here,
                        const ExportedDataset& there, const Files& files,
                        absl::string_view word) const {
    const std::string& repository = texts_.Of(kernel.repository);
    const auto source = there.sources.find(repository);
    if (source == there.sources.end()) return absl::StrCat("the source is ", word);
    if (source->second.failed) {
      return word == "gone" ? "the source failed" : "the source had failed";
    }
    const bool file = files.contains({kernel.repository, kernel.path});
    const auto own = here.sources.find(repository);
    if (own != here.sources.end() && own->second.commit == source->second.commit) {
      if (!finders_.empty()) return absl::StrCat("another stage version: ", finders_);
      return "the job takes other files";
    }
    return file ? absl::StrCat("it is ", word, " in its file")
                : absl::StrCat("the file is ", word, ", or its first kernel");
  }

  const ExportedKernel& KernelOf(const KernelChange& change) const {
    return change.b == kNoKernel ? a_.kernels[change.a] : b_.kernels[change.b];
  }

  void SortChanges() {
    const auto key = [&](const KernelChange& change) {
      const ExportedKernel& kernel = KernelOf(change);
      return std::forward_as_tuple(change.kind, texts_.Of(kernel.repository),
                                   texts_.Of(kernel.path), kernel.first_line);
    };
    std::stable_sort(diff_.changes.begin(), diff_.changes.end(),
                     [&](const KernelChange& x, const KernelChange& y) { return key(x) < key(y); });
  }

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

  // `both`: only what both have.
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

}  // namespace

absl::string_view ChangeName(ChangeKind kind) {
  static constexpr absl::string_view kNames[kChangeKinds] = {
      "came", "went", "text", "module", "license", "compile", "moved", "fate", "found", "lost"};
  return kNames[static_cast<int>(kind)];
}

DatasetDiff CompareDatasets(const ExportedDataset& a, const ExportedDataset& b, Texts& texts) {
  return Comparison(a, b, texts).Run();
}

}  // namespace kernelmill::client
