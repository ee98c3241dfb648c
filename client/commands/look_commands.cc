// The commands that look into a dataset: `show` one kernel, the first ones (`head`), counts
// (`stats`), or what is not in it, does not compile or is no verified task (`rejected`). They read
// the folder of an export, one row at a time.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "common/base/status.h"
#include "dataset/rows/row_json.h"
#include "dataset/rows/row_reader.h"
#include "dataset/rows/row_schema.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client {
namespace {

constexpr size_t kLeastIdDigits = 4;
constexpr size_t kMostListed = 20;  // kernels that a name could mean
constexpr size_t kValues = 12;      // of each count

template <typename Row>
std::string Place(const Row& row) {
  return absl::StrCat(OneLine(row.repository()), " ", PathText(row.path(), row), ":",
                      row.first_line(), "-", row.last_line());
}

std::string HeadLine(const v1::KernelRow& row) {
  return absl::StrFormat("%s  %-32s  %-7s %-14s %5d tokens  %.2f  %s\n", row.id().substr(0, 8),
                         CutTo(OneLine(row.qualname()), 32), row.dsl(),
                         CutTo(OneLine(row.license().expression()), 14), row.tokens().cl100k_base(),
                         row.quality().score(), Place(row));
}

std::string Fact(absl::string_view name, absl::string_view value) {
  return value.empty() ? "" : absl::StrFormat("%-12s %s\n", name, value);
}

std::string Texts(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return absl::StrJoin(texts, ", ", [](std::string* out, const std::string& text) {
    absl::StrAppend(out, OneLine(text));
  });
}

// Returns the facts of a kernel, a line each, and below them its module or source.
std::string KernelText(const v1::KernelRow& row, bool source) {
  const std::string launcher =
      row.has_launcher()
          ? absl::StrCat(OneLine(row.launcher().qualname()), " in ", OneLine(row.launcher().path()),
                         ":", row.launcher().first_line())
          : "";
  const bool whole = !source && !row.module().empty();
  return absl::StrCat(
      Fact("kernel", OneLine(row.qualname())), Fact("id", row.id()), Fact("place", Place(row)),
      Fact("commit", row.commit()), Fact("url", OneLine(row.url())), Fact("language", row.dsl()),
      Fact("kind", row.kind()), Fact("target", row.target()),
      Fact("licence", absl::StrCat(OneLine(row.license().expression()), ", by ",
                                   OneLine(row.license().evidence()))),
      Fact("operations", Texts(row.tags())), Fact("features", Texts(row.features())),
      Fact("launched by", launcher), Fact("split", row.split()),
      Fact("score", absl::StrFormat("%.2f of 1", row.quality().score())), "\n",
      whole ? "# The module: the kernel with its imports, constants and helpers.\n" : "",
      whole ? row.module() : row.source());
}

// Counts values, and prints the most frequent ones.
class Counts {
 public:
  void Add(const std::string& value) { ++counts_[value.empty() ? "none" : value]; }

  std::string Text(absl::string_view title) const {
    std::vector<std::pair<int64_t, std::string>> order;
    for (const auto& [value, count] : counts_) order.emplace_back(-count, value);
    std::sort(order.begin(), order.end());
    std::string text = absl::StrCat(title, "\n");
    for (size_t i = 0; i < std::min(kValues, order.size()); ++i) {
      absl::StrAppendFormat(&text, "  %8d  %s\n", -order[i].first, OneLine(order[i].second));
    }
    if (order.size() > kValues) {
      absl::StrAppend(&text, "            and ", order.size() - kValues, " more\n");
    }
    return text;
  }

  nlohmann::ordered_json Json() const {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [value, count] : counts_) json[OneLine(value)] = count;
    return json;
  }

 private:
  std::map<std::string, int64_t> counts_;
};

// Returns whether the kernel is the one that a person means: by the beginning of its id, or by its
// name.
template <typename Row>
bool IsMeant(const Row& row, const std::string& what) {
  return (what.size() >= kLeastIdDigits && absl::StartsWith(row.id(), what)) ||
         row.qualname() == what || row.name() == what;
}

// Prints a kernel: with --json the row as kernels.jsonl has it.
void ShowRow(const v1::KernelRow& row, absl::string_view text, Console& console) {
  if (!console.json()) return console.Result(text);
  std::string line;
  dataset::AppendRowJson(dataset::GetSchema<v1::KernelRow>(), row, &line);
  console.Result(line + "\n");
}

// The reason of a kept kernel that does not compile, beside those of the ledger.
constexpr char kDoesNotCompile[] = "compiles";

// The reason of a kept kernel with evidence that is no verified task, likewise; `task` of the
// ledger says why.
constexpr char kUnverified[] = "unverified";

bool IsUnverified(const v1::LedgerRow& row) {
  return !row.task().empty() && row.task() != "verified";
}

