#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/spdx/expression.h"
#include "common/text/safe_text.h"
#include "common/words/counted.h"
#include "dataset/card/card.h"
#include "dataset/output/dataset_files.h"
#include "dataset/rows/row_schema.h"

// README.md of an export: the front matter in YAML, which the Hugging Face Hub and `datasets` read
// (configs, splits, features, licences), and sections for people. Both are made from report.json
// and the list of tables alone, so that they agree with these. Texts of others go through Cell, so
// that a name cannot break out of its cell or add HTML.
namespace kernelmill::dataset {
namespace {

// The Hub's names of licences, which are SPDX's in small letters without -only and -or-later.
constexpr absl::string_view kHubLicenses[] = {"afl-3.0",      "agpl-3.0",      "apache-2.0",
                                              "artistic-2.0", "blueoak-1.0.0", "bsd-2-clause",
                                              "bsd-3-clause", "bsl-1.0",       "bsd-3-clause-clear",
                                              "cc-by-4.0",    "cc-by-sa-4.0",  "cc0-1.0",
                                              "ecl-2.0",      "epl-1.0",       "epl-2.0",
                                              "eupl-1.1",     "eupl-1.2",      "gpl-2.0",
                                              "gpl-3.0",      "isc",           "lgpl-2.1",
                                              "lgpl-3.0",     "lppl-1.3c",     "mit",
                                              "mpl-2.0",      "ms-pl",         "ncsa",
                                              "ofl-1.1",      "osl-3.0",       "postgresql",
                                              "unlicense",    "wtfpl",         "zlib"};

// Returns "other" for a licence that the Hub does not name.
std::string HubLicense(const spdx::LicenseTerm& term) {
  const std::string id = absl::AsciiStrToLower(term.id);
  const absl::string_view base = absl::StripSuffix(absl::StripSuffix(id, "-only"), "-or-later");
  const bool known =
      std::find(std::begin(kHubLicenses), std::end(kHubLicenses), base) != std::end(kHubLicenses);
  return std::string(known ? base : "other");
}

const char* TypeName(Field::Type type) {
  switch (type) {
    case Field::Type::kString:
      return "string";
    case Field::Type::kInteger:
      return "int64";
    case Field::Type::kNumber:
      return "float64";
    case Field::Type::kBoolean:
      return "bool";
    case Field::Type::kStruct:
      break;
  }
  return "";
}

// As `datasets` writes features in YAML.
void AppendFeatures(const Fields& fields, const std::string& indent, std::string* out) {
  for (const Field& field : fields) {
    absl::StrAppend(out, indent, "- name: ", field.name, "\n");
    if (field.type == Field::Type::kStruct) {
      absl::StrAppend(out, indent, "  ", field.list ? "list" : "struct", ":\n");
      AppendFeatures(field.fields, indent + "  ", out);
    } else {
      absl::StrAppend(out, indent, "  ", field.list ? "list" : "dtype", ": ", TypeName(field.type),
                      "\n");
    }
  }
}

// Every table is of a schema, so the search always finds one.
const Fields& GetFields(const Table& table) {
  const std::vector<RowSchema>& schemas = RowSchemas();
  return std::find_if(schemas.begin(), schemas.end(),
                      [&table](const RowSchema& schema) { return schema.file == table.lines.path; })
      ->fields;
}

// Appends which files are which split of the config.
void AppendConfig(const Table& table, bool is_default, std::string* out) {
  absl::StrAppend(out, "- config_name: ", table.config, "\n", is_default ? "  default: true\n" : "",
                  "  data_files:\n");
  for (const SplitFiles& split : table.splits) {
    absl::StrAppend(out, "  - split: ", split.split, "\n    path: ", kTablesFolder, "/",
                    table.config, "/", split.split, "-*.parquet\n");
  }
}

// Appends the features and sizes of the config, by which `datasets` knows them without reading
// files.
void AppendInfo(const Table& table, std::string* out) {
  absl::StrAppend(out, "- config_name: ", table.config, "\n  features:\n");
  AppendFeatures(GetFields(table), "  ", out);
  absl::StrAppend(out, "  splits:\n");
  int64_t bytes = 0, file_bytes = 0;
  for (const SplitFiles& split : table.splits) {
    absl::StrAppend(out, "  - name: ", split.split, "\n    num_bytes: ", split.json_bytes,
                    "\n    num_examples: ", split.rows, "\n");
    bytes += split.json_bytes;
    for (const WrittenFile& file : split.files) file_bytes += file.size;
  }
  absl::StrAppend(out, "  download_size: ", file_bytes, "\n  dataset_size: ", bytes, "\n");
}

}  // namespace

// An expression counts with all its licences, since the Hub has no form for AND and OR.
std::set<std::string> HubLicenses(const Json& report) {
  std::set<std::string> names;
  for (const auto& [text, count] : report.at("licenses").items()) {
    const absl::StatusOr<spdx::SpdxExpression> expression = spdx::SpdxExpression::Parse(text);
    if (!expression.ok()) {
      names.insert(text == spdx::kNoAssertion ? "unknown" : "other");
      continue;
    }
    for (const spdx::LicenseTerm& term : expression->Terms()) names.insert(HubLicense(term));
  }
  return names;
}

// The Hub's names of sizes.
std::string SizeCategory(int64_t rows) {
  constexpr absl::string_view kLimits[] = {"1K", "10K", "100K", "1M", "10M", "100M", "1B"};
  int64_t limit = 1000;
  if (rows < limit) return "n<1K";
  for (size_t i = 1; i < std::size(kLimits); ++i) {
    limit *= 10;
    if (rows < limit) return absl::StrCat(kLimits[i - 1], "<n<", kLimits[i]);
  }
  return "n>1B";
}

// A table without rows is no config. The first one that has some is the default.
std::string FrontMatter(const Json& report, const std::vector<Table>& tables) {
  // A string of JSON is one of YAML.
  std::string head = absl::StrCat("---\npretty_name: ", Canonical(report.at("name")), "\n");
  const std::set<std::string> licenses = HubLicenses(report);
  if (!licenses.empty()) absl::StrAppend(&head, "license:\n");
  for (const std::string& license : licenses) absl::StrAppend(&head, "- ", license, "\n");
  if (licenses.contains("other")) {
    absl::StrAppend(&head, "license_name: by-row\nlicense_link: ", kNoticesFile, "\n");
  }
  absl::StrAppend(&head, "task_categories:\n- text-generation\ntags:\n- code\n- gpu-kernels\n",
                  "size_categories:\n- ", SizeCategory(report.at("kernels").at("kept")), "\n");
  std::string configs, infos;
  for (const Table& table : tables) {
    if (table.rows == 0) continue;
    AppendConfig(table, configs.empty(), &configs);
    AppendInfo(table, &infos);
  }
  if (!configs.empty()) absl::StrAppend(&head, "configs:\n", configs, "dataset_info:\n", infos);
  return absl::StrCat(head, "---\n");
}
namespace {

constexpr size_t kMostSources = 100;  // in the table; report.json has all

// Text that somebody else chose, in a cell of a table.
std::string Cell(absl::string_view text) {
  return absl::StrReplaceAll(SafeLine(absl::StrReplaceAll(text, {{"\n", " "}, {"\r", " "}})),
                             {{"|", "\\|"},
                              {"`", "'"},
                              {"<", "&lt;"},
                              {"[", "\\["},
                              {"://", "&#58;//"},
                              {"www.", "www&#46;"},
                              {"@", "&#64;"}});
}
// Returns the cell of a text as code, whose characters are shown as they are; empty for null.
std::string CodeCell(const Json& text) {
  if (!text.is_string()) return "";
  return absl::StrCat(
      "`",
      absl::StrReplaceAll(SafeLine(absl::StrReplaceAll(text.get_ref<const std::string&>(),
                                                       {{"\n", " "}, {"\r", " "}})),
                          {{"|", "\\|"}, {"`", "'"}}),
      "`");
}
// Returns the cell of a string of a report; empty for null.
std::string JsonCell(const Json& text) {
  return text.is_string() ? Cell(text.get_ref<const std::string&>()) : "";
}

// Cells must not have a bare | or a newline; Cell and JsonCell see to that.
std::string Row(const std::vector<std::string>& cells) {
  return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
}
// A table's head is a row and the line below it, which Markdown needs.
std::string Head(const std::vector<std::string>& cells) {
  std::string row = Row(cells);
  for (size_t i = 0; i < cells.size(); ++i) absl::StrAppend(&row, "|---");
  return absl::StrCat(row, "|\n");
}

// Joins a list of words, each as code.
std::string Words(const Json& list) {
  std::vector<std::string> words;
  for (const Json& word : list) words.push_back(absl::StrCat("`", JsonCell(word), "`"));
  return absl::StrJoin(words, ", ");
}

int64_t Number(const Json& object, const char* key) { return object.at(key).get<int64_t>(); }

// Counts candidates only: holdouts give no rows, and failed sources gave none.
std::string Introduction(const Json& report) {
  int64_t sources = 0;
  for (const Json& source : report.at("sources")) {
    sources += source.at("role") == "candidate" && !source.at("failed");
  }
  return absl::StrCat(
      "# ", JsonCell(report.at("name")), "\n\n",
      Counted(Number(report.at("kernels"), "kept"), "GPU kernel"), " of ",
      Counted(sources, "source"),
      ", made by kernelmill. Each has its repository, commit, path and lines, its text and a "
      "module\nwith what it needs (`self_contained` says whether all of it), its licence with what "
      "says so, and what checks and measures\nsay of it.\n\n");
}

// Makes the table of configs with their rows by split.
std::string Rows(const std::vector<Table>& tables) {
  std::string text = "## Rows\n\n" + Head({"config", "train", "validation", "test", "rows"});
  for (const Table& table : tables) {
    // Columns for all three splits, also those that the table does not have.
    std::array<int64_t, 3> rows = {};
    for (const SplitFiles& split : table.splits) {
      rows[split.split == "train" ? 0 : split.split == "validation" ? 1 : 2] = split.rows;
    }
    const auto schema =
        std::find_if(RowSchemas().begin(), RowSchemas().end(),
                     [&table](const RowSchema& schema) { return schema.file == table.lines.path; });
    absl::StrAppend(&text,
                    Row({absl::StrCat("`", table.config, "`"), absl::StrCat(rows[0]),
                         absl::StrCat(rows[1]), absl::StrCat(rows[2]), schema->description}));
  }
  return absl::StrCat(
      text, "\nAs Parquet in `", kTablesFolder,
      "/`, by config and split; an export has the same rows as JSON lines, too, except of a config "
      "without\nrows. A row's `split` says which it is of. A null means that a field does not "
      "apply or that nothing is "
      "known.\n\n");
}

// Shows the eight most frequent reasons of each fate.
std::string Fates(const Json& kernels) {
  std::string text = "## What became of each kernel\n\n" + Head({"fate", "kernels", "why"});
  for (const char* const fate : {"kept", "rejected", "duplicate", "contaminated"}) {
    // The reasons that count most, in words.
    std::vector<std::pair<int64_t, std::string>> reasons;
    if (kernels.at("by_reason").contains(fate)) {
      for (const auto& [reason, count] : kernels.at("by_reason").at(fate).items()) {
        // Negative, so that sorting puts the largest first and equal ones by name.
        reasons.emplace_back(-count.get<int64_t>(), Cell(reason));
      }
    }
    std::sort(reasons.begin(), reasons.end());
    std::vector<std::string> shown;
    for (const auto& [count, reason] : reasons) {
      if (shown.size() == 8) break;
      shown.push_back(absl::StrCat("`", reason, "` ", -count));
    }
    if (reasons.size() > shown.size()) shown.push_back("and others");
    absl::StrAppend(&text,
                    Row({fate, absl::StrCat(Number(kernels, fate)), absl::StrJoin(shown, ", ")}));
  }
  return absl::StrCat(text, Row({"**found**", absl::StrCat(Number(kernels, "found")), ""}),
                      "\n`ledger.jsonl` has each of them with its fate and the reason, "
                      "`report.json` the sums by source and category.\n\n");
}

constexpr size_t kMostUnmatched = 50;  // rows of the card

// Lists what the job asks for and what matches nothing; empty if everything matches.
std::string NotMatched(const Json& report) {
  const Json& unmatched = report.at("unmatched");
  if (unmatched.empty()) return "";
  std::string text = "## Differences between the job and its sources\n\n" +
                     Head({"in the job", "source", "asked for", "found"});
  size_t rows = 0;
  for (const Json& one : unmatched) {
    if (rows++ == kMostUnmatched) break;
    std::string message = JsonCell(one.at("message"));
    const char* separator = ": ";
    for (const Json& path : one.at("paths")) {
      absl::StrAppend(&message, std::exchange(separator, ", "), CodeCell(path));
    }
    absl::StrAppend(&text, Row({CodeCell(one.at("where")), JsonCell(one.at("source")),
                                CodeCell(one.at("asked")), message}));
  }
  if (unmatched.size() > kMostUnmatched) {
    absl::StrAppend(&text, "\n`report.json` has ", unmatched.size() - kMostUnmatched, " more.\n");
  }
  return text + "\n";
}

// Names the policy, then counts the kept kernels by expression.
std::string Licenses(const Json& report) {
  const Json& policies = report.at("policies");
  std::string text = absl::StrCat(
      "## Licences\n\nThe job takes code under ", Words(policies.at("licenses")),
      ". Of an expression, enough of these must hold. Code that says that it was\nadapted from "
      "elsewhere is ",
      policies.at("licenses_adapted") == "reject" ? "rejected" : "kept, and its record says so",
      ".\n\n", Head({"licence", "kernels"}));
  for (const auto& [expression, count] : report.at("licenses").items()) {
    absl::StrAppend(&text, Row({Cell(expression), absl::StrCat(count.get<int64_t>())}));
  }
  return absl::StrCat(text,
                      "\nEach record has its `license` with the evidence. `notices.jsonl` has the "
                      "licence and NOTICE texts that must go along with\nthe kernels.\n\n");
}

// Holdouts are named in the section about decontamination instead.
std::string Sources(const Json& sources) {
  std::string text = Head({"source", "commit", "kernels kept"});
  size_t shown = 0;
  for (const Json& source : sources) {
    if (source.at("role") != "candidate") continue;
    if (++shown > kMostSources) break;
    const std::string kept = source.at("failed")
                                 ? std::string("could not be had")
                                 : absl::StrCat(Number(source.at("kernels"), "kept"));
    absl::StrAppend(&text,
                    Row({JsonCell(source.at("repository")), JsonCell(source.at("commit")), kept}));
  }
  if (shown > kMostSources) absl::StrAppend(&text, "\n`report.json` has the others.\n");
  return absl::StrCat(text, "\n");
}

// Names the stages with their versions and the lock file, which together determine the dataset.
std::string Making(const Json& report) {
  std::vector<std::string> stages;
  for (const auto& [stage, version] : report.at("stages").items()) {
    stages.push_back(absl::StrCat(stage, " ", version.get<int64_t>()));
  }
  return absl::StrCat(
      "## How it was made\n\nEvery stage is a function of its inputs alone: kernels were found by "
      "reading the sources, none was run. Stages, with their\nversions: ",
      absl::StrJoin(stages, ", "), ".\n\nThe dataset is `", JsonCell(report.at("dataset")),
      "`. The lock file makes it again, byte for byte:\n\n```sh\nkernelmill crawl ", kLockFile,
      " --out DIR --data DATA\n```\n\n", Sources(report.at("sources")));
}

// Says what the dataset was compared with, by which bounds, and what came of it. Without holdouts
// it says that nothing was compared.
std::string Decontamination(const Json& report) {
  std::vector<std::string> holdouts;
  for (const Json& source : report.at("sources")) {
    if (source.at("role") == "holdout") {
      const int64_t failed = Number(source.at("files"), "failed");
      holdouts.push_back(absl::StrCat(
          "`", JsonCell(source.at("repository")), "` (",
          Counted(Number(source.at("kernels"), "holdout"), "kernel"),
          failed == 0 ? "" : absl::StrCat("; ", Counted(failed, "file"), " could not be read"),
          ")"));
    }
  }
  if (holdouts.empty()) {
    return "## Decontamination\n\nThe job names no holdouts. The dataset was not held against any "
           "benchmark.\n\n";
  }
  const Json& policy = report.at("policies").at("contamination");
  const Json& found = report.at("contamination");
  return absl::StrCat(
      "## Decontamination\n\nHeld out: ", absl::StrJoin(holdouts, ", "),
      ". Every text of a kernel (source, module, launcher) was\nheld against theirs. A kernel "
      "matches from a Jaccard similarity of 5-token shingles of ",
      Canonical(policy.at("threshold")), " on, of ", Canonical(policy.at("structural")),
      " once\nlocal names, strings and numbers are folded, or where ",
      Canonical(policy.at("overlap")),
      " of the runs of 13 tokens of either text are in the other.\n\n",
      policy.at("action") == "drop" ? "Matching kernels were dropped: "
                                    : "Matching kernels are labelled; dropped: ",
      Number(report.at("kernels"), "contaminated"),
      ". Kept with a match that their record names: ", Number(found, "kept"), "; of ",
      Number(found, "launchers_withheld"), " the\nlauncher's text alone matched and is left out. ",
      found.at("items").size(), " holdout kernels were matched; `report.json` names them.\n\n");
}

constexpr char kLimits[] =
    R"( Tags, roles, tiers and checks are found by reading; each has the rule that gave it.
- Licences are found, not advised upon: `license.confidence` and `license.found` say how surely.
- Near-duplicates below the thresholds of the job stay, and so does what no holdout of the job shows.
- Secrets and e-mail addresses are found by pattern; the job's policies say what was done with them.

)";

// Returns the section about compilers, if the job asks them.
std::string Compilers(const Json& report) {
  const Json& compile = report.at("compile");
  if (compile.is_null()) return "";
  std::string text = absl::StrCat(
      "## Compilers\n\nEach kernel that stands alone was compiled, without a GPU and never run, "
      "with types and "
      "values inferred from what its record\nsays; `compile` has them, with the rule that gave "
      "each. Of the kept "
      "kernels ",
      Number(compile, "compiles"), " compile, ", Number(compile, "fails"), " are refused, and of ",
      Number(compile, "unknown"), " it\ncould not be told what they are called with.\n\n",
      Head({"compiler", "target", "ok", "error", "unknown"}));
  for (const Json& target : compile.at("targets")) {
    absl::StrAppend(&text,
                    Row({JsonCell(target.at("toolchain")), JsonCell(target.at("target")),
                         absl::StrCat(Number(target, "ok")), absl::StrCat(Number(target, "error")),
                         absl::StrCat(Number(target, "unknown"))}));
  }
  std::vector<std::string> untried;
  for (const Json& reason : compile.at("not_attempted")) {
    untried.push_back(
        absl::StrCat("`", JsonCell(reason.at("name")), "` ", Number(reason, "count")));
  }
  if (untried.empty()) return text + "\n";
  return absl::StrCat(text, "\nNot tried: ", absl::StrJoin(untried, ", "), ".\n\n");
}

// Returns the section about tasks, if the job has evidence.
std::string Tasks(const Json& report) {
  const Json& evidence = report.at("evidence");
  if (evidence.is_null()) return "";
  return absl::StrCat(
      "## Tasks\n\nThe job names evidence of what kernels do when they are run. `tasks.jsonl` has ",
      Counted(Number(evidence, "tasks"), "kernel"), " with replayed cases; ",
      Number(evidence, "verified"),
      " are verified: no replay\ndiffers, and the cases catch at least ",
      Canonical(report.at("policies").at("min_adequacy")), " of the mutants.\n\n");
}

// Returns "fix 7, speed 4", the names sorted.
std::string CountList(const Json& counts) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : counts.items()) {
    texts.push_back(absl::StrCat(name, " ", count.get<int64_t>()));
  }
  return absl::StrJoin(texts, ", ");
}

