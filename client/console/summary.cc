// The end of a job. A summary is short: reasons, problems and stages are listed from the largest on
// and cut, and a line says where the rest is. A report (output.cc) has all of them.

#include "client/console/summary.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/job_facts.h"
#include "client/console/json.h"
#include "client/console/output.h"
#include "client/console/timeline.h"
#include "common/cas/digest.h"
#include "common/words/counted.h"

namespace kernelmill::client {
namespace {

using Lines = std::vector<LabelledLine>;
using Json = nlohmann::ordered_json;
using Counts = std::vector<std::pair<std::string, int64_t>>;

constexpr size_t kMostProblems = 6;  // for each kind
constexpr size_t kMostReasons = 6;
constexpr size_t kMostStages = 5;
constexpr absl::Duration kLongWait = absl::Seconds(1);  // between the attempts at a task
constexpr const char* kFates[] = {"kept", "rejected", "duplicate", "contaminated"};

void Append(Lines more, Lines* lines) {
  for (LabelledLine& line : more) lines->push_back(std::move(line));
}

// Returns "license 5, quality 2, 3 others 4".
std::string CountList(const Counts& counts) {
  std::vector<std::string> texts;
  int64_t others = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i < kMostReasons) {
      texts.push_back(absl::StrCat(OneLine(counts[i].first), " ", counts[i].second));
    } else {
      others += counts[i].second;
    }
  }
  if (others > 0) {
    texts.push_back(absl::StrCat(
        Counted(static_cast<int64_t>(counts.size() - kMostReasons), "other"), " ", others));
  }
  return absl::StrJoin(texts, ", ");
}

// Returns "10 found = 4 kept + 3 rejected + ...", the sums of kernels or of whole files.
std::string FatesText(const JobCounters& counters, const std::string& found,
                      const std::string& prefix) {
  std::string text = absl::StrCat(counters.Sum(found), " found = ");
  for (const char* fate : kFates) {
    absl::StrAppend(&text, fate == kFates[0] ? "" : " + ", counters.Sum(prefix + fate), " ", fate);
  }
  return text;
}

// Returns the languages of the kept kernels, and the number of sources that have some.
std::string KeptText(const JobCounters& counters) {
  std::string text = CountList(counters.Below("dataset.languages"));
  const int64_t sources = counters.Sum("dataset.sources.read");
  if (!text.empty() && sources > 1) {
    absl::StrAppend(&text, "; from ", counters.Sum("dataset.sources.kept"), " of ", sources,
                    " sources");
  }
  return text;
}

Lines LedgerLines(const JobCounters& counters) {
  Lines lines = {{"kernels", FatesText(counters, "dataset.kernels", "dataset.")}};
  for (const std::string fate : kFates) {
    const std::string reasons =
        fate == "kept" ? KeptText(counters) : CountList(counters.Below("dataset." + fate));
    if (!reasons.empty()) lines.push_back({"", absl::StrFormat("  %-12s %s", fate, reasons)});
  }
  lines.push_back({"files", absl::StrFormat("%d seen = %d extracted + %d skipped + %d failed",
                                            counters.Sum("dataset.files.seen"),
                                            counters.Sum("dataset.files.extracted"),
                                            counters.Sum("dataset.files.skipped"),
                                            counters.Sum("dataset.files.failed"))});
  if (const int64_t texts = counters.Sum("dataset.strings.skipped"); texts > 0) {
    lines.push_back(
        {"not read", absl::StrCat(Counted(texts, "text"), " with kernels: ",
                                  CountList(counters.Below("dataset.strings.skipped")))});
  }
  if (counters.Sum("dataset.training_files.found") > 0) {
    lines.push_back(
        {"whole", FatesText(counters, "dataset.training_files.found", "dataset.training_files.")});
  }
  const Counts splits = counters.Below("dataset.split");
  if (!splits.empty()) lines.push_back({"splits", CountList(splits)});
  return lines;
}

