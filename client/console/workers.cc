#include "client/console/workers.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/console/format.h"

namespace kernelmill::client {
namespace {

constexpr int kMaxTasksShown = 8;  // of one worker
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

std::string NameOf(const v1::WorkerInfo& worker) {
  if (worker.caller().empty()) return OneLine(worker.name());
  return OneLine(absl::StrCat(worker.name(), " (", worker.caller(), ")"));
}

std::string OthersText(const v1::Unserved& unserved) {
  std::string text;
  int64_t workers = 0;
  for (const v1::OtherVersion& other : unserved.others()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", other.workers(), " of version ",
                    other.version());
    workers += other.workers();
  }
  if (text.empty()) return "none of any version is connected";
  return absl::StrCat(text, workers == 1 ? " is connected" : " are connected");
}

}  // namespace

std::string WorkersText(const std::vector<v1::WorkerInfo>& workers, absl::Time now) {
  size_t width = kShortestName;
  for (const v1::WorkerInfo& worker : workers) width = std::max(width, NameOf(worker).size());
  const int columns = static_cast<int>(width);
  std::string text = absl::StrFormat("%-*s %8s %5s %5s  %-24s %s\n", columns, "worker", "heard",
                                     "slots", "tasks", "version", "stages");
  for (const v1::WorkerInfo& worker : workers) {
    absl::StrAppendFormat(&text, "%-*s %8s %5d %5d  %-24s %s\n", columns, NameOf(worker),
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
    lines.push_back(OneLine(absl::StrCat(
        "no worker for ", unserved.stage(), " ", unserved.version(), " (", OthersText(unserved),
        "): ", unserved.tasks(), unserved.tasks() == 1 ? " task waits" : " tasks wait")));
  }
  return lines;
}

}  // namespace kernelmill::client
