#include "dataset/analysis/analysis_markdown.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "dataset/analysis/analysis.h"
#include "dataset/output/markdown.h"

namespace kernelmill::dataset {
namespace {

constexpr size_t kMaxRows = 60;  // of a table by word; ANALYSIS.json has all

// 12,345
std::string Count(int64_t number) {
  std::string digits = absl::StrCat(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string Percent(const Json& share) {
  return share.is_null() ? "" : absl::StrFormat("%.1f %%", 100 * share.get<double>());
}

// As the extraction plan's script 06 marks a check: over 80 of a hundred pass, over 50, less.
std::string Mark(const Json& share) {
  if (share.is_null()) return "";
  const double value = share.get<double>();
  return value > 0.8 ? "✓" : value > 0.5 ? "~" : "✗";
}

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

std::string Title(absl::string_view dimension) {
  return absl::StrReplaceAll(dimension, {{"_", " "}, {"dsl", "language"}});
}

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

// What each compiler made of the kernels found, for each target.
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

// Why kernels do not compile, over all compilers and targets.
std::string ReasonTable(const Json& counts) {
  std::map<std::string, int64_t> reasons;
  for (const Json& target : counts["targets"]) {
    for (const Json& error : target["errors"]) {
      reasons["error: " + error["name"].get<std::string>()] += error["count"].get<int64_t>();
    }
    for (const Json& missing : target["missing"]) {
      reasons["unknown: " + missing["name"].get<std::string>()] += missing["count"].get<int64_t>();
    }
  }
  Table table({"why not", "results"});
  for (const auto& [reason, count] : reasons) table.Add({MarkdownCell(reason), Count(count)});
  Table untried({"not tried", "kernels"});
  for (const Json& reason : counts["not_attempted"]) {
    untried.Add({MarkdownCell(reason["name"].get<std::string>()), Count(reason["count"])});
  }
  return absl::StrCat(table.text(), "\n", untried.text());
}

std::string CompileTable(const Json& repositories) {
  Table table({"repository", "compiles", "fails", "unknown", "not tried", "compiles, of kept"});
  size_t rows = 0;
  for (const Json& repository : repositories) {
    if (++rows > kMaxRows) break;
    const Json& found = repository["found"];
    const Json& kept = repository["kept"];
    int64_t untried = 0;
    for (const Json& reason : found["not_attempted"]) untried += reason["count"].get<int64_t>();
    table.Add({MarkdownCell(repository["name"].get<std::string>()), Count(found["compiles"]),
               Count(found["fails"]), Count(found["unknown"]), Count(untried),
               Count(kept["compiles"])});
  }
  std::string text = table.text();
  if (repositories.size() > kMaxRows) {
    absl::StrAppend(&text, "\n", repositories.size() - kMaxRows, " more stand in ANALYSIS.json.\n");
  }
  return text;
}

std::string CompileText(const Json& compile) {
  return absl::StrCat(
      "Kernels found, kept or not. Unknown: what a kernel is called with could not be told.\n\n",
      TargetTable(compile["found"]["targets"]), "\n", ReasonTable(compile["found"]), "\n",
      CompileTable(compile["by_repository"]));
}

std::string LossTable(const Json& analysis) {
  Table table({"fate", "reason", "kernels", "of all found"});
  const auto found = analysis["kernels"]["found"].get<double>();
  for (const Json& loss : analysis["lost"]) {
    table.Add({loss["fate"], MarkdownCell(loss["reason"].get<std::string>()),
               Count(loss["kernels"]), Percent(loss["kernels"].get<double>() / found)});
  }
  return table.text();
}

std::string FileTable(const std::string& title, const Json& files) {
  Table table({title, "files", "lines", "KiB"});
  for (const Json& file : files) {
    table.Add({MarkdownCell(file["name"].get<std::string>()), Count(file["files"]),
               Count(file["lines"]), Count((file["size_bytes"].get<int64_t>() + 1023) / 1024)});
  }
  return table.text();
}

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
