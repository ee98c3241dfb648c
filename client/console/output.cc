// Answers of the coordinator and the store as text. Texts of repositories and servers go through
// OneLine.

#include "client/console/output.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/job_facts.h"
#include "client/console/json.h"
#include "client/console/progress.h"
#include "client/console/style.h"
#include "client/console/summary.h"
#include "client/console/watch.h"
#include "common/cas/digest.h"
#include "common/manifest/unmatched.h"
#include "common/toolchains/toolchains.h"
#include "common/words/counted.h"
#include "common/worker/stage_table.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

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

// Appends a fate's line, then one line for each of its reasons.
void AppendFate(const JobCounters& counters, absl::string_view label, const std::string& name,
                std::string* text) {
  absl::StrAppendFormat(text, "  %-22s %8d\n", std::string(label), counters.Sum(name));
  for (const auto& [reason, value] : counters.Below(name)) {
    absl::StrAppendFormat(text, "    %-20s %8d\n", OneLine(reason), value);
  }
}

std::string Blobs(int64_t count) { return Counted(count, "blob"); }

// Returns one line for a hold: the blobs that it keeps from being evicted, and for how long.
std::string HoldText(const v1::HoldInfo& hold) {
  std::string what =
      hold.blobs() > 0 || !hold.everything_used_from_now() ? Blobs(hold.blobs()) : "";
  if (hold.bytes() > 0) absl::StrAppend(&what, ", ", ShortBytes(hold.bytes()));
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
  if (task.job().empty()) {
    absl::StrAppend(&line, " of another client's job");
  } else {
    absl::StrAppend(&line, ", job ", task.job(), ", task ", task.task());
  }
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

// Returns the program that runs a stage, with the flag that has it do so. A stage that this client
// does not know gets a word that fits into the message.
std::string FindProgram(absl::string_view stage) {
  static constexpr std::pair<absl::string_view, absl::string_view> kPrograms[] = {
      {"discover", "kernelmill-fetcher"},   {"pin", "kernelmill-fetcher"},
      {"fetch", "kernelmill-fetcher"},      {"extract", "kernelmill-extractor"},
      {"link", "kernelmill-extractor"},     {"reference", "kernelmill-extractor"},
      {"history", "kernelmill-extractor"},  {"compile", "kernelmill-compiler"},
      {"validate", "kernelmill-validator"}, {"sign", "kernelmill-deduplicator"},
      {"pair", "kernelmill-deduplicator"},  {"resolve", "kernelmill-deduplicator"},
      {"split", "kernelmill-deduplicator"}, {"manifest", "kernelmill-deduplicator"}};
  for (const auto& [name, program] : kPrograms) {
    if (name == stage) return std::string(program);
  }
  for (const absl::string_view device : toolchains::RunDevices()) {
    if (worker::FindRunStage(device)->name == stage) {
      return absl::StrCat("kernelmill-runner --device ", device);
    }
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

// The ledger as a table: each fate with its reasons, so that the numbers add up to what was found.
std::string ReportText(const v1::JobStatus& status) {
  const JobCounters counters(status);
  std::string text = PlainText(HeadLines(status));
  if (!HasEnded(status)) text += "so far     the job is running; a dataset is counted at its end\n";
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
  if (counters.Sum("dataset.training_files.found") > 0) {
    text += "whole files\n";
    for (const char* fate : {"found", "kept", "rejected", "duplicate", "contaminated"}) {
      AppendFate(counters, fate, absl::StrCat("dataset.training_files.", fate), &text);
    }
  }
  text += PlainText(HistoryLines(status));
  // Cached tasks are done too: what was executed is the difference.
  absl::StrAppendFormat(&text, "%-12s %8s %8s %8s %8s\n", "stages", "tasks", "executed", "cached",
                        "failed");
  for (const v1::StageProgress& stage : status.stages()) {
    absl::StrAppendFormat(&text, "  %-10s %8d %8d %8d %8d\n", stage.stage(), stage.total(),
                          stage.done() - stage.cached(), stage.cached(), stage.failed());
  }
  for (const std::string& line : UnservedLines(status)) absl::StrAppend(&text, line, "\n");
  return absl::StrCat(text, PlainText(ProblemLines(status, INT64_MAX, "not listed")),
                      TroubledText(status));
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
        absl::StrCat(done, "/", total), CountFailures(job), job.priority(), job.runs(),
        OneLine(job.owner()), OneLine(job.name()));
    for (const std::string& line : UnservedLines(job)) absl::StrAppend(&text, "  ", line, "\n");
    if (const std::string waits = WaitLine(job); !waits.empty()) {
      absl::StrAppend(&text, "  ", waits, "\n");
    }
  }
  return text;
}

Json JobJson(const v1::JobStatus& status) {
  Json json = MessageJson(status);
  json.erase("lock");  // ReadLock has it
  Json counters = Json::object();
  for (const v1::Counter& counter : status.counters()) counters[counter.name()] = counter.value();
  json["counters"] = std::move(counters);
  Json failures = Json::array(), unmatched = Json::array();
  for (int i = 0; i < status.failures_size(); ++i) {
    if (IsUnmatched(status.failures(i))) {
      unmatched.push_back(
          Json::parse(manifest::ToJson(manifest::ReadUnmatched(status.failures(i).message()))));
    } else {
      failures.push_back(std::move(json["failures"][i]));
    }
  }
  json["failures"] = std::move(failures);
  json["unmatched"] = std::move(unmatched);
  return json;
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
