// Answers of the coordinator and the store as text. A job's numbers come as counters with names
// such as "dataset.rejected.license"; a fate's number is the sum of all counters below its name.
// Texts of repositories and servers go through OneLine.

#include "client/console/output.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/progress.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "common/manifest/unmatched.h"
#include "common/words/counted.h"
#include "common/words/enum_words.h"

namespace kernelmill::client {
namespace {

using Counters = std::map<std::string, int64_t>;

Counters ReadCounters(const v1::JobStatus& status) {
  Counters counters;
  for (const v1::Counter& counter : status.counters()) counters[counter.name()] = counter.value();
  return counters;
}

// Returns the sum of a counter and of the counters below it: "dataset.rejected" includes
// "dataset.rejected.*".
int64_t Sum(const Counters& counters, const std::string& name) {
  int64_t sum = 0;
  for (const auto& [key, value] : counters) {
    if (key == name || absl::StartsWith(key, name + ".")) sum += value;
  }
  return sum;
}

// Returns the number of failures that the status lists, without what only matches nothing.
int64_t CountListed(const v1::JobStatus& status) {
  return status.failures_size() -
         std::count_if(status.failures().begin(), status.failures().end(), IsUnmatched);
}

// Returns the number of failures. A status lists only the first ones, but counts all.
int64_t FailureCount(const v1::JobStatus& status) {
  return std::max<int64_t>(status.failure_count(), CountListed(status));
}

// The number of sources of a job that has ended. A source that a search or the pin stage lost has
// no fetch task, so these are added to the fetch tasks.
struct SourceCount {
  int64_t all = 0;
  int64_t failed = 0;
};

// Returns the sources of an ended job. Each source has one fetch task; of the stages before it only
// the failed tasks count, because a source that passed them is among the fetch tasks.
SourceCount CountSources(const v1::JobStatus& status) {
  SourceCount sources;
  for (const v1::StageProgress& stage : status.stages()) {
    const bool fetch = stage.stage() == "fetch";
    if (!fetch && stage.stage() != "pin" && stage.stage() != "discover") continue;
    sources.failed += stage.failed();
    sources.all += fetch ? stage.total() : stage.failed();
  }
  return sources;
}

// Returns "done", "cancelled" or "done, all 3 sources failed".
std::string StateWords(const v1::JobStatus& status) {
  std::string word = ToWord(status.state());
  const SourceCount sources = CountSources(status);
  // A job whose sources all failed is DONE with an empty dataset; the words must not look like
  // success.
  if (status.state() != v1::JOB_STATE_DONE || sources.all == 0 || sources.failed < sources.all) {
    return word;
  }
  if (sources.all == 1) return word + ", its source failed";
  return absl::StrCat(word, ", all ", sources.all, " sources failed");
}

// Returns one line: source, path, stage, code and message, and the number of files if the failure
// covers several.
std::string FailureLine(const v1::Failure& failure) {
  std::string line = absl::StrCat("  ", OneLine(failure.source()), "  ");
  if (!failure.path().empty()) absl::StrAppend(&line, OneLine(failure.path()), "  ");
  absl::StrAppend(&line, failure.stage(), "  ", failure.code(), ": ", OneLine(failure.message()));
  if (failure.files() > 0) absl::StrAppend(&line, " (", Counted(failure.files(), "file"), ")");
  return line + "\n";
}

int64_t CountMissedGates(const v1::JobStatus& status) {
  return std::count_if(status.failures().begin(), status.failures().end(), IsMissedGate);
}

// Returns one line for each missed gate: "  min_kept  480, but at least 500 is asked for".
std::string GatesText(const v1::JobStatus& status) {
  const int64_t missed = CountMissedGates(status);
  if (missed == 0) return "";
  std::string text = absl::StrCat("gates      ", missed, " missed\n");
  for (const v1::Failure& failure : status.failures()) {
    if (!IsMissedGate(failure)) continue;
    absl::StrAppend(&text, "  ", OneLine(absl::StripPrefix(failure.path(), "gates.")), "  ",
                    OneLine(failure.message()), "\n");
  }
  return text;
}

// `rest` says where the failures are that the status does not list.
std::string FailuresText(const v1::JobStatus& status, absl::string_view rest) {
  // Missed gates have a list of their own; see GatesText.
  const int64_t failures = status.failure_count() - CountMissedGates(status);
  if (failures == 0) return "";
  std::string text = absl::StrCat("failures   ", failures, "\n");
  for (const v1::Failure& failure : status.failures()) {
    if (!IsMissedGate(failure) && !IsUnmatched(failure)) text += FailureLine(failure);
  }
  const int64_t more = status.failure_count() - CountListed(status);
  if (more > 0) absl::StrAppend(&text, "  and ", more, " more: ", rest, "\n");
  return text;
}

std::vector<manifest::Unmatched> ReadAllUnmatched(const v1::JobStatus& status) {
  std::vector<manifest::Unmatched> all;
  for (const v1::Failure& failure : status.failures()) {
    if (IsUnmatched(failure)) all.push_back(manifest::ReadUnmatched(failure.message()));
  }
  return all;
}

constexpr int64_t kMostUnmatched = 20;  // lines of a summary

// Returns one line for each thing that the job asks for and that matches nothing, below their
// number; `rest` says where the others are. An empty dataset comes first, as a warning.
std::string UnmatchedLines(const v1::JobStatus& status, const Counters& counters, int64_t most,
                           absl::string_view rest) {
  std::string warning;
  std::string lines;
  int64_t shown = 0;
  int64_t all = Sum(counters, "dataset.unmatched");
  for (const manifest::Unmatched& one : ReadAllUnmatched(status)) {
    if (one.what == "kept") {
      absl::StrAppend(&warning, "WARNING    the dataset ", OneLine(one.message), "\n");
      --all;
    } else if (shown < most) {
      ++shown;
      absl::StrAppend(&lines, "  ", OneLine(one.where), "  ", OneLine(manifest::UnmatchedText(one)),
                      "\n");
    }
  }
  if (all <= 0) return warning;
  if (all > shown) absl::StrAppend(&lines, "  and ", all - shown, " more: ", rest, "\n");
  return absl::StrCat(warning, "unmatched  ", Counted(all, "difference"),
                      " between the job and its sources\n", lines);
}

// Returns a line with the reasons of each fate that has some: "rejected   license 5, opt_out 1".
std::string ReasonLines(const Counters& counters) {
  std::string text;
  for (const char* fate : {"rejected", "duplicate", "contaminated"}) {
    const std::string prefix = absl::StrCat("dataset.", fate, ".");
    std::string reasons;
    for (const auto& [key, value] : counters) {
      if (!absl::StartsWith(key, prefix) || value == 0) continue;
      absl::StrAppend(&reasons, reasons.empty() ? "" : ", ",
                      OneLine(absl::StripPrefix(key, prefix)), " ", value);
    }
    if (!reasons.empty()) absl::StrAppendFormat(&text, "  %-12s %s\n", fate, reasons);
  }
  return text;
}

// Returns one line for each task that is tried again or waits, below their number.
std::string TroubledText(const v1::JobStatus& status) {
  if (status.troubled().empty()) return "";
  std::string text = absl::StrCat("tried again", "  ", status.troubled_size(), "\n");
  for (const v1::Troubled& task : status.troubled()) {
    absl::StrAppend(&text, "  ", OneLine(task.source()), "  ", task.stage(), "  after ",
                    Counted(task.attempts(), "attempt"), ": ", OneLine(task.last_error()), "\n");
  }
  return text;
}

// Returns the first lines of a report: the job with its state and time, and its dataset.
std::string HeadText(const v1::JobStatus& status) {
  std::string text = absl::StrCat("job        ", status.job(), "  ", OneLine(status.name()), "  ",
                                  StateWords(status));
  if (status.ended_unix_ms() > status.submitted_unix_ms()) {
    absl::StrAppendFormat(&text, "  %.1f s",
                          (status.ended_unix_ms() - status.submitted_unix_ms()) / 1000.0);
  }
  if (status.runs() > 1) absl::StrAppend(&text, "  run ", status.runs());
  if (status.priority() != 0) absl::StrAppend(&text, "  priority ", status.priority());
  text += '\n';
  if (status.has_dataset()) {
    absl::StrAppend(&text, "dataset    ", cas::ToString(status.dataset()), "\n");
  }
  return text;
}

// Appends a fate's line, then one line for each of its reasons.
void AppendFate(const Counters& counters, absl::string_view label, const std::string& name,
                std::string* text) {
  absl::StrAppendFormat(text, "  %-22s %8d\n", std::string(label), Sum(counters, name));
  for (const auto& [key, value] : counters) {
    absl::string_view reason = key;
    if (absl::ConsumePrefix(&reason, name + ".")) {
      absl::StrAppendFormat(text, "    %-20s %8d\n", std::string(reason), value);
    }
  }
}

// Protobuf writes bytes as Base64; this replaces the paths by text. Unmatched entries get a list
// of its own.
std::string WithTexts(const v1::JobStatus& status, const std::string& json) {
  nlohmann::ordered_json object = nlohmann::ordered_json::parse(json);
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  nlohmann::ordered_json unmatched = nlohmann::ordered_json::array();
  for (int i = 0; i < status.failures_size(); ++i) {
    const std::string& path = status.failures(i).path();
    if (IsUnmatched(status.failures(i))) {
      unmatched.push_back(nlohmann::ordered_json::parse(
          manifest::ToJson(manifest::ReadUnmatched(status.failures(i).message()))));
      continue;
    }
    nlohmann::ordered_json failure = std::move(object["failures"][i]);
    failure["path"] = ToUtf8(path);
    if (!IsUtf8(path)) failure["path_base64"] = absl::Base64Escape(path);
    failures.push_back(std::move(failure));
  }
  object["failures"] = std::move(failures);
  object["unmatched"] = std::move(unmatched);
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string Blobs(int64_t count) { return Counted(count, "blob"); }

// Returns one line for a hold: the blobs that it keeps from being evicted, and for how long.
std::string HoldText(const v1::HoldInfo& hold) {
  std::string what =
      hold.blobs() > 0 || !hold.everything_used_from_now() ? Blobs(hold.blobs()) : "";
  if (hold.everything_used_from_now()) {
    absl::StrAppend(&what, what.empty() ? "" : " and ", "everything used since it began");
  }
  if (hold.expires_in_ms() > 0) {
    absl::StrAppend(&what, ", for another ",
                    ShortDuration(absl::Milliseconds(hold.expires_in_ms())));
  }
  return absl::StrFormat("  %-40s %s\n", OneLine(hold.name()), what);
}

// Returns one line for a backup. A backup without a time was not finished.
std::string BackupLine(const v1::BackupInfo& backup) {
  const std::string made =
      backup.made_unix_ms() == 0
          ? "incomplete"
          : absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(backup.made_unix_ms()),
                             absl::UTCTimeZone());
  return absl::StrFormat("  %-40s %s, %s\n", OneLine(backup.name()), ShortBytes(backup.bytes()),
                         made);
}

constexpr int kMaxTasksShown = 8;  // for each worker
constexpr size_t kShortestName = 6;

std::string StagesText(const v1::WorkerInfo& worker) {
  std::string text;
  for (const v1::StageSupport& stage : worker.stages()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", stage.stage(), " ", stage.version());
  }
  return OneLine(text);
}

std::string Ago(absl::Time now, int64_t unix_ms) {
  const absl::Duration ago = now - absl::FromUnixMillis(unix_ms);
  return absl::StrCat(absl::ToInt64Seconds(std::max(ago, absl::ZeroDuration())), " s");
}

// Returns one line for a task that a worker runs: stage, source, job, attempt and time so far.
std::string TaskLine(const v1::RunningTask& task, absl::Time now) {
  std::string line = absl::StrCat("  ", task.stage());
  if (!task.source().empty()) absl::StrAppend(&line, " of ", task.source());
  absl::StrAppend(&line, ", job ", task.job(), ", task ", task.task());
  if (task.attempt() > 1) absl::StrAppend(&line, ", attempt ", task.attempt());
  if (task.leased_unix_ms() > 0) {
    absl::StrAppend(&line, ", for ", Ago(now, task.leased_unix_ms()));
  }
  return OneLine(line) + "\n";
}

// Returns the name that a worker gave itself, and in brackets the name by which the coordinator
// knows its certificate or token.
std::string ShownName(const v1::WorkerInfo& worker) {
  if (worker.caller().empty()) return OneLine(worker.name());
  return OneLine(absl::StrCat(worker.name(), " (", worker.caller(), ")"));
}

// Returns the program that runs a stage. A stage that this client does not know gets a word that
// fits into the message.
absl::string_view FindProgram(absl::string_view stage) {
  static constexpr std::pair<absl::string_view, absl::string_view> kPrograms[] = {
      {"discover", "kernelmill-fetcher"},   {"pin", "kernelmill-fetcher"},
      {"fetch", "kernelmill-fetcher"},      {"extract", "kernelmill-extractor"},
      {"link", "kernelmill-extractor"},     {"compile", "kernelmill-compiler"},
      {"validate", "kernelmill-validator"}, {"sign", "kernelmill-deduplicator"},
      {"pair", "kernelmill-deduplicator"},  {"resolve", "kernelmill-deduplicator"},
      {"split", "kernelmill-deduplicator"}, {"manifest", "kernelmill-deduplicator"}};
  for (const auto& [name, program] : kPrograms) {
    if (name == stage) return program;
  }
  return "a worker that runs it";
}

// Returns "no worker runs stage extract 7" with the remedy.
std::string UnservedText(const v1::Unserved& unserved) {
  const std::string stage =
      absl::StrCat("no worker runs stage ", unserved.stage(), " ", unserved.version());
  std::string others;
  for (const v1::OtherVersion& other : unserved.others()) {
    absl::StrAppend(&others, others.empty() ? " (" : ", ", other.workers(),
                    other.workers() == 1 ? " worker runs" : " workers run", " version ",
                    other.version());
  }
  // Workers of another version exist: an update is more likely to help than one more worker.
  if (!others.empty()) return absl::StrCat(stage, others, "); update the workers");
  return absl::StrCat(stage, "; start ", FindProgram(unserved.stage()));
}

}  // namespace

std::string SummaryText(const v1::JobStatus& status, const std::string& out_dir) {
  const Counters counters = ReadCounters(status);
  std::string text = HeadText(status);
  if (status.state() == v1::JOB_STATE_DONE) {
    absl::StrAppendFormat(
        &text, "kernels    %d found = %d kept + %d rejected + %d duplicate + %d contaminated\n",
        Sum(counters, "dataset.kernels"), Sum(counters, "dataset.kept"),
        Sum(counters, "dataset.rejected"), Sum(counters, "dataset.duplicate"),
        Sum(counters, "dataset.contaminated"));
    text += ReasonLines(counters);
    absl::StrAppendFormat(
        &text, "files      %d seen = %d extracted + %d skipped + %d failed\n",
        Sum(counters, "dataset.files.seen"), Sum(counters, "dataset.files.extracted"),
        Sum(counters, "dataset.files.skipped"), Sum(counters, "dataset.files.failed"));
    if (Sum(counters, "dataset.training_files.found") > 0) {
      absl::StrAppendFormat(
          &text, "whole      %d found = %d kept + %d rejected + %d duplicate + %d contaminated\n",
          Sum(counters, "dataset.training_files.found"),
          Sum(counters, "dataset.training_files.kept"),
          Sum(counters, "dataset.training_files.rejected"),
          Sum(counters, "dataset.training_files.duplicate"),
          Sum(counters, "dataset.training_files.contaminated"));
    }
  }
  text += GatesText(status);
  // A status lists at most a hundred failures. The rest is in the report, in the folder if there is
  // one.
  const std::string rest = out_dir.empty() ? absl::StrCat("kernelmill report ", status.job())
                                           : absl::StrCat(out_dir, "/report.json");
  text += UnmatchedLines(status, counters, kMostUnmatched, rest);
  text += FailuresText(status, rest);
  if (!out_dir.empty()) absl::StrAppend(&text, "written to ", out_dir, "\n");
  return text;
}

std::string SummaryJson(const v1::JobStatus& status, const std::string& out_dir) {
  const std::string dataset = status.has_dataset() ? cas::ToString(status.dataset()) : "";
  return absl::StrCat("{\"job\":", StatusJson(status), ",\"dataset\":", JsonString(dataset),
                      ",\"out\":", JsonString(out_dir), ",\"exit\":", ToExitCode(status), "}");
}

// The ledger as a table: each fate with its reasons, so that the numbers add up to what was found.
std::string ReportText(const v1::JobStatus& status) {
  const Counters counters = ReadCounters(status);
  std::string text = HeadText(status);
  text += "files\n";
  AppendFate(counters, "seen", "dataset.files.seen", &text);
  AppendFate(counters, "extracted", "dataset.files.extracted", &text);
  AppendFate(counters, "skipped", "dataset.files.skipped", &text);
  AppendFate(counters, "failed", "dataset.files.failed", &text);
  text += "kernels\n";
  AppendFate(counters, "found", "dataset.kernels", &text);
  AppendFate(counters, "kept", "dataset.kept", &text);
  AppendFate(counters, "rejected", "dataset.rejected", &text);
  AppendFate(counters, "duplicate", "dataset.duplicate", &text);
  AppendFate(counters, "contaminated", "dataset.contaminated", &text);
  AppendFate(counters, "contaminated, kept by policy", "dataset.labelled", &text);
  AppendFate(counters, "kept without its launcher (holdout)", "dataset.withheld", &text);
  AppendFate(counters, "kept, review pending", "dataset.review", &text);
  AppendFate(counters, "in holdouts", "dataset.holdout", &text);
  if (Sum(counters, "dataset.training_files.found") > 0) {
    text += "whole files\n";
    for (const char* fate : {"found", "kept", "rejected", "duplicate", "contaminated"}) {
      AppendFate(counters, fate, absl::StrCat("dataset.training_files.", fate), &text);
    }
  }
  // Cached tasks are done too: what was executed is the difference.
  absl::StrAppendFormat(&text, "%-12s %8s %8s %8s %8s\n", "stages", "tasks", "executed", "cached",
                        "failed");
  for (const v1::StageProgress& stage : status.stages()) {
    absl::StrAppendFormat(&text, "  %-10s %8d %8d %8d %8d\n", stage.stage(), stage.total(),
                          stage.done() - stage.cached(), stage.cached(), stage.failed());
  }
  for (const std::string& line : UnservedLines(status)) absl::StrAppend(&text, line, "\n");
  return absl::StrCat(text, GatesText(status),
                      UnmatchedLines(status, counters, INT64_MAX, "not listed"),
                      TroubledText(status), FailuresText(status, "not listed"));
}

std::string StateText(const v1::JobStatus& status) {
  return absl::StrCat(status.job(), "  ", StateWords(status), "\n");
}

std::string JobsText(const std::vector<v1::JobStatus>& jobs) {
  // The width of the state's column, for all lines the same.
  int state_width = 10;
  for (const v1::JobStatus& job : jobs) {
    state_width = std::max(state_width, static_cast<int>(StateWords(job).size()));
  }
  std::string text =
      absl::StrFormat("%-20s %-*s %-20s %13s %8s %8s %4s  %-16s  %s\n", "job", state_width, "state",
                      "submitted", "tasks", "failures", "priority", "runs", "owner", "name");
  for (const v1::JobStatus& job : jobs) {
    int64_t total = 0, done = 0;
    for (const v1::StageProgress& stage : job.stages()) {
      total += stage.total();
      done += stage.done() + stage.failed();
    }
    absl::StrAppendFormat(
        &text, "%-20s %-*s %s %13s %8d %8d %4d  %-16s  %s\n", job.job(), state_width,
        StateWords(job),
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(job.submitted_unix_ms()),
                         absl::UTCTimeZone()),
        absl::StrCat(done, "/", total), FailureCount(job), job.priority(), job.runs(),
        OneLine(job.owner()), OneLine(job.name()));
    for (const std::string& line : UnservedLines(job)) absl::StrAppend(&text, "  ", line, "\n");
    if (const std::string waits = WaitLine(job); !waits.empty()) {
      absl::StrAppend(&text, "  ", waits, "\n");
    }
  }
  return text;
}

