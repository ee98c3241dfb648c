#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_TABLE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/access/caller_limits.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "services/coordinator/core/jobs/job.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// What the store's holds depend on (core/retention).
struct JobSummary {
  std::string job;
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  cas::Digest dataset;  // of a DONE job
};

// All jobs: those that run, what is left of those that have ended, their ids, and the requests that
// made them. Knows nothing of workers and leases.
//
// Every change goes into the `Change` that the caller hands in, to be stored. Not thread-safe: the
// scheduler's mutex guards it.
class JobTable {
 public:
  struct Options {
    // Jobs that have not ended, of all callers and of each; a further one is refused. 0: no limit.
    int64_t max_unfinished_jobs = 1000;
    int64_t max_jobs_per_caller = 500;
    // Bytes of their specs, likewise.
    int64_t max_queued_bytes = int64_t{128} << 20;
    int64_t max_queued_bytes_per_caller = int64_t{64} << 20;
    // Tasks of these jobs; a further job is refused while there are more.
    int64_t max_open_tasks = 4'000'000;
    // How long an ended job is kept. Zero: for ever.
    absl::Duration retention = absl::ZeroDuration();
    // Jobs that had not ended when the state was last closed end as ABANDONED.
    bool abandon_unfinished = false;
  };

  // `store` must outlive it.
  JobTable(const Options& options, StateStore& store);

  // Takes up the jobs that are stored. Call once, before all else.
  absl::Status Load(Change& change);

  // INVALID_ARGUMENT: the spec, the request id or the priority is wrong.
  static absl::Status CheckSubmission(const v1::JobSpec& spec, const std::string& request_id,
                                      int32_t priority);
  // Starts a job for the caller, as CallerLimits knows it; returns its id. Nothing happens if the
  // request id is known: the answer is the job that it made. RESOURCE_EXHAUSTED: too much has not
  // ended, of this caller or of all.
  absl::StatusOr<std::string> Submit(v1::JobSpec spec, const std::string& request_id,
                                     int32_t priority, const std::string& caller, bool no_cache,
                                     Change& change);
  // Starts an ended job anew, for the caller and with the pins of `lock`. `before` is its status as
  // it ended.
  absl::Status RunAgain(uint32_t sequence, const v1::JobStatus& before, v1::JobSpec lock,
                        const std::string& caller, bool no_cache, Change& change);
  // Drops what the running job did, and begins it once more with the pins that it has. `job` is
  // gone; its leases are the caller's to release before.
  void BeginAgain(Job& job, Change& change);
  // The job, which has ended, is kept as its summary from now on, and `job` is gone.
  void End(Job& job, Change& change);
  // FAILED_PRECONDITION: it is running.
  absl::Status Delete(uint32_t sequence, Change& change);
  // Deletes the ended jobs whose retention is over.
  void DeleteOld(absl::Time now, Change& change);

  // NOT_FOUND: no such job.
  absl::StatusOr<uint32_t> SequenceOf(const std::string& id) const;
  // Null: it does not run.
  Job* Running(uint32_t sequence) const;
  bool HasEnded(uint32_t sequence) const { return ended_.count(sequence) > 0; }
  const std::map<uint32_t, std::unique_ptr<Job>>& running() const { return running_; }

  // The ticket of the change that ended the job, for whoever tells that it has: 0 until it is set,
  // and for jobs that ended in an earlier run of the coordinator.
  uint64_t EndTicket(uint32_t sequence) const { return ended_.at(sequence).ticket; }
  void SetEndTicket(uint32_t sequence, uint64_t ticket);

  // The newest first, without failures and counters.
  std::vector<v1::JobStatus> List() const;
  std::vector<JobSummary> Summaries() const;
  // Adds the jobs and their tasks.
  void AddTo(QueueStats& stats) const;

 private:
  struct Ended {
    v1::JobStatus summary;
    uint64_t ticket = 0;
  };

  // What a job that has not ended takes of its caller's room.
  struct Room {
    access::CallerLimits::Place job, bytes;
    std::string caller;
  };

  // Takes up one job that had not ended.
  absl::Status Resume(JobRow row, Change& change);
  void Abandon(const JobRow& row, Change& change);
  void Start(JobRow row, Change& change);
  // `row` lacks a status; `before` is the one of the run before.
  void StartAgain(JobRow row, const v1::JobStatus& before, bool no_cache, Change& change);
  absl::Status CheckTasks() const;
  // The room that the job needs. RESOURCE_EXHAUSTED: there is not as much.
  absl::StatusOr<Room> TakeRoom(const JobRow& row);
  std::string IdOf(uint32_t sequence) const;
  // Drops all that is known of an ended job.
  void Forget(uint32_t sequence, Change& change);

  const Options options_;
  StateStore& store_;
  access::CallerLimits job_limits_;
  access::CallerLimits byte_limits_;
  std::map<uint32_t, std::unique_ptr<Job>> running_;  // by sequence number
  std::map<uint32_t, Room> rooms_;                    // of the running
  std::map<uint32_t, Ended> ended_;
  std::map<std::string, uint32_t> requests_;
  std::map<std::string, uint32_t> ids_;
  uint32_t last_sequence_ = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_TABLE_H_
