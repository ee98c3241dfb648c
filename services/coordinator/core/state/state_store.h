#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_STATE_STORE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_STATE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "services/coordinator/core/plan/plan.h"
#include "services/coordinator/core/plan/task.h"

namespace kernelmill::coordinator {

// A task's id: its job's sequence number in the upper 32 bits, its place in the job (from 1) in the
// lower.
inline uint64_t TaskId(uint32_t job, uint32_t index) { return uint64_t{job} << 32 | index; }
inline uint32_t JobOf(uint64_t task) { return static_cast<uint32_t>(task >> 32); }
inline uint32_t IndexOf(uint64_t task) { return static_cast<uint32_t>(task); }

enum class TaskState : uint8_t {
  kReady = 0,
  kLeased = 1,
  kDone = 2,
  kFailed = 3,
  kSplit = 4,  // the halves of its sub-shard have taken its place
};

// A task as it is kept.
struct TaskRow {
  uint64_t id = 0;
  TaskKey key;
  TaskState state = TaskState::kReady;
  bool cached = false;    // DONE: the result came from the action cache
  uint32_t attempts = 0;  // that ended without a result
  // 0: none. Else its worker ended in the middle of it: once in company, and further times when it
  // ran alone. It runs alone from then on.
  uint8_t crashes = 0;
  // LEASED: of the lease. Else: of the last completion that was taken; 0 is none.
  uint64_t token = 0;
  v1::StageResult result;  // of DONE
  absl::Status error;      // of FAILED and SPLIT; else of the last attempt, OK if there was none
};

struct JobRow {
  uint32_t sequence = 0;
  std::string request_id;  // empty: none
  std::string caller;      // who submitted it, as access::CallerLimits knows callers; may be empty
  std::string plan;        // the stage versions that its tasks were planned with
  v1::JobSpec spec;        // with defaults; the pins of an earlier run in a job that runs again
  v1::JobStatus status;    // as it was submitted, or as it ended
};

// A spec in parts that each fit into a message: all but the sources, then these, some at a time, in
// order. Merged they are the spec.
std::vector<v1::JobSpec> PartsOf(v1::JobSpec spec);

// How a job ended. A job may have 100,000 sources: `status` is what answers tell of it, and stays
// small; the rest is read in parts.
struct EndedJob {
  uint32_t sequence = 0;
  v1::JobStatus status;               // with its first failures
  std::vector<TaskFailure> failures;  // all, in order
  std::vector<v1::JobSpec> lock;      // the spec with its pins, in parts; none: it was abandoned
};

// How the last attempt to pin a git repository's ref went.
struct PinRecord {
  std::string git, ref;  // as the source has them
  absl::Time when;       // by the wall clock, in whole seconds
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string commit;  // if OK
};

// What changes together: all of it is kept, or nothing.
struct Change {
  int64_t unix_ms = 0;            // when, by the wall clock: for timelines
  std::vector<JobRow> jobs;       // new ones, or replanned
  std::vector<uint32_t> erased;   // jobs whose tasks are all dropped, before `tasks` are put
  std::vector<uint32_t> deleted;  // jobs of which nothing stays
  std::vector<EndedJob> ended;
  std::vector<TaskRow> tasks;
  std::vector<PinRecord> pins;
  // Attempts that ended. One takes the place of an earlier one at the same task with the same
  // number, which was handed back.
  std::vector<v1::TaskSpan> spans;

  bool empty() const {
    return jobs.empty() && erased.empty() && deleted.empty() && ended.empty() && tasks.empty() &&
           pins.empty() && spans.empty();
  }
};

// Where the coordinator's state outlives it. Write is called by one thread at a time; the rest is
// thread-safe. Implementations: adapters/rocksdb, and a fake in core/testing.
class StateStore {
 public:
  virtual ~StateStore() = default;

  // Keeps the changes, in order and atomically. `sync`: they survive a loss of power once this
  // returns; else a crash of the process only. After an error nothing more may be written.
  virtual absl::Status Write(const std::vector<Change>& changes, bool sync) = 0;

  // All jobs by sequence, without their specs, which may be large; the status of an ended one
  // without failures and counters.
  virtual absl::StatusOr<std::vector<JobRow>> Jobs() = 0;
  // The largest sequence number that a job ever had, deleted ones included.
  virtual absl::StatusOr<uint32_t> LastSequence() = 0;
  // Passes a job's tasks by id, until there is none or `visit` returns false.
  virtual absl::Status ForEachTask(uint32_t job, absl::FunctionRef<bool(const TaskRow&)> visit) = 0;
  // Likewise the attempts that ended, by task, from that one on, and number.
  virtual absl::Status ForEachSpan(uint64_t first_task,
                                   absl::FunctionRef<bool(const v1::TaskSpan&)> visit) = 0;
  // The spec of a job, ended or not. NOT_FOUND: no such job.
  virtual absl::StatusOr<v1::JobSpec> Spec(uint32_t job) = 0;
  // As the job was submitted, or as it ended. NOT_FOUND: no such job, no such task.
  virtual absl::StatusOr<v1::JobStatus> Status(uint32_t job) = 0;
  // At most `limit` failures of an ended job: from the first, or those after `after` unless it is
  // null.
  virtual absl::StatusOr<std::vector<TaskFailure>> Failures(uint32_t job, const TaskKey* after,
                                                            size_t limit) = 0;
  // Passes the parts of an ended job's lock, until there is no more or `visit` returns false.
  // Nothing is passed where it has none.
  virtual absl::Status ForEachLockPart(uint32_t job,
                                       absl::FunctionRef<bool(const v1::JobSpec&)> visit) = 0;
  virtual absl::StatusOr<TaskRow> Task(uint64_t id) = 0;
  // NOT_FOUND: nobody tried to pin the ref.
  virtual absl::StatusOr<PinRecord> LastPin(const std::string& git, const std::string& ref) = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_STATE_STORE_H_
