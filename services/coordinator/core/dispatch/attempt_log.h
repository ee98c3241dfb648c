#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_ATTEMPT_LOG_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_ATTEMPT_LOG_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "common/base/log.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/dispatch/lease_table.h"
#include "services/coordinator/core/jobs/job.h"
#include "services/coordinator/core/state/observation.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// How an attempt at a task ended; as TaskSpan.outcome has them.
struct AttemptEnd {
  const char* outcome = "done";
  absl::Status error{};     // OK: it did not fail
  v1::TaskTiming timing{};  // as the worker measured it
};

// What happens to each task, for people and metrics: a line of the log for every step, with the
// same names as in the workers' logs (job, task, stage, worker, attempt, error), and a span of the
// job's timeline for every attempt that ended, and observations. Nothing is decided by it.
//
// Called under the scheduler's lock, under which no line is written and nothing observed: they are
// gathered, and the scheduler takes them to hand them on once it has let go of the lock. Not
// thread-safe.
class AttemptLog {
 public:
  struct Line {
    LogLevel level;
    const char* message;
    std::string job, source, worker, error;
    uint64_t task;
    int32_t shard, attempt;
    StageId stage;
    const char* outcome;  // null: it goes on
  };
  // Lines and observations that are handed on when they go.
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

  // `observer` must outlive this and its lines; null: nobody observes.
  explicit AttemptLog(const Observer* observer = nullptr) : observer_(observer) {}

  void Leased(const Job& job, uint32_t index, const LeaseTerms& terms);
  // The attempt that the task is at has ended; call it before the job is told. The span goes into
  // `change`.
  void Ended(const Job& job, uint32_t index, const LeaseTerms& terms, const AttemptEnd& end,
             Change& change);
  // Takes the last Ended() back: what came was no result, and nobody was told.
  void Retract(Change& change) {
    lines_.pop_back();
    change.spans.pop_back();
    if (!observations_.empty() && std::holds_alternative<LeaseOver>(observations_.back())) {
      observations_.pop_back();
    }
  }
  // The task is done. Call it before the job may end.
  void Succeeded(const Job& job, uint32_t index, Origin origin, const v1::StageResult& result);
  // What was decided after an attempt that failed or was lost. Split: of one file, it is
  // quarantined.
  void Retried(const Job& job, uint32_t index, const absl::Status& error);
  void Split(const Job& job, uint32_t index, const absl::Status& error);
  void GivenUp(const Job& job, uint32_t index, const absl::Status& error);
  // The task has failed from the beginning: its source's history says so.
  void FailedBefore(const Job& job, uint32_t index, const absl::Status& error);
  void JobEnded(const v1::JobStatus& status);

  // Hands over what was gathered.
  void MoveTo(Lines& lines) {
    lines.lines_.swap(lines_);
    lines.observations_.swap(observations_);
    lines.observer_ = observer_;
  }

 private:
  void Add(LogLevel level, const char* message, const Job& job, uint32_t index,
           const std::string& worker, const char* outcome, const absl::Status& error);

  void Observe(Observation observation);
  void Decided(const Job& job, uint32_t index, const absl::Status& error, Next next);

  const Observer* const observer_;
  std::vector<Line> lines_;
  std::vector<Observation> observations_;
};

// The task's next attempt, which waits or runs, as a span; `terms` null: it waits.
v1::TaskSpan OpenSpan(const Job& job, uint32_t index, const LeaseTerms* terms);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_ATTEMPT_LOG_H_
