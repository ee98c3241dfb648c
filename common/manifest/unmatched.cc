// The basic idea: everything is known once the dataset is walked. Globs are held against the paths
// of the trees; markers are counted where a shard's files are in memory anyway, to be checked; the
// rest are sums. So nothing more is fetched, and the list is the same wherever it is made.

#include "common/manifest/unmatched.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/glob.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "common/dsl/languages.h"
#include "common/job/source_spec.h"
#include "common/text/safe_text.h"
#include "common/words/counted.h"

namespace kernelmill::manifest {
namespace {

using List = std::vector<Unmatched>;

constexpr size_t kNamedSources = 6;  // in a message
constexpr size_t kNamedReasons = 6;  // in a message

// A share is missed if it is so many times too large or too small.
constexpr double kMissedBy = 2;
constexpr int64_t kManyRepositories = 20;

constexpr size_t kMaxText = 300;  // bytes of a foreign text, so that a list stays readable

// Returns a foreign text without characters that a terminal or a page would act on or hide.
std::string Safe(absl::string_view text) {
  std::string safe;
  while (!text.empty()) {
    if (safe.size() > kMaxText) return absl::StrCat(safe, "...");
    const SafePiece piece = TakeSafePiece(&text);
    absl::StrAppend(&safe, piece.spelled.empty() ? piece.bytes : piece.spelled);
  }
  return safe;
}

// Returns "license 30, quality 2", the most frequent first.
std::string ReasonList(const std::map<std::string, int64_t>& by_reason) {
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [reason, count] : by_reason) sorted.emplace_back(-count, Safe(reason));
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> texts;
  for (const auto& [count, reason] : sorted) {
    if (texts.size() == kNamedReasons) break;
    texts.push_back(absl::StrCat(reason, " ", -count));
  }
  if (sorted.size() > texts.size()) texts.push_back("...");
  return absl::StrJoin(texts, ", ");
}

// Returns the texts by which a reader knows a kernel of the language.
std::vector<std::string> GetMarkers(const dsl::Language& language) {
  if (!language.decorator.empty()) {
    return {std::string(language.decorator), absl::StrCat(language.decorator.substr(1), "(")};
  }
  if (language.makers.empty()) return {std::string(language.markers.front())};
  return {absl::StrCat(language.makers.front().names.front(), "(")};
}

// Returns whether a maker of the language has the last part of the marker's name: "@T.prim_func" is
// TVM's and TileLang's.
bool HasMakerOf(const dsl::Language& language, absl::string_view marker) {
  const absl::string_view word = LastPart(absl::StripSuffix(marker, "("));
  return std::any_of(language.makers.begin(), language.makers.end(), [&](const auto& makers) {
    return std::any_of(makers.names.begin(), makers.names.end(),
                       [&](absl::string_view name) { return LastPart(name) == word; });
  });
}

// The languages of the kernels of each file.
using LanguagesByPath = absl::flat_hash_map<absl::string_view, std::set<const dsl::Language*>>;

LanguagesByPath FindLanguages(const v1::KernelShard& shard) {
  LanguagesByPath languages;
  for (const v1::Kernel& kernel : shard.kernels()) {
    const dsl::Language* const language = dsl::FindLanguage(kernel.dsl());
    if (language != nullptr) languages[kernel.path()].insert(language);
  }
  return languages;
}

// Returns whether the marker in a file is that of another language, whose kernels the file has.
bool IsOfOtherLanguage(const LanguagesByPath& languages, absl::string_view path,
                       absl::string_view marker) {
  const auto found = languages.find(path);
  return found != languages.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const dsl::Language* other) { return HasMakerOf(*other, marker); });
}

int64_t CountTimes(absl::string_view text, absl::string_view marker) {
  int64_t times = 0;
  for (size_t at = text.find(marker); at != absl::string_view::npos; at = text.find(marker, at)) {
    ++times;
    at += marker.size();
  }
  return times;
}

// Keeps the first paths in order, whatever the order in which they come.
void AddPath(std::string path, std::vector<std::string>* paths) {
  paths->insert(std::upper_bound(paths->begin(), paths->end(), path), std::move(path));
  if (paths->size() > kUnmatchedPaths) paths->pop_back();
}

