#include "services/coordinator/core/dispatch/attempt_log.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/base/log.h"
#include "common/base/text.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kMaxSourceBytes = 200;
constexpr int64_t kLongestUs = int64_t{366} * 24 * 3600 * 1'000'000;  // the longest plausible time

// Clamps a worker's timing, which may be anything.
v1::TaskTiming Believable(const v1::TaskTiming& told) {
  const auto within = [](int64_t us) { return std::clamp<int64_t>(us, 0, kLongestUs); };
  v1::TaskTiming timing;
  timing.set_waited_us(within(told.waited_us()));
  timing.set_lookup_us(within(told.lookup_us()));
  timing.set_run_us(within(told.run_us()));
  timing.set_store_us(within(told.store_us()));
  return timing;
}

const char* GetMessage(const AttemptEnd& end) {
  const absl::string_view outcome = end.outcome;
  if (outcome == "lost") return "attempt lost";
  if (outcome == "handed_back") return "task handed back";
  return end.error.ok() ? "task done" : "attempt failed";
}

TaskRef MakeRef(const Job& job, uint32_t index) {
  return {job.Find(index)->key.stage, TaskId(job.sequence(), index), job.id()};
}

double SecondsBetween(int64_t begin_ms, int64_t end_ms) {
  return static_cast<double>(std::max<int64_t>(end_ms - begin_ms, 0)) / 1000;
}

LostBy WhyLost(const AttemptEnd& end) {
  if (absl::string_view(end.outcome) != "lost") return LostBy::kNot;
  if (absl::IsCancelled(end.error)) return LostBy::kCancelled;
  return absl::IsAborted(end.error) ? LostBy::kWorkerEnded : LostBy::kExpired;
}

// Returns the counters of the stages that decide the fate of files and kernels; null for others.
std::shared_ptr<const v1::StageResult> CopyDatasetCounters(StageId stage,
                                                           const v1::StageResult& result) {
  if (stage != StageId::kResolve && stage != StageId::kManifest) return nullptr;
  auto counted = std::make_shared<v1::StageResult>();
  *counted->mutable_counters() = result.counters();
  return counted;
}

}  // namespace

// Writes what was collected under the scheduler's mutex. A call declares its Lines before it locks,
// so that this runs after the unlock: writing a log may block.
AttemptLog::Lines::~Lines() {
  for (const Observation& observation : observations_) observer_->happened(observation);
  const LogBatch batch;
  for (const Line& line : lines_) {
    // Fields that do not apply are empty, so that every line has the same fields.
    Log(line.level, line.message,
        {{"job", line.job},
         {"task", line.task},
         {"stage", GetStageInfo(line.stage).name},
         {"source", line.source},
         {"shard", line.shard},
         {"worker", line.worker},
         {"attempt", line.attempt},
         {"outcome", line.outcome == nullptr ? "" : line.outcome},
         {"error", line.error}});
  }
}

void AttemptLog::Add(const Job& job, uint32_t index, const Step& step) {
  if (!Logs(step.level)) return;
  const Job::Task& task = *job.Find(index);
  lines_.push_back({.level = step.level,
                    .message = step.message,
                    .job = job.id(),
                    .source = job.GetSourceName(index),
                    .worker = std::string(step.worker),
                    .error = step.error.ok() ? "" : step.error.ToString(),
                    .task = TaskId(job.sequence(), index),
                    .shard = task.key.shard,
                    .attempt = task.attempts + 1,
                    .stage = task.key.stage,
                    .outcome = step.outcome});
}

void AttemptLog::Leased(const Job& job, uint32_t index, const LeaseTerms& terms) {
  Add(job, index, {LogLevel::kInfo, "task leased", terms.name});
  Observe(
      LeaseBegan{MakeRef(job, index), SecondsBetween(job.ReadyAt(index), terms.leased_unix_ms)});
}

// Reports the end of an attempt three times: as a log line, as an observation for the metrics, and
// as a span that is stored for the timeline. Clocks of two processes may disagree, so a span's end
// is never before its begin.
void AttemptLog::Ended(const Job& job, uint32_t index, const LeaseTerms& terms,
                       const AttemptEnd& end, Change& change) {
  const LogLevel level = end.error.ok() ? LogLevel::kInfo : LogLevel::kWarning;
  Add(job, index, {level, GetMessage(end), terms.name, end.outcome, end.error});
  v1::TaskSpan span = OpenSpan(job, index, &terms);
  span.set_ended_unix_ms(std::max({change.unix_ms, span.ready_unix_ms(), span.leased_unix_ms()}));
  span.set_outcome(end.outcome);
  if (terms.leased_unix_ms > 0) {
    Observe(LeaseOver{MakeRef(job, index),
                      SecondsBetween(terms.leased_unix_ms, span.ended_unix_ms()), WhyLost(end)});
  }
  if (end.timing.ByteSizeLong() > 0) *span.mutable_timing() = Believable(end.timing);
  change.spans.push_back(std::move(span));
}

void AttemptLog::Observe(Observation observation) {
  if (observer_ == nullptr || !observer_->happened) return;
  observations_.push_back(std::move(observation));
}

void AttemptLog::Decided(const Job& job, uint32_t index, const absl::Status& error, Next next) {
  Observe(ErrorTaken{job.Find(index)->key.stage, error.code(), next});
}

void AttemptLog::Succeeded(const Job& job, uint32_t index, Origin origin,
                           const v1::StageResult& result) {
  const StageId stage = job.Find(index)->key.stage;
  Observe(ResultTaken{stage, origin, CopyDatasetCounters(stage, result)});
}

void AttemptLog::Retried(const Job& job, uint32_t index, const absl::Status& error) {
  Decided(job, index, error, Next::kRetry);
}

void AttemptLog::FailedBefore(const Job& job, uint32_t index, const absl::Status& error) {
  Decided(job, index, error, Next::kFailed);
}

void AttemptLog::JobEnded(const v1::JobStatus& status) {
  Observe(
      JobOver{status.state(), SecondsBetween(status.submitted_unix_ms(), status.ended_unix_ms())});
}

void AttemptLog::Split(const Job& job, uint32_t index, const absl::Status& error) {
  Add(job, index, {LogLevel::kWarning, "task split", "", "split", error});
  Decided(job, index, error, Next::kSplit);
  if (job.CountItems(index) == 1) Observe(FileQuarantined{});
}

void AttemptLog::GivenUp(const Job& job, uint32_t index, const absl::Status& error) {
  Add(job, index, {LogLevel::kWarning, "task given up", "", "failed", error});
  Decided(job, index, error, Next::kFailed);
}

// Returns the span of an attempt that has not ended. `terms` is null for a task without a lease.
v1::TaskSpan OpenSpan(const Job& job, uint32_t index, const LeaseTerms* terms) {
  const Job::Task& task = *job.Find(index);
  v1::TaskSpan span;
  span.set_task(TaskId(job.sequence(), index));
  span.set_stage(std::string(GetStageInfo(task.key.stage).name));
  span.set_source(ToUtf8(job.GetSourceName(index).substr(0, kMaxSourceBytes)));
  span.set_attempt(task.attempts + 1);
  span.set_ready_unix_ms(job.ReadyAt(index));
  if (terms == nullptr) return span;
  span.set_worker(ToUtf8(terms->name));
  span.set_leased_unix_ms(terms->leased_unix_ms);
  span.set_outcome("running");
  return span;
}

}  // namespace kernelmill::coordinator