// Returns how compilers judged both sides of changes, if the job asks them.
std::string Turns(const Json& history) {
  const Json& compile = history.at("compile");
  if (compile.is_null()) return "";
  const std::string repairs = CountList(compile.at("repairs"));
  const std::string breaks = CountList(compile.at("breaks"));
  return absl::StrCat(
      "A compiler judged both sides of ", Counted(Number(compile, "judged"), "change"),
      ".\nRepairs, refused before and compiled after: ", repairs.empty() ? "none" : repairs,
      ". The reverse: ", breaks.empty() ? "none" : breaks, ".\n");
}

// Returns the section about changes of kernels, if a source has a history.
std::string History(const Json& report) {
  const Json& history = report.at("history");
  if (history.is_null()) return "";
  const std::string withheld = CountList(history.at("withheld"));
  return absl::StrCat("## History\n\nCommits make ", Counted(Number(history, "changes"), "change"),
                      " of ", Counted(Number(history, "kernels"), "kernel"),
                      Number(history, "rows") > 0
                          ? absl::StrCat("; `history.jsonl` has ", Number(history, "rows"), ": ",
                                         CountList(history.at("kinds")))
                          : "; there is no `history.jsonl`",
                      ". Withheld: ", withheld.empty() ? "none" : withheld,
                      ".\nKinds and claims are what messages of commits say; nothing was "
                      "measured.\n",
                      Turns(history), "\n");
}