void AddMarkers(const MarkerCounts& more, MarkerCounts* counts) {
  for (const auto& [marker, count] : more) {
    MarkerCount& sum = (*counts)[marker];
    sum.times += count.times;
    sum.files += count.files;
    for (const std::string& path : count.paths) AddPath(path, &sum.paths);
  }
}

std::vector<std::string> GetIncludes(const v1::Source& source) {
  if (source.include().empty()) return {job::kDefaultInclude};
  return {source.include().begin(), source.include().end()};
}

// Joins entries that are equal except for their source into the first of them, since a search gives
// the same globs to all its sources. Its examples stay where they say something of all.
void JoinSources(List* found) {
  std::map<std::pair<std::string, std::string>, size_t> first;
  std::map<size_t, std::vector<std::string>> others;
  List joined;
  for (Unmatched& one : *found) {
    if (one.what == "include" || one.what == "source" || one.what == "unasked" ||
        one.what == "history") {
      const auto [at, is_first] = first.try_emplace({one.what, one.asked}, joined.size());
      if (!is_first) {
        others[at->second].push_back(one.where.substr(0, one.where.find('.')));
        continue;
      }
    }
    joined.push_back(std::move(one));
  }
  for (auto& [at, places] : others) {
    joined[at].paths.clear();
    absl::StrAppend(&joined[at].message, "; the same holds for ",
                    Counted(places.size(), "other source"), ": ");
    const bool all = places.size() <= kNamedSources;
    if (!all) places.resize(kNamedSources);
    absl::StrAppend(&joined[at].message, absl::StrJoin(places, ", "), all ? "" : ", ...");
  }
  *found = std::move(joined);
}

// Returns the entry as the job has it.
std::string GetAsked(const v1::OptOut& entry) {
  std::vector<absl::string_view> parts;
  for (const std::string* part :
       {&entry.repository(), &entry.owner(), &entry.path(), &entry.sha256()}) {
    if (!part->empty()) parts.push_back(*part);
  }
  return absl::StrJoin(parts, " ");
}

}  // namespace

std::string UnmatchedText(const Unmatched& one) {
  std::string text;
  if (!one.source.empty()) absl::StrAppend(&text, one.source, ": ");
  if (!one.asked.empty()) absl::StrAppend(&text, "\"", one.asked, "\" ");
  absl::StrAppend(&text, one.message);
  if (!one.paths.empty()) absl::StrAppend(&text, ": ", absl::StrJoin(one.paths, ", "));
  return text;
}

bool IsUnmatched(absl::string_view path) { return absl::StartsWith(path, kUnmatchedPrefix); }

std::string ToJson(const Unmatched& one) {
  return nlohmann::ordered_json{{"what", one.what},       {"where", one.where},
                                {"source", one.source},   {"asked", one.asked},
                                {"message", one.message}, {"paths", one.paths}}
      .dump();
}

Unmatched ReadUnmatched(absl::string_view json) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  Unmatched one;
  if (!object.is_object()) {
    one.message = Safe(json);
    return one;
  }
  const auto read = [&](const char* key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : "";
  };
  one = {read("what"), read("where"), read("source"), read("asked"), read("message"), {}};
  const auto paths = object.find("paths");
  if (paths == object.end() || !paths->is_array()) return one;
  for (const nlohmann::json& path : *paths) {
    if (path.is_string()) one.paths.push_back(path.get<std::string>());
  }
  return one;
}

// Runs on the threads of the walk.
MarkerCounts CountMarkers(const ShardView& view) {
  MarkerCounts counts;
  if (view.files == nullptr) return counts;
  const LanguagesByPath languages = FindLanguages(*view.kernels);
  for (const dsl::Language& language : dsl::Languages()) {
    const auto& kernels = view.kernels->kernels();
    if (std::any_of(kernels.begin(), kernels.end(),
                    [&](const v1::Kernel& kernel) { return kernel.dsl() == language.name; })) {
      continue;
    }
    for (const std::string& marker : GetMarkers(language)) {
      for (const v1::SourceFile& file : view.files->files()) {
        const int64_t times = CountTimes(file.content(), marker);
        if (times == 0 || IsOfOtherLanguage(languages, file.path(), marker)) continue;
        MarkerCount& count = counts[{std::string(language.name), marker}];
        count.times += times;
        ++count.files;
        AddPath(Safe(file.path()), &count.paths);
      }
    }
  }
  return counts;
}