// Returns whether a person who asked for `word` wants this one.
bool IsAskedFor(absl::string_view word, absl::string_view fate, absl::string_view reason) {
  if (word.empty() || word == fate) return true;
  const std::vector<absl::string_view> parts = absl::StrSplit(reason, ':');
  return word == reason || absl::c_linear_search(parts, word);
}

template <typename Row>
nlohmann::ordered_json RejectedJson(const Row& row, absl::string_view fate,
                                    absl::string_view reason) {
  return {{"id", row.id()},
          {"repository", row.repository()},
          {"path", row.path()},
          {"first_line", row.first_line()},
          {"last_line", row.last_line()},
          {"qualname", row.qualname()},
          {"fate", fate},
          {"reason", reason}};
}

template <typename Row>
std::string RejectedText(const Row& row, absl::string_view fate, absl::string_view why) {
  const std::string name = row.qualname().empty() ? "(whole file)" : OneLine(row.qualname());
  return absl::StrFormat("%s  %-32s  %-12s  %s  %s\n", row.id().substr(0, 8), CutTo(name, 32), fate,
                         why, Place(row));
}

void PrintRejected(const v1::LedgerRow& row, Console& console) {
  if (console.json()) {
    nlohmann::ordered_json json = RejectedJson(row, row.fate(), row.reason());
    json["of"] = row.of().empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(row.of());
    json["errors"] = nlohmann::ordered_json::array();
    return console.Result(JsonLine("rejected", json));
  }
  std::string why = OneLine(row.reason());
  if (!row.of().empty()) {
    absl::StrAppend(&why, " of ", row.of().substr(0, 8));
    if (row.has_similarity()) absl::StrAppendFormat(&why, " (%.2f)", row.similarity());
  }
  console.Result(RejectedText(row, row.fate(), why));
}

void PrintUnverified(const v1::LedgerRow& row, Console& console) {
  if (!console.json()) return console.Result(RejectedText(row, kUnverified, row.task()));
  nlohmann::ordered_json json =
      RejectedJson(row, row.fate(), absl::StrCat(kUnverified, ":", row.task()));
  json["of"] = nullptr;
  json["errors"] = nlohmann::ordered_json::array();
  console.Result(JsonLine("rejected", json));
}

void PrintNotCompiled(const v1::KernelRow& row, Console& console) {
  nlohmann::ordered_json errors = nlohmann::ordered_json::array();
  std::string why;
  for (const v1::KernelRow::Compile::Result& result : row.compile().results()) {
    if (result.status() != v1::COMPILE_STATUS_ERROR) continue;
    errors.push_back({{"toolchain", result.toolchain()},
                      {"target", result.target()},
                      {"stage", result.stage()},
                      {"message", result.message()},
                      {"line", result.line()}});
    // One error is enough on a line; JSON has all.
    if (!why.empty()) continue;
    why = OneLine(absl::StrCat(result.toolchain(), ", ", result.target(), ", ", result.stage(),
                               ": ", result.message()));
  }
  if (!console.json()) return console.Result(RejectedText(row, "no compile", CutTo(why, 100)));
  nlohmann::ordered_json json = RejectedJson(row, "kept", kDoesNotCompile);
  json["of"] = nullptr;
  json["errors"] = std::move(errors);
  console.Result(JsonLine("rejected", json));
}

// Names of kernels that contain a text, for a person who knows a part of one: the shortest few.
class NamesWith {
 public:
  explicit NamesWith(absl::string_view text) : text_(absl::AsciiStrToLower(text)) {}

  void Add(absl::string_view name) {
    constexpr size_t kNames = 5;
    if (!absl::StrContains(absl::AsciiStrToLower(name), text_)) return;
    names_.insert({name.size(), std::string(name)});
    if (names_.size() > kNames) names_.erase(std::prev(names_.end()));
  }

  // Returns "; names with it: a_kernel, b_kernel", or nothing.
  std::string Hint() const {
    return names_.empty()
               ? ""
               : absl::StrCat("; names with it: ",
                              absl::StrJoin(names_, ", ", [](auto* out, const auto& name) {
                                out->append(OneLine(name.second));
                              }));
  }

 private:
  const std::string text_;
  std::set<std::pair<size_t, std::string>> names_;  // by length
};

// Explains what became of a kernel that is not in the dataset.
absl::Status ExplainMissing(const std::string& dataset, const std::string& what,
                            const std::string& hint) {
  std::string fate;
  const absl::Status read = dataset::ForEachRow<v1::LedgerRow>(
      dataset, {}, [&](const v1::LedgerRow& row, const dataset::RowPlace&) {
        if (IsMeant(row, what) && fate.empty()) {
          fate = absl::StrCat("; the ledger has ", row.id(), ": ", row.fate(),
                              row.reason().empty() ? "" : absl::StrCat(", ", row.reason()));
        }
        return absl::OkStatus();
      });
  return absl::NotFoundError(absl::StrCat(dataset, ": no kernel has the id or the name ",
                                          OneLine(what), read.ok() && !fate.empty() ? fate : hint));
}

}  // namespace

