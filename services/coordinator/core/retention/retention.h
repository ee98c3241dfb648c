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

// What the store is to hold at one moment.
struct HeldJobs {
  struct Dataset {
    std::string job;
    cas::Digest manifest;
  };
  std::vector<std::string> running;  // have not ended
  std::vector<Dataset> datasets;     // of the jobs that are DONE and not deleted
};

// Brings the store's holds in line with the jobs, whatever has happened to either: jobs that came,
// ended or were deleted, a store that was unreachable, a coordinator that was killed between two
// steps.
//
// The basic idea: what ought to be held is a function of the jobs, and what is held is asked of the
// store now and then, and known in between. Each step takes the difference. A dataset is held
// before the hold of the run that made it goes, and stays held while a retry runs, so that nothing
// of it is loose at any time.
//
// An unreachable store is tried again, with backoff; one that keeps no holds is said so in the log
// once, and left alone. Not thread-safe.
class Retention {
 public:
  struct Options {
    absl::Duration run_ttl = absl::Hours(1);
    absl::Duration renew_every = absl::Minutes(5);
    absl::Duration read_holds_every =
        absl::Minutes(5);  // and after each time that the store was unreachable
    absl::Duration look_every = absl::Seconds(1);  // at the jobs
    absl::Duration first_backoff = absl::Seconds(1);
    absl::Duration max_backoff = absl::Minutes(1);
  };
  using JobsNow = std::function<HeldJobs()>;

  // `retainer` and `clock` must outlive it. `jobs` is called in every step: it should be cheap.
  Retention(const Options& options, Retainer& retainer, JobsNow jobs, const Clock& clock)
      : options_(options), retainer_(retainer), jobs_(std::move(jobs)), clock_(clock) {}

  // Makes, renews and ends holds as the jobs need it now. Answers how long the next step can wait.
  absl::Duration Step();

  // Ends a step that is running, and makes later ones do nothing. From any thread.
  void Cancel() { retainer_.Cancel(); }

 private:
  absl::Status Reconcile();
  // Forgets holds that the store has lost (it may have been restored from a backup), and learns of
  // those that an earlier coordinator made.
  absl::Status ReadHolds();
  // Those that have not ended, and those whose dataset is still to be held.
  absl::Status HoldRuns(const HeldJobs& jobs);
  absl::Status HoldDatasets(const HeldJobs& jobs);
  absl::Status ReleaseRest(const HeldJobs& jobs);
  // It is held, or never will be.
  bool IsHeldOrLost(const HeldJobs::Dataset& dataset) const;
  // What to do about a hold that could not be made or ended: OK: nothing, it was logged; else the
  // step ends with this status.
  absl::Status StatusAfter(const absl::Status& status, const std::string& job) const;

  const Options options_;
  Retainer& retainer_;
  const JobsNow jobs_;
  const Clock& clock_;

  bool unsupported_ = false;
  Clock::Time read_holds_at_{};
  std::map<std::string, Clock::Time> runs_;      // held, and when to renew
  std::map<std::string, cas::Digest> datasets_;  // held; an empty digest: of a time before this one
  std::map<std::string, cas::Digest> unholdable_;  // datasets that cannot be held, or only in part
  int failures_ = 0;                               // one after the other
  Clock::Time not_before_{};                       // of the next try
};

// Steps a Retention on a thread of its own, for as long as it lives: a store that hangs holds up
// nothing else. Thread-safe.
class RetentionThread {
 public:
  // `retention` must outlive it, and be used by nobody else.
  explicit RetentionThread(Retention& retention);
  ~RetentionThread();

  // The jobs have changed: step now.
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
