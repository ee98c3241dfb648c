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

// The facts about a job that the store's holds depend on (core/retention).
struct JobSummary {
  std::string job;
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  cas::Digest dataset;  // set if the job is DONE
};

// All jobs: the running ones, summaries of the ended ones, their ids, and the request ids that made
// them. It knows nothing about workers and leases. Every change goes into the caller's `Change`,
// which is then stored. Not thread-safe: the scheduler's mutex guards it.
class JobTable {
 public:
  struct Options {
    // The largest number of unfinished jobs, of all callers and of each. 0: no limit.
    int64_t max_unfinished_jobs = 1000;
    int64_t max_jobs_per_caller = 500;
    // The largest total size of their specs, likewise.
    int64_t max_queued_bytes = int64_t{128} << 20;
    int64_t max_queued_bytes_per_caller = int64_t{64} << 20;
    // While the unfinished jobs have more tasks than this, new jobs are refused.
    int64_t max_open_tasks = 4'000'000;
    // How long an ended job is kept. Zero: forever.
    absl::Duration retention = absl::ZeroDuration();
    // Ends the jobs that were unfinished when the process last exited as ABANDONED.
    bool abandon_unfinished = false;
  };

  // `store` must outlive it.
  JobTable(const Options& options, StateStore& store);

  // Loads the stored jobs. Call it once, first.
  absl::Status Load(Change& change);

  // Checks a submission. INVALID_ARGUMENT: the spec, the request id or the priority is invalid.
  static absl::Status CheckSubmission(const v1::JobSpec& spec, const std::string& request_id,
                                      int32_t priority);
  // The terms of a submission.
  struct Submission {
    std::string request_id;  // may be empty
    int32_t priority = 0;
    std::string caller;  // a key of CallerLimits
    bool no_cache = false;
  };
  // Starts a job for the caller and returns its id. If the request id is known, returns the job
  // that it made. RESOURCE_EXHAUSTED: the caller, or all callers, have too many unfinished jobs.
  absl::StatusOr<std::string> Submit(v1::JobSpec spec, const Submission& submission,
                                     Change& change);
  // Runs an ended job again, for the caller and with the pins of `lock`. `before` is its last
  // status, with its id.
  absl::Status RunAgain(const v1::JobStatus& before, v1::JobSpec lock, const std::string& caller,
                        bool no_cache, Change& change);
  // Restarts a running job with the pins that it has, and drops its tasks. Destroys `job`; the
  // caller must release its leases before.
  void BeginAgain(Job& job, Change& change);
  // Replaces a job that has ended by its summary. Destroys `job`.
  void End(Job& job, Change& change);
  // Deletes an ended job. FAILED_PRECONDITION: it is running.
  absl::Status Delete(uint32_t sequence, Change& change);
  // Deletes the ended jobs whose retention has expired.
  void DeleteOld(absl::Time now, Change& change);

  // Finds the sequence number of a job. NOT_FOUND: no such job.
  absl::StatusOr<uint32_t> FindSequence(const std::string& id) const;
  // Returns the caller that submitted a job that exists.
  const std::string& GetOwner(uint32_t sequence) const;
  // Finds a running job; null if it is not running.
  Job* Running(uint32_t sequence) const;
  bool HasEnded(uint32_t sequence) const { return ended_.count(sequence) > 0; }
  const std::map<uint32_t, std::unique_ptr<Job>>& running() const { return running_; }

  // Returns the commit ticket of the change that ended the job. Wait for it before telling a client
  // that the job ended. 0 until it is set, and for jobs that ended in an earlier process.
  uint64_t EndTicket(uint32_t sequence) const { return ended_.at(sequence).ticket; }
  void SetEndTicket(uint32_t sequence, uint64_t ticket);

  // Returns all jobs, the newest first, without failures and counters.
  std::vector<v1::JobStatus> List() const;
  std::vector<JobSummary> Summaries() const;
  // Adds the counts of jobs and tasks.
  void AddTo(QueueStats& stats) const;

 private:
  struct Ended {
    v1::JobStatus summary;
    uint64_t ticket = 0;
  };

  // The share of its caller's limits that an unfinished job takes.
  struct Room {
    access::CallerLimits::Place job, bytes;
    std::string caller;
  };

  // Loads one unfinished job.
  absl::Status Resume(JobRow row, Change& change);
  void Abandon(const JobRow& row, Change& change);
  void Start(JobRow row, Change& change);
  // Starts a job again. `row` has no status yet; `before` is the status of the previous run.
  void StartAgain(JobRow row, const v1::JobStatus& before, bool no_cache, Change& change);
  absl::Status CheckTasks() const;
  // Takes the job's share of the limits. RESOURCE_EXHAUSTED: a limit is reached.
  absl::StatusOr<Room> TakeRoom(const JobRow& row);
  std::string GetId(uint32_t sequence) const;
  // Deletes everything about an ended job.
  void Forget(uint32_t sequence, Change& change);

  const Options options_;
  StateStore& store_;
  access::CallerLimits job_limits_;
  access::CallerLimits byte_limits_;
  std::map<uint32_t, std::unique_ptr<Job>> running_;  // by sequence number
  std::map<uint32_t, Room> rooms_;                    // of running jobs
  std::map<uint32_t, Ended> ended_;
  std::map<std::string, uint32_t> requests_;
  std::map<std::string, uint32_t> ids_;
  uint32_t last_sequence_ = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_TABLE_H_
