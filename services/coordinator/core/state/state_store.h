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

// The id of a task has its job's sequence number in the upper 32 bits, and its index in the job
// (from 1) in the lower 32 bits.
inline uint64_t TaskId(uint32_t job, uint32_t index) { return uint64_t{job} << 32 | index; }
inline uint32_t TaskJob(uint64_t task) { return static_cast<uint32_t>(task >> 32); }
inline uint32_t TaskIndex(uint64_t task) { return static_cast<uint32_t>(task); }

enum class TaskState : uint8_t {
  kReady = 0,
  kLeased = 1,
  kDone = 2,
  kFailed = 3,
  kSplit = 4,  // replaced by the halves of its sub-shard
};

// A stored task.
struct TaskRow {
  uint64_t id = 0;
  TaskKey key;
  TaskState state = TaskState::kReady;
  bool cached = false;    // DONE: the result is from the action cache
  uint32_t attempts = 0;  // attempts that ended without a result
  // Crashes of its worker: 1 for any number of crashes in company, plus 1 for each crash while it
  // ran alone. After a crash the task always runs alone.
  uint8_t crashes = 0;
  // LEASED: the lease's token. Otherwise the token of the last completion that was taken; 0: none.
  uint64_t token = 0;
  v1::StageResult result;  // DONE: the result
  absl::Status error;      // FAILED, SPLIT: the reason. Otherwise the last attempt's error, or OK
};

// A stored job.
struct JobRow {
  uint32_t sequence = 0;
  std::string request_id;  // empty: none
  // The caller whose limits the job takes from (access::CallerLimits): its owner, or the operator
  // who retried it. May be empty.
  std::string caller;
  std::string plan;      // the PlanFingerprint of its tasks
  v1::JobSpec spec;      // with defaults, and in a retried job with the pins of the earlier run
  v1::JobStatus status;  // the status at submission or at the end
};

// Splits a spec into parts that each fit into a message: first everything except the sources, then
// the sources in order. Merging the parts gives the spec.
std::vector<v1::JobSpec> SplitSpec(v1::JobSpec spec);

// The end of a job. A job may have 100,000 sources, so `status` is small and the rest is read in
// parts.
struct EndedJob {
  uint32_t sequence = 0;
  v1::JobStatus status;               // with its first failures
  std::vector<TaskFailure> failures;  // all failures, in order
  std::vector<v1::JobSpec> lock;      // the spec with its pins, in parts; empty: abandoned
};

// The last attempt to pin a ref of a git repository.
struct PinRecord {
  std::string git, ref;  // the fields of the source
  absl::Time when;       // wall clock, in whole seconds
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string commit;  // set if `code` is OK
};

// A set of changes that is stored atomically.
struct Change {
  int64_t unix_ms = 0;            // the time of the change, wall clock; for timelines
  std::vector<JobRow> jobs;       // new or replanned jobs
  std::vector<uint32_t> erased;   // jobs whose tasks are all deleted, before `tasks` are written
  std::vector<uint32_t> deleted;  // jobs that are deleted completely
  std::vector<EndedJob> ended;
  std::vector<TaskRow> tasks;
  std::vector<PinRecord> pins;
  // Ended attempts. An attempt replaces an earlier one of the same task and number, which was
  // handed back.
  std::vector<v1::TaskSpan> spans;

  bool empty() const {
    return jobs.empty() && erased.empty() && deleted.empty() && ended.empty() && tasks.empty() &&
           pins.empty() && spans.empty();
  }
};

// The port to the durable state of the coordinator. Only one thread at a time may call Write; the
// other calls are thread-safe. Implementations: adapters/rocksdb, and a fake in core/testing.
class StateStore {
 public:
  virtual ~StateStore() = default;

  // Stores the changes, in order and atomically. They survive a crash of the process, and with
  // `sync` also a loss of power. After an error, Write must not be called again.
  virtual absl::Status Write(const std::vector<Change>& changes, bool sync) = 0;

  // Returns all jobs by sequence, without their specs, which may be large. The status of an ended
  // job has no failures and counters.
  virtual absl::StatusOr<std::vector<JobRow>> Jobs() = 0;
  // Returns the largest sequence number ever used, also by deleted jobs.
  virtual absl::StatusOr<uint32_t> LastSequence() = 0;
  // Passes a job's tasks, by id, until `visit` returns false.
  virtual absl::Status ForEachTask(uint32_t job, absl::FunctionRef<bool(const TaskRow&)> visit) = 0;
  // Passes the ended attempts of the job, by task (from `first_task` on) and number, until `visit`
  // returns false.
  virtual absl::Status ForEachSpan(uint64_t first_task,
                                   absl::FunctionRef<bool(const v1::TaskSpan&)> visit) = 0;
  // Returns the spec of a job, ended or not. NOT_FOUND: no such job.
  virtual absl::StatusOr<v1::JobSpec> Spec(uint32_t job) = 0;
  // Returns the status at the job's submission or end. NOT_FOUND: no such job.
  virtual absl::StatusOr<v1::JobStatus> Status(uint32_t job) = 0;
  // Returns at most `limit` failures of an ended job after `after` (null: from the first).
  virtual absl::StatusOr<std::vector<TaskFailure>> Failures(uint32_t job, const TaskKey* after,
                                                            size_t limit) = 0;
  // Passes the parts of an ended job's lock, if it has one, until `visit` returns false.
  virtual absl::Status ForEachLockPart(uint32_t job,
                                       absl::FunctionRef<bool(const v1::JobSpec&)> visit) = 0;
  // Returns a task. NOT_FOUND: no such task.
  virtual absl::StatusOr<TaskRow> Task(uint64_t id) = 0;
  // Returns the last attempt to pin the ref. NOT_FOUND: no attempt.
  virtual absl::StatusOr<PinRecord> LastPin(const std::string& git, const std::string& ref) = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_STATE_STORE_H_