UnmatchedFinder::UnmatchedFinder(const v1::DatasetManifest& manifest, const v1::Clusters& clusters,
                                 const v1::Splits& splits)
    : manifest_(manifest),
      clusters_(clusters),
      splits_(splits),
      sources_(static_cast<size_t>(manifest.sources_size())) {}

// INVALID_ARGUMENT: a glob of the manifest is malformed.
absl::Status UnmatchedFinder::VisitTree(int source, const v1::SourceTree& tree) {
  SourceFacts& facts = sources_[static_cast<size_t>(source)];
  facts.unselected = tree.unselected_files();
  facts.selected = tree.files_size();
  facts.unasked = {tree.unasked_files().begin(), tree.unasked_files().end()};
  const std::vector<std::string> includes = GetIncludes(manifest_.sources(source).source());
  for (size_t i = 0; i < includes.size(); ++i) {
    ASSIGN_OR_RETURN(const Glob glob, Glob::Compile(includes[i]));
    const bool matches =
        std::any_of(tree.files().begin(), tree.files().end(),
                    [&](const v1::FileEntry& file) { return glob.Matches(file.path()); });
    if (!matches) facts.idle_includes.push_back(static_cast<int>(i));
  }
  return absl::OkStatus();
}

void UnmatchedFinder::VisitShard(const ShardView& view, const MarkerCounts& markers) {
  SourceFacts& facts = sources_[static_cast<size_t>(view.source)];
  AddMarkers(markers, &facts.markers);
  facts.records += view.kernels->kernels_size();
  for (int i = 0; i < view.kernels->kernels_size(); ++i) {
    if (!IsFile(view.kernels->kernels(i))) ++facts.kernels[view.kernels->kernels(i).dsl()];
    const v1::Decision* decision =
        DecisionOn(clusters_, view.first_number + static_cast<uint32_t>(i));
    if (decision == nullptr || IsFile(view.kernels->kernels(i))) continue;
    if (decision->fate() == v1::FATE_REJECTED) ++reasons_[decision->reason()];
    if (decision->fate() == v1::FATE_CONTAMINATED) ++reasons_["contaminated"];
  }
}

// The first shard of a source's changes has the sums.
absl::Status UnmatchedFinder::ReadHistories(cas::BlobStore& store) {
  for (int i = 0; i < manifest_.sources_size(); ++i) {
    const v1::ManifestSource& source = manifest_.sources(i);
    if (source.changes().empty()) continue;
    ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::ChangeShard>(store, source.changes(0)));
    sources_[static_cast<size_t>(i)].history = shard.sums();
  }
  return absl::OkStatus();
}

List UnmatchedFinder::Find(const LedgerSums& sums, const std::vector<OptOutCount>& opt_out) const {
  List found;
  FindKept(sums, &found);
  FindLicenses(sums, &found);
  FindSplits(&found);
  for (const bool holdouts : {true, false}) {
    for (int i = 0; i < manifest_.sources_size(); ++i) {
      const v1::ManifestSource& source = manifest_.sources(i);
      if (source.failed() || IsHoldout(source.source()) != holdouts) continue;
      FindIncludes(i, &found);
      if (IsEvidence(source.source())) continue;  // the export says what of it matches nothing
      FindEmptySource(i, &found);
      FindHistory(i, &found);
      FindUnasked(i, &found);
      FindMarkers(i, &found);
    }
  }
  FindOptOuts(opt_out, &found);
  JoinSources(&found);
  return found;
}

void UnmatchedFinder::FindKept(const LedgerSums& sums, List* found) const {
  if (sums.kept + sums.training_files.kept > 0) return;
  std::string message = "is empty: ";
  if (sums.kernels_found == 0) {
    absl::StrAppend(&message, "no kernel is found in ", Counted(sums.files_seen, "file"), " of ",
                    Counted(manifest_.sources_size(), "source"));
  } else {
    absl::StrAppend(&message, Counted(sums.kernels_found, "kernel"), " found, none kept (",
                    ReasonList(reasons_), ")");
  }
  found->push_back({"kept", "dataset", "", "", message, {}});
}