std::string StatusJson(const v1::JobStatus& status) {
  return WithTexts(status, MessageJson(status));
}

// Holds and backups are listed under their numbers; a store without backups has no such line.
std::string StatText(const v1::StatResponse& stat) {
  std::string text = absl::StrFormat("%-16s %s, %s\n", "content", Blobs(stat.blobs()),
                                     ShortBytes(stat.blob_bytes()));
  absl::StrAppendFormat(&text, "%-16s %d\n", "action results", stat.action_results());
  absl::StrAppendFormat(&text, "%-16s %s%s, %s free\n", "on disk", ShortBytes(stat.disk_bytes()),
                        stat.limit_bytes() > 0
                            ? absl::StrCat(" of at most ", ShortBytes(stat.limit_bytes()))
                            : std::string(),
                        ShortBytes(stat.free_disk_bytes()));
  absl::StrAppendFormat(&text, "%-16s %d\n", "holds", stat.holds_size());
  for (const v1::HoldInfo& hold : stat.holds()) text += HoldText(hold);
  if (!stat.backups().empty()) {
    absl::StrAppendFormat(&text, "%-16s %d\n", "backups", stat.backups_size());
  }
  for (const v1::BackupInfo& backup : stat.backups()) text += BackupLine(backup);
  return text;
}

