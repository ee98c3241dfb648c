#include "services/coordinator/server/observations.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "common/metrics/exemplars.h"
#include "common/metrics/metrics.h"
#include "common/worker/stage_metrics.h"
#include "common/worker/stage_table.h"

namespace kernelmill::coordinator {
namespace {

using worker::StageId;

constexpr std::array<const char*, 4> kOrigins = {"run", "cache", "shared", "history"};
constexpr std::array<const char*, 3> kNexts = {"retry", "split", "failed"};
constexpr std::array<const char*, 3> kLostBy = {"expired", "worker_ended", "cancelled"};
constexpr std::chrono::milliseconds kExemplarPause(100);

// A histogram by stage, with an exemplar now and then: thousands of tasks may begin in a second.
class StageTimes {
 public:
  StageTimes(const metrics::Family& family, const std::string& stage)
      : family_(family), labels_({{"stage", stage}}), times_(metrics::Histogram(family, labels_)) {}

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

// What is counted for every task, looked up once.
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

StageInstruments& Of(StageId stage) {
  static const auto* const all = [] {
    auto* const made = new std::vector<std::unique_ptr<StageInstruments>>;
    for (int i = 0; i < worker::kStageCount; ++i) {
      made->push_back(std::make_unique<StageInstruments>(
          std::string(worker::StageInfoOf(static_cast<StageId>(i)).name)));
    }
    return made;
  }();
  return *(*all)[static_cast<size_t>(stage)];
}

const char* NameOf(v1::JobState state) {
  if (state == v1::JOB_STATE_DONE) return "done";
  return state == v1::JOB_STATE_CANCELLED ? "cancelled" : "failed";
}

struct Count {
  void operator()(const LeaseBegan& began) const {
    Of(began.task.stage).queue.Observe(began.task, began.ready_seconds);
  }
  void operator()(const LeaseOver& over) const {
    StageInstruments& stage = Of(over.task.stage);
    stage.lease.Observe(over.task, over.seconds);
    if (over.lost != LostBy::kNot) stage.lost[static_cast<size_t>(over.lost) - 1]->Increment();
  }
  void operator()(const ResultTaken& taken) const {
    Of(taken.stage).results[static_cast<size_t>(taken.origin)]->Increment();
    if (taken.dataset != nullptr) worker::CountDataset(taken.stage, *taken.dataset);
  }
  void operator()(const ErrorTaken& error) const {
    metrics::Counter(metrics::kTaskErrors,
                     {{"stage", std::string(worker::StageInfoOf(error.stage).name)},
                      {"code", absl::StatusCodeToString(error.code)},
                      {"next", kNexts[static_cast<size_t>(error.next)]}})
        .Increment();
  }
  void operator()(const FileQuarantined&) const {
    metrics::Counter(metrics::kQuarantinedFiles).Increment();
  }
  void operator()(const JobOver& job) const {
    metrics::Counter(metrics::kJobsEnded, {{"state", NameOf(job.state)}}).Increment();
    metrics::Histogram(metrics::kJobSeconds, {{"state", NameOf(job.state)}}).Observe(job.seconds);
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
  Of(StageId::kPin);  // and with it those of all stages
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