absl::StatusOr<int> Show(const ShowOptions& options, Console& console) {
  std::vector<v1::KernelRow> found;
  size_t count = 0;
  NamesWith names(options.what);
  RETURN_IF_ERROR(dataset::ForEachRow<v1::KernelRow>(
      options.dataset, {}, [&](const v1::KernelRow& row, const dataset::RowPlace&) {
        names.Add(row.name());
        if (IsMeant(row, options.what) && ++count <= kMostListed) found.push_back(row);
        return absl::OkStatus();
      }));
  if (found.empty()) return ExplainMissing(options.dataset, options.what, names.Hint());
  if (count == 1) {
    ShowRow(found[0], KernelText(found[0], options.source), console);
    return kDone;
  }
  for (const v1::KernelRow& row : found) {
    ShowRow(row, HeadLine(row), console);
  }
  console.Note(absl::StrCat(count, " kernels have this name or beginning of an id",
                            count > found.size() ? ", the first are listed" : "",
                            ": show one by more of its id"));
  return kDone;
}

absl::StatusOr<int> Head(const HeadOptions& options, Console& console) {
  int64_t shown = 0;
  const absl::Status status = dataset::ForEachRow<v1::KernelRow>(
      options.dataset, {}, [&](const v1::KernelRow& row, const dataset::RowPlace&) {
        if (shown++ == options.count) return absl::CancelledError();
        ShowRow(row, HeadLine(row), console);
        return absl::OkStatus();
      });
  if (!absl::IsCancelled(status)) RETURN_IF_ERROR(status);
  return kDone;
}

absl::StatusOr<int> Rejected(const RejectedOptions& options, Console& console) {
  std::map<std::string, int64_t> counts;
  RETURN_IF_ERROR(dataset::ForEachRow<v1::LedgerRow>(
      options.dataset, {}, [&](const v1::LedgerRow& row, const dataset::RowPlace&) {
        if (IsUnverified(row) && IsAskedFor(options.reason, kUnverified, row.task())) {
          ++counts["kept, but not verified as a task"];
          PrintUnverified(row, console);
        }
        if (row.fate() == "kept" || !IsAskedFor(options.reason, row.fate(), row.reason())) {
          return absl::OkStatus();
        }
        ++counts[row.fate()];
        PrintRejected(row, console);
        return absl::OkStatus();
      }));
  if (IsAskedFor(options.reason, kDoesNotCompile, kDoesNotCompile)) {
    RETURN_IF_ERROR(dataset::ForEachRow<v1::KernelRow>(
        options.dataset, {}, [&](const v1::KernelRow& row, const dataset::RowPlace&) {
          if (row.checks().compiles() != v1::RuleResult::OUTCOME_FAIL) return absl::OkStatus();
          ++counts["kept, but not compiled"];
          PrintNotCompiled(row, console);
          return absl::OkStatus();
        }));
  }
  std::string text;
  for (const auto& [fate, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", fate);
  }
  console.Note(text.empty() ? "nothing" : text);
  return kDone;
}

absl::StatusOr<int> Stats(const std::string& folder, Console& console) {
  Counts languages, kinds, targets, operations, licenses, splits, repositories;
  int64_t kernels = 0, tokens = 0, self_contained = 0;
  RETURN_IF_ERROR(dataset::ForEachRow<v1::KernelRow>(
      folder, {}, [&](const v1::KernelRow& row, const dataset::RowPlace&) {
        ++kernels;
        tokens += row.module_tokens().cl100k_base();
        self_contained += row.self_contained() ? 1 : 0;
        languages.Add(row.dsl());
        kinds.Add(row.kind());
        targets.Add(row.target());
        licenses.Add(row.license().expression());
        splits.Add(row.split());
        repositories.Add(row.repository());
        for (const std::string& tag : row.tags()) operations.Add(tag);
        return absl::OkStatus();
      }));
  const std::vector<std::pair<const char*, const Counts*>> all = {
      {"languages", &languages},      {"kinds", &kinds},       {"targets", &targets},
      {"operations", &operations},    {"licences", &licenses}, {"splits", &splits},
      {"repositories", &repositories}};
  if (console.json()) {
    nlohmann::ordered_json json = {
        {"kernels", kernels}, {"module_tokens", tokens}, {"self_contained", self_contained}};
    for (const auto& [name, counts] : all) json[name] = counts->Json();
    console.Result(JsonLine("stats", json));
    return kDone;
  }
  console.Result(absl::StrCat("kernels         ", kernels, "\nself-contained  ", self_contained,
                              "\nmodule tokens   ", tokens, " (cl100k_base)\n"));
  for (const auto& [name, counts] : all) console.Result(counts->Text(name));
  return kDone;
}

}  // namespace kernelmill::client
