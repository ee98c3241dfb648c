#include "dataset/analysis/analysis.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"
#include "common/manifest/ledger.h"
#include "common/words/enum_words.h"
#include "dataset/output/json.h"
#include "dataset/output/markdown.h"

// Three steps, in three parts of this file. Analysis counts kernels and files as the index meets
// them; all its members are sums or lists, so that shards are counted on many threads and added.
// Then AnalysisJson writes the counts as ANALYSIS.json. At last AnalysisMarkdown makes the page for
// people from that JSON alone.
namespace kernelmill::dataset {
namespace {

// Returns the kind of what was missing. It drops parameters' names: there are too many.
std::string MissingKind(absl::string_view missing) {
  for (const absl::string_view kind : {"type", "constexpr", "template"}) {
    if (absl::StartsWith(missing, kind) && missing.substr(kind.size(), 1) == ":") {
      return std::string(kind);
    }
  }
  return missing.empty() ? "unspecified" : std::string(missing);
}

void AddResult(const v1::CompileResult& result, TargetCounts* counts) {
  if (result.status() == v1::COMPILE_STATUS_OK) {
    ++counts->ok;
  } else if (result.status() == v1::COMPILE_STATUS_ERROR) {
    ++counts->error;
    ++counts->errors[result.stage().empty() ? "unspecified" : result.stage()];
  } else {
    ++counts->unknown;
    ++counts->missing[MissingKind(result.missing())];
  }
}

void AddAll(const std::map<std::string, int64_t>& more, std::map<std::string, int64_t>* sum) {
  for (const auto& [word, count] : more) (*sum)[word] += count;
}

Json WordsJson(const std::map<std::string, int64_t>& counts) {
  Json list = Json::array();
  for (const auto& [word, count] : counts) list.push_back({{"name", Text(word)}, {"count", count}});
  return list;
}

}  // namespace

// Counts a kernel's evidence once for each target, and once for the kernel by the check "compiles".
// A kernel that no compiler was asked about counts only under its reason.
void AddCompiled(const v1::Verdict& verdict, CompileCounts* counts) {
  if (!verdict.has_compiled()) return;
  const v1::CompiledKernel& compiled = verdict.compiled();
  if (!compiled.not_attempted().empty()) {
    ++counts->not_attempted[compiled.not_attempted()];
    return;
  }
  const v1::RuleResult::Outcome outcome = manifest::GetOutcome(verdict, "compiles");
  ++(outcome == v1::RuleResult::OUTCOME_PASS   ? counts->compiles
     : outcome == v1::RuleResult::OUTCOME_FAIL ? counts->fails
                                               : counts->unknown);
  for (const v1::CompileResult& result : compiled.results()) {
    AddResult(result, &counts->targets[{result.toolchain(), result.target()}]);
  }
}

void AddTo(const CompileCounts& more, CompileCounts& sum) {
  sum.compiles += more.compiles;
  sum.fails += more.fails;
  sum.unknown += more.unknown;
  AddAll(more.not_attempted, &sum.not_attempted);
  for (const auto& [target, counts] : more.targets) {
    TargetCounts& to = sum.targets[target];
    to.ok += counts.ok;
    to.error += counts.error;
    to.unknown += counts.unknown;
    AddAll(counts.errors, &to.errors);
    AddAll(counts.missing, &to.missing);
  }
}

// Makes one entry for each toolchain and target, in the order of the map.
Json CompileCountsJson(const CompileCounts& counts) {
  Json targets = Json::array();
  for (const auto& [target, of] : counts.targets) {
    targets.push_back({{"toolchain", target.first},
                       {"target", target.second},
                       {"ok", of.ok},
                       {"error", of.error},
                       {"unknown", of.unknown},
                       {"errors", WordsJson(of.errors)},
                       {"missing", WordsJson(of.missing)}});
  }
  return {{"compiles", counts.compiles},
          {"fails", counts.fails},
          {"unknown", counts.unknown},
          {"not_attempted", WordsJson(counts.not_attempted)},
          {"targets", std::move(targets)}};
}

namespace {

constexpr char kUnknown[] = "unknown";

std::string WordOr(const std::string& word, absl::string_view otherwise) {
  return word.empty() || word == "unspecified" ? std::string(otherwise) : word;
}

// Overloads for each kind of count; those for maps call the others.
void AddTo(const Tally& more, Tally& sum) {
  sum.found += more.found;
  sum.kept += more.kept;
  sum.lines += more.lines;
  sum.size_bytes += more.size_bytes;
  sum.tokens += more.tokens;
}

void AddTo(const Analysis::CheckTally& more, Analysis::CheckTally& sum) {
  AddTo(more.found, sum.found);
  AddTo(more.kept, sum.kept);
}

void AddTo(const Analysis::CompileTally& more, Analysis::CompileTally& sum) {
  AddTo(more.found, sum.found);
  AddTo(more.kept, sum.kept);
}

void AddTo(const FileTally& more, FileTally& sum) {
  sum.files += more.files;
  sum.lines += more.lines;
  sum.size_bytes += more.size_bytes;
}

void AddTo(int64_t more, int64_t& sum) { sum += more; }

// Adds maps, and maps of maps.
template <typename Key, typename Value>
void AddTo(const std::map<Key, Value>& more, std::map<Key, Value>& sum) {
  for (const auto& [key, value] : more) AddTo(value, sum[key]);
}

// Sizes are set for kept kernels only, and are 0 otherwise.
Tally MakeTally(const v1::Kernel& kernel, const v1::Verdict& verdict, bool kept) {
  Tally tally;
  tally.found = 1;
  if (!kept) return tally;
  tally.kept = 1;
  tally.lines = kernel.last_line() - kernel.first_line() + 1;
  tally.size_bytes = static_cast<int64_t>(kernel.source().size());
  tally.tokens = verdict.source_tokens().cl100k_base();
  return tally;
}

// Returns the words of a kernel in every dimension.
std::vector<std::pair<absl::string_view, std::string>> GetWords(const Analysis::Origin& origin,
                                                                const v1::Kernel& kernel,
                                                                const v1::Verdict& verdict) {
  std::vector<std::pair<absl::string_view, std::string>> words = {
      {"repository", origin.repository},
      {"category", origin.category},
      {"source_tier", absl::StrCat(origin.tier)},
      {"quality_tier", absl::StrCat(verdict.quality().tier())},
      {"dsl", kernel.dsl()},
      {"role", WordOr(ToWord(kernel.role()), "none")},
      {"kind", WordOr(verdict.kind(), kUnknown)},
      {"target", WordOr(verdict.target(), kUnknown)},
      {"license", WordOr(verdict.license().expression(), "NOASSERTION")},
      {"license_basis", LicenseBasis(verdict.license())},
  };
  for (const v1::Tag& tag : kernel.tags()) words.emplace_back("tag", tag.name());
  if (kernel.tags_size() == 0) words.emplace_back("tag", "(none)");
  for (const std::string& feature : kernel.features()) words.emplace_back("feature", feature);
  return words;
}

// Counts a kernel's checks: among the found kernels, and among the kept ones.
void CountChecks(const v1::Verdict& verdict, bool kept, Analysis::Checks& checks) {
  for (const v1::RuleResult& result : verdict.rules()) {
    Analysis::CheckTally& tally = checks[result.rule()];
    Count(result.outcome(), tally.found);
    if (kept) Count(result.outcome(), tally.kept);
  }
}

// Found kernels show how well compilers do; kept ones what the dataset has.
void CountCompiled(const v1::Verdict& verdict, bool kept, Analysis::CompileTally& tally) {
  AddCompiled(verdict, &tally.found);
  if (kept) AddCompiled(verdict, &tally.kept);
}

// Fits a size into 32 bits, since one is stored for each kept kernel.
uint32_t Bounded(int64_t value) {
  return static_cast<uint32_t>(std::clamp<int64_t>(value, 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

void Count(v1::RuleResult::Outcome outcome, Outcomes& outcomes) {
  outcomes.pass += outcome == v1::RuleResult::OUTCOME_PASS;
  outcomes.fail += outcome == v1::RuleResult::OUTCOME_FAIL;
  outcomes.exempt += outcome == v1::RuleResult::OUTCOME_EXEMPT;
}

void AddTo(const Outcomes& more, Outcomes& sum) {
  sum.pass += more.pass;
  sum.fail += more.fail;
  sum.exempt += more.exempt;
}

// The order is that of the sections in ANALYSIS.md.
const std::vector<std::string>& AnalysisDimensions() {
  static const auto* const dimensions = new std::vector<std::string>{
      "repository", "category", "dsl",     "tag",           "feature",     "kind",
      "role",       "target",   "license", "license_basis", "source_tier", "quality_tier"};
  return *dimensions;
}

// Reduces the evidence for a licence, which is several words joined by +, to the one that is
// closest to the code: the file itself, a license file, the package's metadata, the job.
std::string LicenseBasis(const v1::License& license) {
  if (license.expression().empty() || license.expression() == "NOASSERTION") return kUnknown;
  // The order of the tests is from the closest to the code outwards.
  const std::vector<absl::string_view> parts = absl::StrSplit(license.evidence(), '+');
  const auto any = [&](std::initializer_list<absl::string_view> prefixes) {
    return std::any_of(parts.begin(), parts.end(), [&](absl::string_view part) {
      return std::any_of(prefixes.begin(), prefixes.end(),
                         [&](absl::string_view prefix) { return absl::StartsWith(part, prefix); });
    });
  };
  if (any({"spdx-tag", "header", "annotation"})) return "header";
  if (any({"file"})) return "file";
  if (any({"metadata"})) return "metadata";
  if (any({"job"})) return "job";
  return kUnknown;
}

// Counts a kernel under its word in each dimension; with several tags or features, under each of
// them. Lines, bytes and tokens are those of kept kernels only.
void Analysis::AddKernel(const Origin& origin, const v1::Kernel& kernel, const v1::Verdict& verdict,
                         const v1::Decision& decision) {
  const bool kept = decision.fate() == v1::FATE_KEPT;
  const Tally tally = MakeTally(kernel, verdict, kept);
  AddTo(tally, total_);
  for (auto& [dimension, word] : GetWords(origin, kernel, verdict)) {
    AddTo(tally, by_[std::string(dimension)][ToUtf8(word)]);
  }
  CountChecks(verdict, kept, checks_);
  CountChecks(verdict, kept, checks_by_category_[origin.category]);
  if (verdict.has_compiled()) {
    CountCompiled(verdict, kept, compile_);
    CountCompiled(verdict, kept, compile_by_repository_[origin.repository]);
    CountCompiled(verdict, kept, compile_by_language_[kernel.dsl()]);
  }
  AddTo(tally, licenses_by_category_[origin.category][LicenseBasis(verdict.license())]);
  // Sizes and distributions are those of kept kernels.
  if (!kept) {
    ++losses_[std::string(manifest::FateName(decision.fate()))]
             [manifest::ReasonKind(decision.reason())];
    return;
  }
  tokens_.push_back(Bounded(tally.tokens));
  lines_.push_back(Bounded(tally.lines));
}

// Counts a file once, however many kernels it has.
void Analysis::AddFile(const Origin& origin, int64_t lines, int64_t size_bytes) {
  const FileTally file = {1, lines, size_bytes};
  AddTo(file, files_by_category_[origin.category]);
  AddTo(file, files_by_repository_[origin.repository]);
}

// Adds the counts of another part of the dataset. All members are sums or lists, so that parts can
// be counted separately, in any order.
void Analysis::Add(const Analysis& more) {
  AddTo(more.total_, total_);
  AddTo(more.by_, by_);
  AddTo(more.checks_, checks_);
  AddTo(more.checks_by_category_, checks_by_category_);
  AddTo(more.compile_, compile_);
  AddTo(more.compile_by_repository_, compile_by_repository_);
  AddTo(more.compile_by_language_, compile_by_language_);
  AddTo(more.files_by_category_, files_by_category_);
  AddTo(more.files_by_repository_, files_by_repository_);
  AddTo(more.licenses_by_category_, licenses_by_category_);
  AddTo(more.losses_, losses_);
  AddTo(more.clusters_, clusters_);
  tokens_.insert(tokens_.end(), more.tokens_.begin(), more.tokens_.end());
  lines_.insert(lines_.end(), more.lines_.begin(), more.lines_.end());
}

namespace {

// Returns a part of a whole, or null if the whole is 0.
Json Share(int64_t part, int64_t whole) {
  return whole == 0 ? Json() : Number(static_cast<double>(part) / static_cast<double>(whole));
}

// The share is that of the kept kernels of the whole dataset.
Json TallyJson(const std::string& name, const Tally& tally, const Tally& total) {
  return {{"name", name},          {"found", tally.found},
          {"kept", tally.kept},    {"share_of_kept", Share(tally.kept, total.kept)},
          {"lines", tally.lines},  {"size_bytes", tally.size_bytes},
          {"tokens", tally.tokens}};
}

// Lists words by the number of kept kernels, then of found ones, the largest first. The map's order
// decides between equals, so that the file is the same each time.
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

// Counts the values in each range from 2^n to 2^(n+1) - 1, from the smallest to the largest value.
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

// Returns the smallest value that is at least as large as this many thousandths of all values.
uint32_t Quantile(const std::vector<uint32_t>& sorted, size_t thousandths) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * thousandths / 1000)];
}

// Takes a copy of the values, which it sorts.
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

// Every category with checks also has licences, since AddKernel counts both.
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

Json CompileTalliesJson(const std::map<std::string, Analysis::CompileTally>& tallies) {
  Json list = Json::array();
  for (const auto& [name, tally] : tallies) {
    Json row = CompileTallyJson(tally);
    row["name"] = Text(name);
    list.push_back(std::move(row));
  }
  return list;
}

// Returns null if the job does not compile.
Json CompileJson(const Analysis& analysis) {
  if (analysis.compile_by_repository().empty()) return nullptr;
  Json json = CompileTallyJson(analysis.compile());
  json["by_language"] = CompileTalliesJson(analysis.compile_by_language());
  json["by_repository"] = CompileTalliesJson(analysis.compile_by_repository());
  return json;
}

// Lists how many kernels each fate and reason took, in the order of the map.
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

// Makes ANALYSIS.json. Its keys and values are part of the format.
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

namespace {

constexpr size_t kMaxReasons = 5;  // for each language
constexpr size_t kMaxRows = 60;    // in a table by word; ANALYSIS.json has all

// Formats a number as 12,345.
std::string Count(int64_t number) {
  std::string digits = absl::StrCat(number);
  // From the end, so that places before it stay valid.
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string Percent(const Json& share) {
  return share.is_null() ? "" : absl::StrFormat("%.1f %%", 100 * share.get<double>());
}

// Marks a check as the extraction plan's script 06 does: more than 80 % pass, more than 50 %, less.
std::string Mark(const Json& share) {
  if (share.is_null()) return "";
  const double value = share.get<double>();
  constexpr double kMost = 0.8;
  constexpr double kHalf = 0.5;
  return value > kMost ? "✓" : value > kHalf ? "~" : "✗";
}

// A Markdown table that grows by rows.
class Table {
 public:
  // Columns after the first are numbers.
  explicit Table(const std::vector<std::string>& head) {
    Add(head);
    std::vector<std::string> rule(head.size(), "---:");
    rule[0] = "---";
    Add(rule);
  }
  void Add(const std::vector<std::string>& cells) {
    absl::StrAppend(&text_, "| ", absl::StrJoin(cells, " | "), " |\n");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Returns a dimension as a heading.
std::string Title(absl::string_view dimension) {
  return absl::StrReplaceAll(dimension, {{"_", " "}, {"dsl", "language"}});
}

// Makes a table of the first kMaxRows words, and a line that names the number of the others.
std::string TallyTable(const std::string& title, const Json& tallies) {
  Table table({title, "found", "kept", "of all kept", "lines", "tokens"});
  size_t rows = 0;
  for (const Json& tally : tallies) {
    if (++rows > kMaxRows) break;
    table.Add({MarkdownCell(tally["name"].get<std::string>()), Count(tally["found"]),
               Count(tally["kept"]), Percent(tally["share_of_kept"]), Count(tally["lines"]),
               Count(tally["tokens"])});
  }
  std::string text = table.text();
  if (tallies.size() > kMaxRows) {
    absl::StrAppend(&text, "\n", tallies.size() - kMaxRows, " more stand in ANALYSIS.json.\n");
  }
  return text;
}

// Makes a table of the checks. A kernel that a check exempts counts neither as passed nor as
// failed.
std::string CheckTable(const Json& checks) {
  Table table({"check", "", "pass, of found", "", "pass, of kept", "exempt, of kept"});
  for (const Json& check : checks) {
    std::vector<std::string> row = {MarkdownCell(check["name"].get<std::string>())};
    for (const char* side : {"found", "kept"}) {
      const Json& outcomes = check[side];
      row.push_back(Mark(outcomes["share"]));
      row.push_back(
          absl::StrCat(Count(outcomes["pass"]), " of ",
                       Count(outcomes["pass"].get<int64_t>() + outcomes["fail"].get<int64_t>()),
                       outcomes["share"].is_null() ? "" : ", ", Percent(outcomes["share"])));
    }
    row.push_back(Count(check["kept"]["exempt"]));
    table.Add(row);
  }
  return table.text();
}

std::string FormatShare(int64_t part, int64_t whole) {
  return whole == 0 ? "" : Percent(static_cast<double>(part) / static_cast<double>(whole));
}

// Makes a table of the results for the found kernels, by compiler and target.
std::string TargetTable(const Json& targets) {
  Table table(
      {"compiler and target", "ok", "error", "unknown", "ok, of all", "ok, of ok and error"});
  for (const Json& target : targets) {
    const auto ok = target["ok"].get<int64_t>();
    const auto error = target["error"].get<int64_t>();
    const auto unknown = target["unknown"].get<int64_t>();
    table.Add({absl::StrCat(target["toolchain"].get<std::string>(), ", ",
                            target["target"].get<std::string>()),
               Count(ok), Count(error), Count(unknown), FormatShare(ok, ok + error + unknown),
               FormatShare(ok, ok + error)});
  }
  return table.text();
}

// Counts why kernels do not compile, over all compilers and targets.
std::map<std::string, int64_t> CountReasons(const Json& counts) {
  std::map<std::string, int64_t> reasons;
  for (const Json& target : counts["targets"]) {
    for (const Json& error : target["errors"]) {
      reasons["error: " + error["name"].get<std::string>()] += error["count"].get<int64_t>();
    }
    for (const Json& missing : target["missing"]) {
      reasons["unknown: " + missing["name"].get<std::string>()] += missing["count"].get<int64_t>();
    }
  }
  return reasons;
}

int64_t CountUntried(const Json& counts) {
  int64_t untried = 0;
  for (const Json& reason : counts["not_attempted"]) untried += reason["count"].get<int64_t>();
  return untried;
}

std::string ReasonTable(const Json& counts) {
  Table table({"why not", "results"});
  for (const auto& [reason, count] : CountReasons(counts)) {
    table.Add({MarkdownCell(reason), Count(count)});
  }
  Table untried({"not tried", "kernels"});
  for (const Json& reason : counts["not_attempted"]) {
    untried.Add({MarkdownCell(reason["name"].get<std::string>()), Count(reason["count"])});
  }
  return absl::StrCat(table.text(), "\n", untried.text());
}

// Makes a table of the results by repository, over all compilers and targets.
std::string CompileTable(const Json& repositories) {
  Table table({"repository", "compiles", "fails", "unknown", "not tried", "compiles, of kept"});
  size_t rows = 0;
  for (const Json& repository : repositories) {
    if (++rows > kMaxRows) break;
    const Json& found = repository["found"];
    const Json& kept = repository["kept"];
    table.Add({MarkdownCell(repository["name"].get<std::string>()), Count(found["compiles"]),
               Count(found["fails"]), Count(found["unknown"]), Count(CountUntried(found)),
               Count(kept["compiles"])});
  }
  std::string text = table.text();
  if (repositories.size() > kMaxRows) {
    absl::StrAppend(&text, "\n", repositories.size() - kMaxRows, " more stand in ANALYSIS.json.\n");
  }
  return text;
}

// Names the most frequent reasons why kernels have no good result, those that no compiler was asked
// about included.
std::string NameReasons(const Json& counts) {
  std::vector<std::pair<std::string, int64_t>> reasons;
  for (const auto& reason : CountReasons(counts)) reasons.push_back(reason);
  for (const Json& reason : counts["not_attempted"]) {
    reasons.emplace_back(absl::StrCat("not tried: ", reason["name"].get<std::string>()),
                         reason["count"].get<int64_t>());
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (reasons.size() > kMaxReasons) reasons.resize(kMaxReasons);
  return absl::StrJoin(reasons, ", ", [](std::string* out, const auto& reason) {
    absl::StrAppend(out, MarkdownCell(reason.first), " ", Count(reason.second));
  });
}

// Makes a table of the kept kernels by language.
std::string LanguageTable(const Json& languages) {
  Table table({"language, kept", "kernels", "tried", "ok", "error", "unknown", "why not"});
  for (const Json& language : languages) {
    const Json& kept = language["kept"];
    const int64_t tried = kept["compiles"].get<int64_t>() + kept["fails"].get<int64_t>() +
                          kept["unknown"].get<int64_t>();
    table.Add({MarkdownCell(language["name"].get<std::string>()), Count(tried + CountUntried(kept)),
               Count(tried), Count(kept["compiles"]), Count(kept["fails"]), Count(kept["unknown"]),
               NameReasons(kept)});
  }
  return table.text();
}

// Joins the tables about compilers: by target, by reason, by language, by repository.
std::string CompileText(const Json& compile) {
  return absl::StrCat(
      "Kernels found, kept or not. Unknown: what a kernel is called with could not be told.\n\n",
      TargetTable(compile["found"]["targets"]), "\n", ReasonTable(compile["found"]), "\n",
      LanguageTable(compile["by_language"]), "\n", CompileTable(compile["by_repository"]));
}

// All shares are of the kernels found.
std::string LossTable(const Json& analysis) {
  Table table({"fate", "reason", "kernels", "of all found"});
  const auto found = analysis["kernels"]["found"].get<double>();
  for (const Json& loss : analysis["lost"]) {
    table.Add({loss["fate"], MarkdownCell(loss["reason"].get<std::string>()),
               Count(loss["kernels"]), Percent(loss["kernels"].get<double>() / found)});
  }
  return table.text();
}

// Sizes are rounded up to KiB.
std::string FileTable(const std::string& title, const Json& files) {
  Table table({title, "files", "lines", "KiB"});
  for (const Json& file : files) {
    table.Add({MarkdownCell(file["name"].get<std::string>()), Count(file["files"]),
               Count(file["lines"]), Count((file["size_bytes"].get<int64_t>() + 1023) / 1024)});
  }
  return table.text();
}

// The quantiles of tokens and of lines are at the same shares, so one head serves both rows.
std::string SizeTable(const Json& sizes) {
  std::vector<std::string> head = {"of a kept kernel"};
  for (const Json& quantile : sizes["tokens"]["quantiles"]) {
    const double share = quantile["share"].get<double>();
    head.push_back(share == 0     ? "least"
                   : share == 1   ? "most"
                   : share == 0.5 ? "median"
                                  : absl::StrFormat("%g %%", 100 * share));
  }
  Table table(head);
  for (const char* measure : {"tokens", "lines"}) {
    std::vector<std::string> row = {measure};
    for (const Json& quantile : sizes[measure]["quantiles"])
      row.push_back(Count(quantile["value"]));
    table.Add(row);
  }
  return table.text();
}

// The columns are fixed, so that a basis which no kernel has shows as 0.
std::string LicenseTable(const Json& categories) {
  const std::vector<std::string> bases = {"header", "file", "metadata", "job", "unknown"};
  std::vector<std::string> head = {"category"};
  for (const std::string& basis : bases) head.push_back(basis);
  Table table(head);
  for (const Json& category : categories) {
    std::vector<std::string> row = {MarkdownCell(category["name"].get<std::string>())};
    for (const std::string& basis : bases) {
      int64_t found = 0, kept = 0;
      for (const Json& tally : category["license_basis"]) {
        if (tally["name"] != basis) continue;
        found = tally["found"];
        kept = tally["kept"];
      }
      row.push_back(absl::StrCat(Count(kept), " of ", Count(found)));
    }
    table.Add(row);
  }
  return table.text();
}

std::string ClusterTable(const Json& clusters) {
  Table table({"kernels in a cluster", "clusters"});
  for (const Json& cluster : clusters) {
    table.Add({Count(cluster["kernels"]), Count(cluster["clusters"])});
  }
  return table.text();
}

}  // namespace

// Makes ANALYSIS.md from ANALYSIS.json only, so that the two agree.
std::string AnalysisMarkdown(const Json& analysis) {
  const Json& all = analysis["kernels"];
  std::string text = absl::StrCat(
      "# ", MarkdownCell(analysis["name"].get<std::string>()), ": what is in it\n\n", "Dataset `",
      analysis["dataset"].get<std::string>(), "`. ", Count(all["found"]), " kernels were found, ",
      Count(all["kept"]), " kept: ", Count(all["lines"]), " lines, ", Count(all["tokens"]),
      " tokens (cl100k\\_base). ANALYSIS.json has all numbers; `ledger.jsonl` has each kernel.\n");
  if (all["found"] == 0) return text;
  const auto section = [&](absl::string_view title, const std::string& body) {
    absl::StrAppend(&text, "\n## ", title, "\n\n", body);
  };
  section("Not kept", LossTable(analysis));
  section("Checks",
          absl::StrCat("Over the kernels that a check can be asked of: ✓ more than 80 of 100 pass, "
                       "~ more than 50, ✗ less.\n\n",
                       CheckTable(analysis["checks"])));
  if (!analysis["compile"].is_null()) section("Compilers", CompileText(analysis["compile"]));
  section("Licences, by what says them",
          absl::StrCat("Kernels kept, of those found. Header: the file itself; file: a licence "
                       "file above it; metadata: the package's.\n\n",
                       LicenseTable(analysis["categories"])));
  section("Sizes", SizeTable(analysis["sizes"]));
  for (const std::string& dimension : AnalysisDimensions()) {
    section(absl::StrCat("By ", Title(dimension)),
            TallyTable(Title(dimension), analysis["by"][dimension]));
  }
  section("Files with kept kernels", FileTable("category", analysis["files"]["by_category"]));
  section("Duplicates", absl::StrCat("A kept kernel stands for its cluster.\n\n",
                                     ClusterTable(analysis["clusters"])));
  for (const Json& category : analysis["categories"]) {
    section(absl::StrCat("Checks of ", MarkdownCell(category["name"].get<std::string>())),
            CheckTable(category["checks"]));
  }
  return text;
}

}  // namespace kernelmill::dataset
