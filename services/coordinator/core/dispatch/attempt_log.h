#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_ATTEMPT_LOG_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_ATTEMPT_LOG_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/log.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/dispatch/lease_table.h"
#include "services/coordinator/core/jobs/job.h"
#include "services/coordinator/core/state/observation.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// The end of an attempt at a task.
struct AttemptEnd {
  const char* outcome = "done";  // see TaskSpan.outcome
  absl::Status error{};          // OK: it did not fail
  v1::TaskTiming timing{};       // measured by the worker
};

// A record of what happens to each task, for people and metrics: a log line for every step, with
// the same field names as in the workers' logs (job, task, stage, worker, attempt, error); a span
// of the job's timeline for every ended attempt; and observations. No decision depends on it.
//
// It is called under the scheduler's lock, so it only collects lines and observations. The
// scheduler takes them (MoveTo) and writes them after it has released the lock. Not thread-safe.
class AttemptLog {
 public:
  struct Line {
    LogLevel level;
    const char* message;
    std::string job, source, worker, error;
    uint64_t task;
    int32_t shard, attempt;
    StageId stage;
    const char* outcome;  // null: the attempt continues
  };
  // Collected lines and observations; the destructor writes them.
  class Lines {
   public:
    Lines() = default;
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines();

   private:
    friend class AttemptLog;
    std::vector<Line> lines_;
    std::vector<Observation> observations_;
    const Observer* observer_ = nullptr;
  };

  // `observer` must outlive this and its lines. May be null.
  explicit AttemptLog(const Observer* observer = nullptr) : observer_(observer) {}

  void Leased(const Job& job, uint32_t index, const LeaseTerms& terms);
  // Notes the end of the task's current attempt and adds its span to `change`. Call it before the
  // job is changed.
  void Ended(const Job& job, uint32_t index, const LeaseTerms& terms, const AttemptEnd& end,
             Change& change);
  // Takes the last Ended() back, because the result turned out to be invalid.
  void Retract(Change& change) {
    lines_.pop_back();
    change.spans.pop_back();
    if (!observations_.empty() && std::holds_alternative<LeaseOver>(observations_.back())) {
      observations_.pop_back();
    }
  }
  // Notes that the task is done. Call it before the job may end.
  void Succeeded(const Job& job, uint32_t index, Origin origin, const v1::StageResult& result);
  // Note the decision after an attempt that failed or was lost. Splitting a single item quarantines
  // it.
  void Retried(const Job& job, uint32_t index, const absl::Status& error);
  void Split(const Job& job, uint32_t index, const absl::Status& error);
  void GivenUp(const Job& job, uint32_t index, const absl::Status& error);
  // Notes that the task failed without an attempt, because of its source's pin history.
  void FailedBefore(const Job& job, uint32_t index, const absl::Status& error);
  void JobEnded(const v1::JobStatus& status);

  // Moves the collected lines and observations to `lines`.
  void MoveTo(Lines& lines) {
    lines.lines_.swap(lines_);
    lines.observations_.swap(observations_);
    lines.observer_ = observer_;
  }

 private:
  // A step of a task, as its line says it.
  struct Step {
    LogLevel level;
    const char* message;
    absl::string_view worker;
    const char* outcome = nullptr;  // null: the attempt continues
    absl::Status error{};           // OK: it did not fail
  };
  void Add(const Job& job, uint32_t index, const Step& step);

  void Observe(Observation observation);
  void Decided(const Job& job, uint32_t index, const absl::Status& error, Next next);

  const Observer* const observer_;
  std::vector<Line> lines_;
  std::vector<Observation> observations_;
};

// Makes the span of the task's current attempt, which runs, or waits if `terms` is null.
v1::TaskSpan OpenSpan(const Job& job, uint32_t index, const LeaseTerms* terms);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_ATTEMPT_LOG_H_
