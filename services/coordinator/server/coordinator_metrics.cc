#include "services/coordinator/server/coordinator_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include <algorithm>
#include <map>
#include <string>

#include "absl/synchronization/mutex.h"
#include "common/metrics/bounded_label.h"
#include "common/metrics/metrics.h"
#include "common/worker/stage_table.h"
#include "services/coordinator/server/observations.h"

namespace kernelmill::coordinator {
namespace {

const char* OutcomeOf(const v1::Completion& completion, const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) return "stale";
  if (!status.ok()) return "refused";
  if (completion.has_handback()) return "handed_back";
  if (completion.has_error()) return "error";
  return completion.cached() ? "cached" : "done";
}

const char* StateName(v1::JobState state) {
  switch (state) {
    case v1::JOB_STATE_RUNNING:
      return "running";
    case v1::JOB_STATE_DONE:
      return "done";
    case v1::JOB_STATE_FAILED:
      return "failed";
    case v1::JOB_STATE_ABANDONED:
      return "abandoned";
    case v1::JOB_STATE_CANCELLED:
      return "cancelled";
    default:
      return "unknown";
  }
}

void ShowTasks(const std::string& stage, const char* state, int64_t count) {
  metrics::Gauge(metrics::kTasks, {{"stage", stage}, {"state", state}})
      .Set(static_cast<double>(count));
}

double SecondsSince(int64_t since_ms, int64_t now_ms) {
  return since_ms == 0 ? 0 : static_cast<double>(std::max<int64_t>(now_ms - since_ms, 0)) / 1000;
}

void ShowStage(const std::string& stage, const StageTasks& tasks, int64_t now_ms) {
  ShowTasks(stage, "ready", tasks.ready);
  ShowTasks(stage, "backing_off", tasks.backing_off);
  ShowTasks(stage, "waiting_for_host", tasks.waiting_for_host);
  ShowTasks(stage, "sharing", tasks.sharing);
  ShowTasks(stage, "leased", tasks.leased);
  ShowTasks(stage, "done", tasks.done);
  ShowTasks(stage, "failed", tasks.failed);
  metrics::Gauge(metrics::kOldestReady, {{"stage", stage}})
      .Set(SecondsSince(tasks.ready_since_ms, now_ms));
}

void ShowHostTasks(const std::string& host, const HostStats::Tasks& tasks) {
  metrics::Gauge(metrics::kHostTasks, {{"host", host}, {"state", "running"}})
      .Set(static_cast<double>(tasks.running));
  metrics::Gauge(metrics::kHostTasks, {{"host", host}, {"state", "waiting"}})
      .Set(static_cast<double>(tasks.waiting));
}

void ShowHosts(const HostStats& hosts) {
  static auto* const mutex = new absl::Mutex;  // a process may have several coordinators
  absl::MutexLock lock(mutex);
  static auto* const label = new metrics::BoundedLabel(50);
  static auto* const shown = new std::map<std::string, HostStats::Tasks>;
  for (auto& [host, tasks] : *shown) tasks = {};
  for (const auto& [host, tasks] : hosts.tasks) {
    HostStats::Tasks& sum = (*shown)[label->ValueFor(host)];
    sum.running += tasks.running;
    sum.waiting += tasks.waiting;
  }
  for (const auto& [host, tasks] : *shown) ShowHostTasks(host, tasks);
  metrics::Gauge(metrics::kPausedHosts).Set(static_cast<double>(hosts.paused));
}

void SetWorkers(const std::string& stage, const std::string& version, const char* state,
                int64_t count) {
  metrics::Gauge(metrics::kConnectedWorkers,
                 {{"stage", stage}, {"version", version}, {"state", state}})
      .Set(static_cast<double>(count));
}

void ShowGroup(const std::string& stage, const std::string& version,
               const StageWorkers::Group& group) {
  SetWorkers(stage, version, "idle", group.idle);
  SetWorkers(stage, version, "busy", group.busy);
  SetWorkers(stage, version, "silent", group.silent);
  metrics::Gauge(metrics::kWorkerSlots, {{"stage", stage}, {"version", version}})
      .Set(static_cast<double>(group.slots));
}

}  // namespace

void PrefillMetrics() {
  metrics::Prefill(metrics::kLeasesGranted);
  metrics::Prefill(metrics::kCompletions,
                   {{"outcome", {"done", "cached", "error", "handed_back", "stale", "refused"}}});
  PrefillObservations();
}

void CountLeases(size_t tasks) {
  static prometheus::Counter& granted = metrics::Counter(metrics::kLeasesGranted);
  granted.Increment(static_cast<double>(tasks));
}

void CountCompletion(const v1::Completion& completion, const absl::Status& status) {
  metrics::Counter(metrics::kCompletions, {{"outcome", OutcomeOf(completion, status)}}).Increment();
}

void ShowStats(const QueueStats& stats) {
  for (const v1::JobState state : {v1::JOB_STATE_RUNNING, v1::JOB_STATE_DONE, v1::JOB_STATE_FAILED,
                                   v1::JOB_STATE_ABANDONED, v1::JOB_STATE_CANCELLED}) {
    const auto at = stats.jobs.find(state);
    metrics::Gauge(metrics::kJobs, {{"state", StateName(state)}})
        .Set(at == stats.jobs.end() ? 0 : static_cast<double>(at->second));
  }
  for (const worker::StageInfo& info : worker::StageTable()) {
    const std::string stage(info.name);
    ShowStage(stage, stats.tasks[static_cast<size_t>(info.id)], stats.unix_ms);
  }
  ShowHosts(stats.hosts);
  metrics::Gauge(metrics::kOldestJob).Set(SecondsSince(stats.oldest_job_ms, stats.unix_ms));
  metrics::Gauge(metrics::kSuspectTasks).Set(static_cast<double>(stats.suspects));
  metrics::Gauge(metrics::kLeases).Set(static_cast<double>(stats.leases));
}

void ShowWorkers(const Scheduler::WorkerStats& stats) {
  for (const worker::StageInfo& info : worker::StageTable()) {
    const std::string stage(info.name);
    const auto i = static_cast<size_t>(info.id);
    ShowGroup(stage, std::to_string(info.version), stats.workers[i].same);
    ShowGroup(stage, "other", stats.workers[i].other);
    metrics::Gauge(metrics::kUnservedTasks, {{"stage", stage}})
        .Set(static_cast<double>(stats.unserved[i]));
  }
}

}  // namespace kernelmill::coordinator
