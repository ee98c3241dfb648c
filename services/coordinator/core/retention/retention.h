#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETENTION_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETENTION_H_

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "common/cas/digest.h"
#include "services/coordinator/core/retention/retainer.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

// The jobs for which the store must hold blobs now.
struct HeldJobs {
  struct Dataset {
    std::string job;
    cas::Digest manifest;
  };
  std::vector<std::string> running;  // unfinished jobs
  std::vector<Dataset> datasets;     // datasets of jobs that are DONE and not deleted
};

// Keeps the store's holds consistent with the jobs, after any event: jobs were submitted, ended or
// deleted, the store was unreachable, or the coordinator was killed between two steps. Not
// thread-safe.
//
// The basic idea: the required holds are a function of the jobs. The existing holds are read from
// the store from time to time, and tracked in between. Each step applies the difference. A dataset
// is held before the hold of its run is released, and stays held while a retry runs, so that its
// blobs are protected at every moment.
//
// An unreachable store is retried with backoff. A store without holds is logged once, and then
// ignored.
class Retention {
 public:
  struct Options {
    absl::Duration run_ttl = absl::Hours(1);
    absl::Duration renew_every = absl::Minutes(5);
    absl::Duration read_holds_every = absl::Minutes(5);  // also after each failure
    absl::Duration look_every = absl::Seconds(1);        // the pause between two steps
    absl::Duration first_backoff = absl::Seconds(1);
    absl::Duration max_backoff = absl::Minutes(1);
  };
  using JobsNow = std::function<HeldJobs()>;

  // `retainer` and `clock` must outlive it. `jobs` is called in every step and should be fast.
  Retention(const Options& options, Retainer& retainer, JobsNow jobs, const Clock& clock)
      : options_(options), retainer_(retainer), jobs_(std::move(jobs)), clock_(clock) {}

  // Creates, renews and releases holds as the jobs require. Returns how long the next step can
  // wait.
  absl::Duration Step();

  // Ends the running step, and makes later ones do nothing. May be called from any thread.
  void Cancel() { retainer_.Cancel(); }

 private:
  absl::Status Reconcile();
  // Reads the holds from the store: it may have lost some (restored from a backup), and an earlier
  // process may have made others.
  absl::Status ReadHolds();
  // Holds the runs of unfinished jobs, and of jobs whose dataset is not held yet.
  absl::Status HoldRuns(const HeldJobs& jobs);
  absl::Status HoldDatasets(const HeldJobs& jobs);
  absl::Status ReleaseRest(const HeldJobs& jobs);
  // Returns whether the dataset is held or cannot be held.
  bool IsHeldOrLost(const HeldJobs::Dataset& dataset) const;
  // Decides about a failed call for one job. Returns OK if the error was logged and other jobs
  // continue; otherwise the step ends with the returned status.
  absl::Status StatusAfter(const absl::Status& status, const std::string& job) const;

  const Options options_;
  Retainer& retainer_;
  const JobsNow jobs_;
  const Clock& clock_;

  bool unsupported_ = false;
  Clock::Time read_holds_at_{};
  std::map<std::string, Clock::Time> runs_;        // held runs, and when to renew them
  std::map<std::string, cas::Digest> datasets_;    // held datasets; empty digest: not known yet
  std::map<std::string, cas::Digest> unholdable_;  // datasets that cannot be held, or only in part
  int failures_ = 0;                               // consecutive failures
  Clock::Time not_before_{};                       // the earliest time of the next try
};

// A thread that steps a Retention, so that a hanging store blocks nothing else. Thread-safe.
class RetentionThread {
 public:
  // `retention` must outlive it; only this thread may use it.
  explicit RetentionThread(Retention& retention);
  ~RetentionThread();

  // Steps now, because the jobs changed.
  void Wake() { changed_.Notify(); }

 private:
  void Run();

  Retention& retention_;
  Notifier changed_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETENTION_H_