// Returns the line for things that match nothing, and one for each of them. An empty dataset comes
// first, as a warning.
Lines UnmatchedLines(const v1::JobStatus& status, int64_t most, absl::string_view rest) {
  Lines warning, lines;
  int64_t shown = 0;
  int64_t all = JobCounters(status).Sum("dataset.unmatched");
  for (const manifest::Unmatched& one : ReadAllUnmatched(status)) {
    if (one.what == "kept") {
      warning.push_back(
          {"WARNING", absl::StrCat("the dataset ", OneLine(one.message)), Tone::kWarning});
      --all;
    } else if (shown < most) {
      ++shown;
      lines.push_back({"", absl::StrCat("  ", OneLine(one.where), "  ",
                                        OneLine(manifest::UnmatchedText(one)))});
    }
  }
  if (all <= 0) return warning;
  if (all > shown) lines.push_back({"", absl::StrCat("  and ", all - shown, " more: ", rest)});
  warning.push_back({"unmatched",
                     absl::StrCat(Counted(all, "difference"), " between the job and its sources"),
                     Tone::kWarning});
  Append(std::move(lines), &warning);
  return warning;
}

Lines GateLines(const v1::JobStatus& status) {
  const int64_t missed = CountMissedGates(status);
  if (missed == 0) return {};
  Lines lines = {{"gates", absl::StrCat(missed, " missed"), Tone::kBad}};
  for (const v1::Failure& failure : status.failures()) {
    if (IsMissedGate(failure)) lines.push_back({"", absl::StrCat("  ", MissedGateLine(failure))});
  }
  return lines;
}

Lines FailureLines(const v1::JobStatus& status, int64_t most, absl::string_view rest) {
  const int64_t gates = CountMissedGates(status);
  const int64_t all = status.failure_count() - gates;
  if (all <= 0) return {};
  Lines lines = {{"failures", absl::StrCat(all), Tone::kBad}};
  int64_t shown = 0;
  for (const v1::Failure& failure : status.failures()) {
    if (IsMissedGate(failure) || IsUnmatched(failure) || shown == most) continue;
    ++shown;
    lines.push_back({"", absl::StrCat("  ", FailureLine(failure))});
  }
  if (all > shown) lines.push_back({"", absl::StrCat("  and ", all - shown, " more: ", rest)});
  return lines;
}