void UnmatchedFinder::FindLicenses(const LedgerSums& sums, List* found) const {
  const auto rejected = sums.rejected.find("license");
  if (sums.kernels_found == 0 || rejected == sums.rejected.end()) return;
  if (rejected->second != sums.kernels_found) return;
  found->push_back({"licenses",
                    "licenses.allow",
                    "",
                    Safe(absl::StrJoin(manifest_.licenses().allow(), ", ")),
                    absl::StrCat("allows none of ", Counted(sums.kernels_found, "kernel"), " (",
                                 ReasonList(reasons_), ")"),
                    {}});
}

void UnmatchedFinder::FindSplits(List* found) const {
  if (!manifest_.has_split_policy()) return;
  const v1::SplitPolicy& policy = manifest_.split_policy();
  std::map<int, int64_t> rows;
  for (const int split : splits_.splits()) ++rows[split];
  const int64_t all = rows[v1::SPLIT_TRAIN] + rows[v1::SPLIT_VALIDATION] + rows[v1::SPLIT_TEST];
  const auto check = [&](v1::Split split, double share,
                         const google::protobuf::RepeatedPtrField<std::string>& names) {
    const std::string where = absl::StrCat("splits.", SplitName(split));
    int known_names = 0;
    for (int i = 0; i < names.size(); ++i) {
      const bool known = std::any_of(manifest_.sources().begin(), manifest_.sources().end(),
                                     [&](const v1::ManifestSource& source) {
                                       return job::SourceName(source.source()) == names[i];
                                     });
      known_names += known;
      if (known) continue;
      found->push_back({"split",
                        absl::StrCat(where, "_repositories[", i, "]"),
                        "",
                        Safe(names[i]),
                        "is the name of no source",
                        {}});
    }
    const std::string asked = share > 0 ? absl::StrCat(share) : "";
    if (share > 0 && MissesShare(rows[split], all, share)) {
      found->push_back({"split", where, "", asked, MissedShareText(rows[split], all), {}});
    }
    if (rows[split] > 0 || (share <= 0 && known_names == 0)) return;
    found->push_back({"split", where, "", asked, EmptySplitText(all), {}});
  };
  check(v1::SPLIT_VALIDATION, policy.validation(), policy.validation_repositories());
  check(v1::SPLIT_TEST, policy.test(), policy.test_repositories());
  // Train is the rest, which a job that divides its dataset asks for, too.
  if (all > 0 && rows[v1::SPLIT_TRAIN] == 0) {
    found->push_back({"split", "splits.train", "", "", EmptySplitText(all), {}});
  }
}

// Repositories are divided, not rows: from some twenty on, the shares come out roughly.
bool UnmatchedFinder::MissesShare(int64_t rows, int64_t all, double share) const {
  if (rows == 0 || CountRepositories() >= kManyRepositories) return false;
  const double got = static_cast<double>(rows) / static_cast<double>(all);
  return got < share / kMissedBy || got > share * kMissedBy;
}

std::string UnmatchedFinder::MissedShareText(int64_t rows, int64_t all) const {
  return absl::StrCat("gets ", absl::StrFormat("%.2g", 1.0 * rows / all), " (", rows, " of ",
                      Counted(all, "row"), "): ", WhyUneven());
}

std::string UnmatchedFinder::EmptySplitText(int64_t all) const {
  return absl::StrCat("gets none of ", Counted(all, "row"), ": ", WhyUneven());
}

// A repository is the sources with one name.
int64_t UnmatchedFinder::CountRepositories() const {
  std::set<std::string> names;
  for (const v1::ManifestSource& source : manifest_.sources()) {
    if (source.failed() || !IsCandidate(source.source())) continue;
    names.insert(job::SourceName(source.source()));
  }
  return static_cast<int64_t>(names.size());
}

std::string UnmatchedFinder::WhyUneven() const {
  const int64_t repositories = CountRepositories();
  if (repositories >= kManyRepositories) return "repositories are divided, not rows";
  return absl::StrCat("there ", repositories == 1 ? "is" : "are", " only ", repositories,
                      repositories == 1 ? " repository" : " repositories", " to divide");
}

