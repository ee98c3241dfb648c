#include "services/coordinator/server/coordinator_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "common/metrics/metrics.h"
#include "common/worker/stage_table.h"
#include "common/worker/worker_metrics.h"

namespace kernelmill::coordinator {
namespace {

// Returns the label of a completion. FAILED_PRECONDITION comes from a lease that its worker no
// longer holds; every other error means that the coordinator refused the completion.
const char* GetOutcome(const v1::Completion& completion, const absl::Status& status) {
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

// Returns how long ago `since_ms` was; 0 if the time is unknown (0) or in the future.
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

// Sets the gauges of each host. The hosts come from job specs, so BoundedLabel keeps the first 50
// and sums up the rest under one label; otherwise a job could create any number of time series. A
// gauge stays in the process once it exists, so a host that has no more tasks is set to 0.
void ShowHosts(const HostStats& hosts) {
  static auto* const mutex = new absl::Mutex;  // for several coordinators in one process
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

// The version labels are this build's version of the stage and "other", which bounds the number of
// series during an update.
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
  metrics::Counter(metrics::kCompletions, {{"outcome", GetOutcome(completion, status)}})
      .Increment();
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

namespace {

using worker::StageId;

// The labels in the order of the enums Origin, Next and LostBy; LostBy begins with kNot, which has
// no label.
constexpr std::array<const char*, 4> kOrigins = {"run", "cache", "shared", "history"};
constexpr std::array<const char*, 3> kNexts = {"retry", "split", "failed"};
constexpr std::array<const char*, 3> kLostBy = {"expired", "worker_ended", "cancelled"};
constexpr std::chrono::milliseconds kExemplarPause(100);

// A histogram of one stage, with few exemplars, since thousands of tasks may begin in a second.
class StageTimes {
 public:
  StageTimes(const metrics::Family& family, const std::string& stage)
      : family_(family), labels_({{"stage", stage}}), times_(metrics::Histogram(family, labels_)) {}

  // Counts the time. At most one thread in each kExemplarPause also stores the task as an exemplar:
  // the one whose compare_exchange moves the time of the next exemplar.
  void Observe(const TaskRef& task, double seconds) {
    times_.Observe(seconds);
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    int64_t next = next_exemplar_;
    const int64_t after = now + std::chrono::nanoseconds(kExemplarPause).count();
    if (now < next || !next_exemplar_.compare_exchange_strong(next, after)) return;
    metrics::Exemplars::OfProcess().Put(
        family_, labels_, {task.job, std::to_string(task.task), seconds, absl::Now()});
  }

 private:
  const metrics::Family& family_;
  const metrics::Labels labels_;
  prometheus::Histogram& times_;
  std::atomic<int64_t> next_exemplar_{0};
};

// The instruments of a stage that are used for every task, looked up once.
struct StageInstruments {
  explicit StageInstruments(const std::string& stage)
      : queue(metrics::kQueueSeconds, stage), lease(metrics::kLeaseSeconds, stage) {
    for (size_t i = 0; i < kOrigins.size(); ++i) {
      results[i] =
          &metrics::Counter(metrics::kResults, {{"stage", stage}, {"origin", kOrigins[i]}});
    }
    for (size_t i = 0; i < kLostBy.size(); ++i) {
      lost[i] = &metrics::Counter(metrics::kLeasesLost, {{"stage", stage}, {"reason", kLostBy[i]}});
    }
  }

  StageTimes queue, lease;
  std::array<prometheus::Counter*, kOrigins.size()> results{};
  std::array<prometheus::Counter*, kLostBy.size()> lost{};
};

StageInstruments& GetInstruments(StageId stage) {
  static const auto* const all = [] {
    auto* const made = new std::vector<std::unique_ptr<StageInstruments>>;
    for (int i = 0; i < worker::kStageCount; ++i) {
      made->push_back(std::make_unique<StageInstruments>(
          std::string(worker::GetStageInfo(static_cast<StageId>(i)).name)));
    }
    return made;
  }();
  return *(*all)[static_cast<size_t>(stage)];
}

const char* ToName(v1::JobState state) {
  if (state == v1::JOB_STATE_DONE) return "done";
  return state == v1::JOB_STATE_CANCELLED ? "cancelled" : "failed";
}

// A visitor that counts each kind of observation. The scheduler calls it without its mutex
// (AttemptLog::Lines), from any thread.
struct Count {
  void operator()(const LeaseBegan& began) const {
    GetInstruments(began.task.stage).queue.Observe(began.task, began.ready_seconds);
  }
  void operator()(const LeaseOver& over) const {
    StageInstruments& stage = GetInstruments(over.task.stage);
    stage.lease.Observe(over.task, over.seconds);
    if (over.lost != LostBy::kNot) stage.lost[static_cast<size_t>(over.lost) - 1]->Increment();
  }
  void operator()(const ResultTaken& taken) const {
    GetInstruments(taken.stage).results[static_cast<size_t>(taken.origin)]->Increment();
    if (taken.dataset != nullptr) worker::CountDataset(taken.stage, *taken.dataset);
  }
  void operator()(const ErrorTaken& error) const {
    metrics::Counter(metrics::kTaskErrors,
                     {{"stage", std::string(worker::GetStageInfo(error.stage).name)},
                      {"code", absl::StatusCodeToString(error.code)},
                      {"next", kNexts[static_cast<size_t>(error.next)]}})
        .Increment();
  }
  void operator()(const FileQuarantined&) const {
    metrics::Counter(metrics::kQuarantinedFiles).Increment();
  }
  void operator()(const JobOver& job) const {
    metrics::Counter(metrics::kJobsEnded, {{"state", ToName(job.state)}}).Increment();
    metrics::Histogram(metrics::kJobSeconds, {{"state", ToName(job.state)}}).Observe(job.seconds);
  }
};

}  // namespace

Observer MetricsObserver() {
  prometheus::Histogram& commits = metrics::Histogram(metrics::kCommitSeconds);
  return {.happened = [](const Observation& observation) { std::visit(Count(), observation); },
          .synced = [&commits](double seconds) { commits.Observe(seconds); }};
}

void PrefillObservations() {
  std::vector<std::string> stages;
  for (const worker::StageInfo& info : worker::StageTable()) stages.emplace_back(info.name);
  GetInstruments(StageId::kPin);  // creates those of all stages
  metrics::Prefill(metrics::kTaskErrors,
                   {{"stage", stages},
                    {"code",
                     {"UNAVAILABLE", "NOT_FOUND", "INTERNAL", "RESOURCE_EXHAUSTED",
                      "DEADLINE_EXCEEDED", "INVALID_ARGUMENT", "DATA_LOSS", "ABORTED"}},
                    {"next", {kNexts.begin(), kNexts.end()}}});
  metrics::Prefill(metrics::kQuarantinedFiles);
  const std::vector<std::string> states = {"done", "failed", "cancelled"};
  metrics::Prefill(metrics::kJobsEnded, {{"state", states}});
  metrics::Prefill(metrics::kJobSeconds, {{"state", states}});
  worker::PrefillDataset();
}

}  // namespace kernelmill::coordinator