// Says what the dataset does not promise; that differs with compilers.
std::string Limits(const Json& report) {
  const bool compiled = !report.at("compile").is_null();
  return absl::StrCat("## Limits\n\n- ",
                      compiled ? "No kernel was run. That one compiles does not say that it "
                                 "computes what it should."
                               : "Nothing was compiled or run.",
                      kLimits);
}

constexpr char kLoading[] = R"(## Loading

```python
import datasets

kernels = datasets.load_dataset("PATH OR NAME OF THIS FOLDER", "kernels", split="train")
```

Parquet readers take `data/CONFIG/*.parquet`, `croissant.json` describes the same files for Croissant.
)";

}  // namespace

std::string DatasetCard(const Json& report, const std::vector<Table>& tables) {
  return absl::StrCat(FrontMatter(report, tables), "\n", Introduction(report), Rows(tables),
                      Fates(report.at("kernels")), NotMatched(report), Licenses(report),
                      Making(report), Decontamination(report), Compilers(report), History(report),
                      Tasks(report), Limits(report), kLoading);
}

// A file without rows is not written, and LLaMA-Factory would look for it in vain.
Json DatasetInfo(const Json& report) {
  Json info = {
      {"kernelmill_instruct",
       {{"file_name", kInstructFile},
        {"formatting", "sharegpt"},
        {"columns", {{"messages", "messages"}}},
        {"tags",
         {{"role_tag", "role"},
          {"content_tag", "content"},
          {"user_tag", "user"},
          {"assistant_tag", "assistant"},
          {"system_tag", "system"}}}}},
      {"kernelmill_complete",
       {{"file_name", kFimRowsFile},
        {"columns", {{"prompt", "prompt"}, {"response", "completion"}}}}},
      {"kernelmill_kernels", {{"file_name", kKernelsFile}, {"columns", {{"prompt", "module"}}}}}};
  const Json& rows = report.at("rows");
  Json written = Json::object();
  for (const auto& [name, entry] : info.items()) {
    const auto file = entry.at("file_name").get<std::string>();
    const std::string config(absl::StripSuffix(file, ".jsonl"));
    if (rows.value(config, int64_t{0}) > 0) written[name] = entry;
  }
  return written;
}

}  // namespace kernelmill::dataset