void UnmatchedFinder::FindHistory(int source, List* found) const {
  const v1::HistorySums& sums = sources_[static_cast<size_t>(source)].history;
  const v1::Source& spec = manifest_.sources(source).source();
  if (!spec.has_history() || sums.changes() > 0) return;
  found->push_back(
      {"history",
       absl::StrCat("sources[", source, "].history"),
       Safe(job::SourceName(spec)),
       Safe(spec.history().since()),
       absl::StrCat("has no change of a kernel in ", Counted(sums.commits_seen(), "commit"),
                    "; files with kernels are in ", sums.commits_with_kernels()),
       {}});
}

// A holdout without a record holds nothing out.
void UnmatchedFinder::FindEmptySource(int source, List* found) const {
  const SourceFacts& facts = sources_[static_cast<size_t>(source)];
  if (facts.records > 0) return;
  const v1::Source& spec = manifest_.sources(source).source();
  const bool holdout = IsHoldout(spec);
  // Then the globs that match nothing say it all.
  if (facts.selected == 0 && !holdout) return;
  found->push_back({holdout ? "holdout" : "source",
                    absl::StrCat("sources[", source, "]"),
                    Safe(job::SourceName(spec)),
                    "",
                    absl::StrCat(holdout ? "is a holdout without a kernel" : "has no kernel",
                                 " in ", Counted(facts.selected, "file"),
                                 " that include selects; it leaves out ", facts.unselected),
                    {}});
}

void UnmatchedFinder::FindIncludes(int source, List* found) const {
  const SourceFacts& facts = sources_[static_cast<size_t>(source)];
  const v1::Source& spec = manifest_.sources(source).source();
  const std::vector<std::string> includes = GetIncludes(spec);
  for (const int i : facts.idle_includes) {
    const std::string& glob = includes[static_cast<size_t>(i)];
    std::string message =
        absl::StrCat("matches none of its ", Counted(facts.selected + facts.unselected, "file"),
                     spec.exclude().empty() ? "" : " that exclude leaves");
    if (!absl::StrContains(glob, "/")) {
      absl::StrAppend(&message, "; in all folders: \"**/", Safe(glob), "\"");
    }
    found->push_back({"include",
                      absl::StrCat("sources[", source, "].include[", i, "]"),
                      Safe(job::SourceName(spec)),
                      Safe(glob),
                      message,
                      {}});
  }
}

void UnmatchedFinder::FindUnasked(int source, List* found) const {
  for (const v1::UnaskedFiles& files : sources_[static_cast<size_t>(source)].unasked) {
    Unmatched& one = found->emplace_back();
    one.what = "unasked";
    one.where = absl::StrCat("sources[", source, "].include");
    one.source = Safe(job::SourceName(manifest_.sources(source).source()));
    one.asked = Safe(files.glob());
    one.message = absl::StrCat("is not asked for; it matches ", Counted(files.files(), "file"));
    for (const std::string& path : files.paths()) AddPath(Safe(path), &one.paths);
  }
}

void UnmatchedFinder::FindMarkers(int source, List* found) const {
  const SourceFacts& facts = sources_[static_cast<size_t>(source)];
  const auto wanted = dsl::LanguageSet::Make(manifest_.sources(source).source().languages());
  for (const auto& [marker, count] : facts.markers) {
    if (wanted.ok() && !wanted->Has(marker.first)) continue;
    if (facts.kernels.contains(marker.first)) continue;
    found->push_back(
        {"marker", absl::StrCat("sources[", source, "]"),
         Safe(job::SourceName(manifest_.sources(source).source())), marker.second,
         absl::StrCat("is there ", Counted(count.times, "time"), ", and no ", marker.first,
                      " kernel is found; ", Counted(count.files, "file")),
         count.paths});
  }
}

void UnmatchedFinder::FindOptOuts(const std::vector<OptOutCount>& opt_out, List* found) const {
  for (size_t i = 0; i < opt_out.size(); ++i) {
    const OptOutCount& count = opt_out[i];
    if (count.kernels + count.copies + count.carriers > 0) continue;
    found->push_back({"opt_out",
                      absl::StrCat("opt_out[", i, "]"),
                      "",
                      Safe(GetAsked(manifest_.opt_out(static_cast<int>(i)))),
                      count.sources == 0
                          ? "names no source of the job"
                          : absl::StrCat("names no kernel in ", Counted(count.sources, "source")),
                      {}});
  }
}

}  // namespace kernelmill::manifest