std::string VerifyLine(const v1::VerifyProgress& progress, const v1::StatResponse& whole) {
  return absl::StrCat(progress.blobs(), " of ", Blobs(whole.blobs()), ", ",
                      ShortBytes(progress.bytes()), " of ", ShortBytes(whole.blob_bytes()),
                      " read, ", progress.damaged_size(), " damaged");
}

// `dropped`: the damaged blobs were deleted too, so that they can be made again.
std::string VerifyText(const v1::VerifyProgress& last, bool dropped) {
  std::string text = absl::StrCat(Blobs(last.blobs()), ", ", ShortBytes(last.bytes()), " read; ");
  if (last.damaged().empty()) return text + "all are intact\n";
  absl::StrAppend(&text, Blobs(last.damaged_size()), " damaged", dropped ? " and dropped" : "",
                  ":\n");
  for (const auto& digest : last.damaged()) {
    absl::StrAppend(&text, "  ", cas::ToString(digest), "\n");
  }
  return text;
}

std::string GarbageText(const v1::CollectGarbageResponse& response) {
  std::string text = absl::StrCat("dropped ", Blobs(response.dropped_blobs()), ", ",
                                  ShortBytes(response.dropped_bytes()));
  if (response.held_bytes() > 0) {
    absl::StrAppend(&text, "; ", ShortBytes(response.held_bytes()), " are held");
  }
  return text + "\n";
}

