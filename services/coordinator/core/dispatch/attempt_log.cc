#include "services/coordinator/core/dispatch/attempt_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/base/text.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kMaxSourceBytes = 200;
constexpr int64_t kLongestUs = int64_t{366} * 24 * 3600 * 1'000'000;  // that is believed

// A worker may say anything.
v1::TaskTiming Believable(const v1::TaskTiming& told) {
  const auto within = [](int64_t us) { return std::clamp<int64_t>(us, 0, kLongestUs); };
  v1::TaskTiming timing;
  timing.set_waited_us(within(told.waited_us()));
  timing.set_lookup_us(within(told.lookup_us()));
  timing.set_run_us(within(told.run_us()));
  timing.set_store_us(within(told.store_us()));
  return timing;
}

const char* MessageOf(const AttemptEnd& end) {
  const absl::string_view outcome = end.outcome;
  if (outcome == "lost") return "attempt lost";
  if (outcome == "handed_back") return "task handed back";
  return end.error.ok() ? "task done" : "attempt failed";
}

}  // namespace

AttemptLog::Lines::~Lines() {
  for (const Line& line : lines_) {
    // A field that does not apply is there all the same, and empty: every line has the same ones.
    Log(line.level, line.message,
        {{"job", line.job},
         {"task", line.task},
         {"stage", StageInfoOf(line.stage).name},
         {"source", line.source},
         {"shard", line.shard},
         {"worker", line.worker},
         {"attempt", line.attempt},
         {"outcome", line.outcome == nullptr ? "" : line.outcome},
         {"error", line.error}});
  }
}

void AttemptLog::Add(LogLevel level, const char* message, const Job& job, uint32_t index,
                     const std::string& worker, const char* outcome, const absl::Status& error) {
  const Job::Task& task = *job.Find(index);
  lines_.push_back({.level = level,
                    .message = message,
                    .job = job.id(),
                    .source = job.SourceNameOf(index),
                    .worker = worker,
                    .error = error.ok() ? "" : error.ToString(),
                    .task = TaskId(job.sequence(), index),
                    .shard = task.key.shard,
                    .attempt = task.attempts + 1,
                    .stage = task.key.stage,
                    .outcome = outcome});
}

void AttemptLog::Leased(const Job& job, uint32_t index, const LeaseTerms& terms) {
  Add(LogLevel::kInfo, "task leased", job, index, terms.name, nullptr, absl::OkStatus());
}

void AttemptLog::Ended(const Job& job, uint32_t index, const LeaseTerms& terms,
                       const AttemptEnd& end, Change& change) {
  const LogLevel level = end.error.ok() ? LogLevel::kInfo : LogLevel::kWarning;
  Add(level, MessageOf(end), job, index, terms.name, end.outcome, end.error);
  v1::TaskSpan span = OpenSpan(job, index, &terms);
  span.set_ended_unix_ms(std::max({change.unix_ms, span.ready_unix_ms(), span.leased_unix_ms()}));
  span.set_outcome(end.outcome);
  if (end.timing.ByteSizeLong() > 0) *span.mutable_timing() = Believable(end.timing);
  change.spans.push_back(std::move(span));
}

void AttemptLog::Split(const Job& job, uint32_t index, const absl::Status& error) {
  Add(LogLevel::kWarning, "a shard is split", job, index, "", "split", error);
}

void AttemptLog::GivenUp(const Job& job, uint32_t index, const absl::Status& error) {
  Add(LogLevel::kWarning, "task given up", job, index, "", "failed", error);
}

v1::TaskSpan OpenSpan(const Job& job, uint32_t index, const LeaseTerms* terms) {
  const Job::Task& task = *job.Find(index);
  v1::TaskSpan span;
  span.set_task(TaskId(job.sequence(), index));
  span.set_stage(std::string(StageInfoOf(task.key.stage).name));
  span.set_source(ToUtf8(job.SourceNameOf(index).substr(0, kMaxSourceBytes)));
  span.set_attempt(task.attempts + 1);
  span.set_ready_unix_ms(job.ReadyAt(index));
  if (terms == nullptr) return span;
  span.set_worker(ToUtf8(terms->name));
  span.set_leased_unix_ms(terms->leased_unix_ms);
  span.set_outcome("running");
  return span;
}

}  // namespace kernelmill::coordinator
