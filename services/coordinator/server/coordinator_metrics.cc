#include "services/coordinator/server/coordinator_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include <string>

#include "common/metrics/metrics.h"
#include "common/worker/stage_table.h"

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
    const auto at = stats.tasks.find(stage);
    const v1::StageProgress sum = at == stats.tasks.end() ? v1::StageProgress() : at->second;
    ShowTasks(stage, "done", sum.done());
    ShowTasks(stage, "failed", sum.failed());
    ShowTasks(stage, "leased", sum.running());
    ShowTasks(stage, "waiting", sum.total() - sum.done() - sum.failed() - sum.running());
  }
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