std::string ForgetText(const v1::ForgetResultsResponse& response, bool dry_run) {
  return absl::StrCat(dry_run ? "would forget " : "forgot ", Counted(response.results(), "result"),
                      "\n");
}

std::string BackupText(const v1::BackupResponse& response) {
  return absl::StrCat(OneLine(response.path()), "  ", ShortBytes(response.bytes()), "\n");
}

std::string BackupsText(const v1::ListBackupsResponse& response) {
  if (response.backups().empty()) return "no backup\n";
  std::string text;
  for (const v1::BackupInfo& backup : response.backups()) text += BackupLine(backup);
  return text;
}

std::string PruneText(const v1::PruneBackupsResponse& response) {
  std::string text = absl::StrFormat("%-16s %d\n", "backups dropped", response.dropped_size());
  for (const v1::BackupInfo& backup : response.dropped()) text += BackupLine(backup);
  return text;
}

// A worker may run hundreds of tasks: kMaxTasksShown of them are listed.
std::string WorkersText(const std::vector<v1::WorkerInfo>& workers, absl::Time now) {
  size_t width = kShortestName;
  for (const v1::WorkerInfo& worker : workers) width = std::max(width, ShownName(worker).size());
  const int columns = static_cast<int>(width);
  std::string text = absl::StrFormat("%-*s %8s %5s %5s  %-24s %s\n", columns, "worker", "heard",
                                     "slots", "tasks", "version", "stages");
  for (const v1::WorkerInfo& worker : workers) {
    absl::StrAppendFormat(&text, "%-*s %8s %5d %5d  %-24s %s\n", columns, ShownName(worker),
                          Ago(now, worker.last_heard_unix_ms()), worker.slots(),
                          worker.running_size(), OneLine(worker.version()), StagesText(worker));
    const int shown = std::min(worker.running_size(), kMaxTasksShown);
    for (int i = 0; i < shown; ++i) text += TaskLine(worker.running(i), now);
    if (shown < worker.running_size()) {
      absl::StrAppend(&text, "  and ", worker.running_size() - shown, " more\n");
    }
  }
  return text;
}

std::vector<std::string> UnservedLines(const v1::JobStatus& status) {
  std::vector<std::string> lines;
  for (const v1::Unserved& unserved : status.unserved()) {
    lines.push_back(
        OneLine(absl::StrCat(UnservedText(unserved), ": ", unserved.tasks(),
                             unserved.tasks() == 1 ? " task waiting" : " tasks waiting")));
  }
  return lines;
}

}  // namespace kernelmill::client