// Returns the entries, the largest first, except one.
Counts WithoutEntry(const std::map<std::string, int64_t>& all, const std::string& without) {
  Counts counts;
  for (const auto& [name, count] : all) {
    if (name != without) counts.emplace_back(name, count);
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return counts;
}

// Returns "120 reference; no_test 30, no_comparison 5": first the good outcome.
std::string OutcomeText(const std::map<std::string, int64_t>& all, const std::string& good) {
  const auto found = all.find(good);
  const std::string others = CountList(WithoutEntry(all, good));
  return absl::StrCat(found == all.end() ? 0 : found->second, " ", good, others.empty() ? "" : "; ",
                      others);
}

// The outcomes of cases that were run, as a job counts them below "run.DEVICE".
using RunCounts = std::map<std::string, Counts>;  // by device

RunCounts GetRunCounts(const JobCounters& counters) {
  RunCounts found;
  for (const auto& [name, count] : counters.Below("run")) {
    const size_t point = name.rfind('.');
    if (point == std::string::npos) continue;
    found[name.substr(0, point)].emplace_back(name.substr(point + 1), count);
  }
  return found;
}

// Returns a line for each device: "cpu: 6 cases run: exact 5, different 1; 3 known before".
Lines RunLines(const JobCounters& counters) {
  constexpr std::pair<const char*, const char*> kNotRun[] = {
      {"known", "known before"},
      {"without_tensor", "not run, since the evidence lacks their tensors"},
      {"invalid", "not run, since they are no valid cases"}};
  Lines lines;
  for (const auto& [device, counts] : GetRunCounts(counters)) {
    Counts outcomes;
    int64_t cases = 0;
    std::string others;
    for (const auto& [name, words] : kNotRun) {
      const int64_t count = counters.Sum(absl::StrCat("run.", device, ".", name));
      if (count > 0) absl::StrAppend(&others, "; ", count, " ", words);
    }
    for (const auto& counted : counts) {
      const bool not_run =
          std::any_of(std::begin(kNotRun), std::end(kNotRun),
                      [&](const auto& entry) { return counted.first == entry.first; });
      if (not_run) continue;
      outcomes.push_back(counted);
      cases += counted.second;
    }
    lines.push_back({lines.empty() ? "run" : "    ",
                     absl::StrCat(OneLine(device), ": ", Counted(cases, "case"), " run",
                                  cases == 0 ? "" : ": ", CountList(outcomes), others)});
  }
  return lines;
}

Lines OutcomeLines(const Summary& summary) {
  Lines lines;
  if (summary.references.has_value()) {
    lines.push_back({"references", OutcomeText(*summary.references, "reference")});
  }
  if (summary.tasks.has_value())
    lines.push_back({"tasks", OutcomeText(*summary.tasks, "verified")});
  return lines;
}

// Returns what the output folder lacks, by source.
Lines LostLines(const Summary& summary) {
  if (summary.lost.empty()) return {};
  Lines lines = {{}};
  int64_t all = 0;
  for (const LostFromSource& of : summary.lost) {
    all += of.lost;
    if (lines.size() > kMostProblems) continue;
    lines.push_back({"", absl::StrCat("  ", OneLine(of.source), "  ", of.lost, " of ", of.before,
                                      ": ", CountList(WithoutEntry(of.reasons, "")))});
  }
  const size_t shown = lines.size() - 1;
  if (summary.lost.size() > shown) {
    lines.push_back({"", absl::StrCat("  and ", summary.lost.size() - shown, " more sources")});
  }
  lines[0] = {"lost",
              absl::StrCat(all, " kept kernels and files that were in ", OneLine(summary.out_dir),
                           " before"),
              Tone::kWarning};
  return lines;
}

std::string Short(absl::Duration time) { return ShortMicros(absl::ToInt64Microseconds(time)); }

// Returns the stages that took longest, the time to write the dataset, and the slowest source.
Lines TimeLines(const Summary& summary) {
  if (!summary.busy.has_value() || summary.busy->stages.empty()) return {};
  std::vector<BusyTime> stages = summary.busy->stages;
  std::stable_sort(stages.begin(), stages.end(),
                   [](const BusyTime& a, const BusyTime& b) { return a.time > b.time; });
  if (stages.size() > kMostStages) stages.resize(kMostStages);
  std::vector<std::string> texts;
  for (const BusyTime& stage : stages) {
    texts.push_back(absl::StrCat(OneLine(stage.name), " ", Short(stage.time)));
  }
  if (summary.write_time > absl::ZeroDuration()) {
    texts.push_back(absl::StrCat("writing ", Short(summary.write_time)));
  }
  std::string more = "  wall time; stages overlap";
  const BusyTime& source = summary.busy->slowest_source;
  if (!source.name.empty()) {
    absl::StrAppend(&more, "; the slowest source is ", OneLine(source.name), ", ",
                    Short(source.time), ", most of it ", OneLine(summary.busy->slowest_stage.name));
  }
  Lines lines = {{"time", absl::StrJoin(texts, ", ")}, {"", std::move(more)}};
  const BusyTime& retried = summary.busy->retried;
  if (retried.time >= kLongWait) {
    lines.push_back({"", absl::StrCat("  ", OneLine(retried.name), " was tried again, and waited ",
                                      Short(retried.time), " for that")});
  }
  return lines;
}

// Returns the commands that are likely to come next, each with its purpose.
Lines NextLines(const Summary& summary) {
  const v1::JobStatus& status = summary.status;
  const std::string job = absl::StrCat(" ", ShellWord(status.job()));
  std::vector<std::pair<std::string, std::string>> next;
  const bool tries_again = CountFailures(status) > CountMissedGates(status);
  if (tries_again && summary.is_embedded) {
    next.emplace_back("the same command again", "try the failed inputs; the rest is cached");
  } else if (tries_again || status.state() != v1::JOB_STATE_DONE) {
    next.emplace_back(absl::StrCat("kernelmill retry", job, " --wait", summary.cluster_flags),
                      "run the job again; the rest is cached");
  }
  const JobCounters counters(status);
  const bool empty =
      counters.Sum("dataset.kept") + counters.Sum("dataset.training_files.kept") == 0;
  if (!summary.out_dir.empty() && !empty) {
    std::string dir = summary.out_dir;
    while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
    const std::string out = ShellWord(dir);
    next.emplace_back(absl::StrCat("kernelmill head ", out),
                      "the first kernels; also: stats, show");
    next.emplace_back(absl::StrCat("kernelmill catalog ", out, " --out ", ShellWord(dir + "-site")),
                      "a site to browse");
    next.emplace_back(absl::StrCat("kernelmill publish ", out, " hf://OWNER/NAME"), "upload it");
  } else if (summary.out_dir.empty() && !summary.is_embedded && status.has_dataset()) {
    next.emplace_back(absl::StrCat("kernelmill export", job, " --out DIR", summary.cluster_flags),
                      "write the dataset");
    next.emplace_back(absl::StrCat("kernelmill report", job, summary.cluster_flags),
                      "every fate and failure");
  }
  size_t width = 0;
  for (const auto& [command, purpose] : next) width = std::max(width, command.size());
  Lines lines;
  for (const auto& [command, purpose] : next) {
    const std::string text =
        absl::StrFormat("%-*s  # %s", static_cast<int>(width), command, purpose);
    lines.push_back({lines.empty() ? "next" : "    ", text});
  }
  return lines;
}

Tone GetTone(const v1::JobStatus& status) {
  if (status.state() != v1::JOB_STATE_DONE) return Tone::kBad;
  return ToExitCode(status) == kDone ? Tone::kGood : Tone::kWarning;
}

Json TimeJson(const Summary& summary) {
  const v1::JobStatus& status = summary.status;
  Json stages = Json::object();
  Json slowest, retried;
  if (summary.busy.has_value()) {
    for (const BusyTime& stage : summary.busy->stages) {
      stages[stage.name] = absl::ToInt64Milliseconds(stage.time);
    }
    const BusyTime& source = summary.busy->slowest_source;
    if (!source.name.empty()) {
      slowest = {{"source", source.name},
                 {"ms", absl::ToInt64Milliseconds(source.time)},
                 {"stage", summary.busy->slowest_stage.name}};
    }
    const BusyTime& again = summary.busy->retried;
    if (!again.name.empty()) {
      retried = {{"source", again.name}, {"ms", absl::ToInt64Milliseconds(again.time)}};
    }
  }
  return {{"job_ms", std::max<int64_t>(0, status.ended_unix_ms() - status.submitted_unix_ms())},
          {"write_ms", absl::ToInt64Milliseconds(summary.write_time)},
          {"stages_ms", std::move(stages)},
          {"slowest_source", std::move(slowest)},
          {"retried", std::move(retried)}};
}

Json CountsJson(const Counts& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

Json CountsOrNull(const std::optional<std::map<std::string, int64_t>>& counts) {
  return counts.has_value() ? Json(*counts) : Json();
}

Json RunJson(const JobCounters& counters) {
  Json json = Json::object();
  for (const auto& [device, counts] : GetRunCounts(counters)) json[device] = CountsJson(counts);
  return json;
}

Json LostJson(const std::vector<LostFromSource>& lost) {
  Json json = Json::array();
  for (const LostFromSource& of : lost) {
    json.push_back(
        {{"source", of.source}, {"before", of.before}, {"lost", of.lost}, {"reasons", of.reasons}});
  }
  return json;
}

}  // namespace

Lines HeadLines(const v1::JobStatus& status) {
  std::string text =
      absl::StrCat(status.job(), "  ", OneLine(status.name()), "  ", StateWords(status));
  if (status.ended_unix_ms() > status.submitted_unix_ms()) {
    absl::StrAppendFormat(&text, "  %.1f s",
                          (status.ended_unix_ms() - status.submitted_unix_ms()) / 1000.0);
  }
  if (status.runs() > 1) absl::StrAppend(&text, "  run ", status.runs());
  if (status.priority() != 0) absl::StrAppend(&text, "  priority ", status.priority());
  Lines lines = {{"job", std::move(text), GetTone(status)}};
  if (status.has_dataset()) lines.push_back({"dataset", cas::ToString(status.dataset())});
  return lines;
}

Lines HistoryLines(const v1::JobStatus& status) {
  const JobCounters counters(status);
  const int64_t sources = counters.Sum("history.sources");
  if (sources == 0) return {};
  std::string text = absl::StrCat(Counted(counters.Sum("history.changes"), "change"), " of ",
                                  Counted(counters.Sum("history.kernels"), "kernel"), " in ",
                                  counters.Sum("history.commits_with_changes"), " of ",
                                  Counted(counters.Sum("history.commits"), "commit"), " of ",
                                  Counted(sources, "source"));
  const int64_t lost = counters.Sum("history.lost_versions");
  if (lost > 0) absl::StrAppend(&text, "; ", Counted(lost, "version"), " of files lost");
  Lines lines = {{"history", std::move(text)}};
  const std::string kinds = CountList(counters.Below("history.changes"));
  if (!kinds.empty()) lines.push_back({"", absl::StrFormat("  %-12s %s", "kind", kinds)});
  return lines;
}

Lines ProblemLines(const v1::JobStatus& status, int64_t most, absl::string_view rest) {
  Lines lines = GateLines(status);
  Append(UnmatchedLines(status, most, rest), &lines);
  Append(FailureLines(status, most, rest), &lines);
  return lines;
}

Lines SummaryLines(const Summary& summary) {
  const v1::JobStatus& status = summary.status;
  Lines lines = HeadLines(status);
  if (status.state() == v1::JOB_STATE_DONE) Append(LedgerLines(JobCounters(status)), &lines);
  Append(HistoryLines(status), &lines);
  if (summary.history.has_value()) {
    lines.push_back(
        {"", absl::StrFormat("  %-12s %s", "written", OutcomeText(*summary.history, "rows"))});
  }
  if (summary.turns.has_value()) {
    lines.push_back(
        {"", absl::StrFormat("  %-12s %s", "compiled", OutcomeText(*summary.turns, "judged"))});
  }
  Append(RunLines(JobCounters(status)), &lines);
  Append(OutcomeLines(summary), &lines);
  Append(LostLines(summary), &lines);
  // The rest is in the report, in the folder if there is one. A job in this process has no report
  // once the command has ended.
  const bool has_rest = !summary.out_dir.empty() || !summary.is_embedded;
  const std::string rest =
      summary.out_dir.empty()
          ? absl::StrCat("kernelmill report ", status.job(), summary.cluster_flags)
          : absl::StrCat(OneLine(summary.out_dir), "/report.json");
  Append(ProblemLines(status, has_rest ? int64_t{kMostProblems} : INT64_MAX,
                      has_rest ? rest : "not listed"),
         &lines);
  Append(TimeLines(summary), &lines);
  if (!summary.out_dir.empty()) lines.push_back({"written to", OneLine(summary.out_dir)});
  Append(NextLines(summary), &lines);
  return lines;
}

std::string SummaryJson(const Summary& summary) {
  const v1::JobStatus& status = summary.status;
  const JobCounters counters(status);
  Json kernels = {{"found", counters.Sum("dataset.kernels")}};
  for (const std::string fate : kFates) kernels[fate] = counters.Sum("dataset." + fate);
  return JsonLine(
      "summary",
      {{"job", JobJson(status)},
       {"dataset", status.has_dataset() ? Json(cas::ToString(status.dataset())) : Json()},
       {"out", summary.out_dir.empty() ? Json() : Json(summary.out_dir)},
       {"exit", ToExitCode(status)},
       {"kernels", std::move(kernels)},
       {"languages", CountsJson(counters.Below("dataset.languages"))},
       {"splits", CountsJson(counters.Below("dataset.split"))},
       {"run", RunJson(counters)},
       {"references", CountsOrNull(summary.references)},
       {"tasks", CountsOrNull(summary.tasks)},
       {"history", CountsOrNull(summary.history)},
       {"turns", CountsOrNull(summary.turns)},
       {"lost", LostJson(summary.lost)},
       {"time", TimeJson(summary)}});
}

}  // namespace kernelmill::client
