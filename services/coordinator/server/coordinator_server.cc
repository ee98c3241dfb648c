#include "services/coordinator/server/coordinator_server.h"

#include <atomic>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/notifier.h"
#include "common/base/status.h"
#include "common/rocksdb/backup.h"
#include "common/rpc/server.h"
#include "services/coordinator/adapters/rocksdb/rocksdb_state_store.h"
#include "services/coordinator/adapters/store/store_retainer.h"
#include "services/coordinator/core/retention/retention.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/core/state/clock.h"
#include "services/coordinator/server/coordinator_metrics.h"
#include "services/coordinator/server/services.h"

namespace kernelmill::coordinator {
namespace {

// The interval of checks for expired leases.
constexpr absl::Duration kTick = absl::Milliseconds(50);
constexpr int kTicksPerStats = 20;
constexpr int kTicksPerCleaning = 20 * 60;

// Checks the options that do not come from the command line, and repeats the bounds of those that
// do. INVALID_ARGUMENT names the option.
absl::Status CheckOptions(const CoordinatorServer::Options& options) {
  if (options.data_dir.empty()) return absl::InvalidArgumentError("data_dir: must not be empty");
  if (options.lease_ttl < absl::Milliseconds(10) || options.lease_ttl > absl::Hours(24)) {
    return absl::InvalidArgumentError("lease_ttl: must be 10 ms to 24 h");
  }
  if (options.max_attempts < 1)
    return absl::InvalidArgumentError("max_attempts: must be at least 1");
  if (options.crash_limit < 1 || options.crash_limit > 100) {
    return absl::InvalidArgumentError("crash_limit: must be 1 to 100");
  }
  if (options.host_limit < 0) return absl::InvalidArgumentError("host_limit: must not be negative");
  const CoordinatorLimits& limits = options.limits;
  for (const int64_t limit :
       {limits.jobs, limits.jobs_per_caller, limits.queued_bytes, limits.queued_bytes_per_caller,
        limits.waiting_leases, limits.waiting_leases_per_caller, limits.watches,
        limits.watches_per_caller, limits.submits, limits.submits_per_caller,
        limits.running_tasks_per_caller}) {
    if (limit < 0) return absl::InvalidArgumentError("limits: must not be negative");
  }
  if (options.retry_backoff < absl::ZeroDuration() || options.retry_backoff > absl::Hours(1)) {
    return absl::InvalidArgumentError("retry_backoff: must be 0 to 1 h");
  }
  return absl::OkStatus();
}

}  // namespace

// The parts of a running coordinator, in the order in which they depend on each other: a part uses
// only those above it, so that destruction in reverse order is safe.
//
// Threads: gRPC's threads call the services, the ticker calls the scheduler every kTick, and the
// retention thread calls JobsToHold. The scheduler's own mutex orders them.
struct CoordinatorServer::Parts {
  Clock clock;
  std::unique_ptr<RocksDbStateStore> store;
  std::atomic<bool> draining{false};
  std::unique_ptr<Backups> backups;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<WorkService> work;
  std::unique_ptr<CrawlService> crawl;
  std::unique_ptr<CoordinatorService> operation;
  std::unique_ptr<Retainer> retainer;
  std::unique_ptr<Retention> retention;
  std::unique_ptr<RetentionThread> retention_thread;
  std::atomic<bool> stopping{false};
  Notifier stop;
  std::thread ticker;

  // Returns the jobs whose blobs the store must keep: everything that a running job uses, and the
  // dataset of a job that is done. Failed, abandoned and cancelled jobs hold nothing.
  HeldJobs JobsToHold() const {
    HeldJobs jobs;
    for (JobSummary& job : scheduler->JobSummaries()) {
      if (job.state == v1::JOB_STATE_RUNNING) jobs.running.push_back(std::move(job.job));
      if (job.state == v1::JOB_STATE_DONE) {
        jobs.datasets.push_back({std::move(job.job), std::move(job.dataset)});
      }
    }
    return jobs;
  }

  absl::Status StartRetention(const Options& options) {
    if (options.store.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::string owner, store->OwnerName());
    retainer = NewStoreRetainer(rpc::Connect(options.store, options.store_credentials), owner);
    retention = std::make_unique<Retention>(
        Retention::Options(), *retainer, [this] { return JobsToHold(); }, clock);
    retention_thread = std::make_unique<RetentionThread>(*retention);
    return absl::OkStatus();
  }

  // Runs in the ticker's thread: lease expiry on every tick, metrics once a second, deletion of old
  // jobs once a minute.
  void RunTicker() {
    for (int tick = 0; !stopping; ++tick) {
      scheduler->Tick();
      if (tick % kTicksPerStats == 0) {
        ShowStats(scheduler->Stats());
        ShowWorkers(scheduler->CountWorkers());
      }
      if (tick % kTicksPerCleaning == 0) {
        // The owner checks status().
        scheduler->DeleteOldJobs(absl::Now()).IgnoreError();
      }
      stop.WaitFor(0, kTick);
    }
  }
};

absl::StatusOr<std::unique_ptr<CoordinatorServer>> CoordinatorServer::Open(const Options& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  auto parts = std::make_unique<Parts>();
  ASSIGN_OR_RETURN(parts->store, RocksDbStateStore::Open(options.data_dir));
  // The database is open and locked from here on, so a second coordinator with the same directory
  // fails before it can lease a task.
  Scheduler::Options scheduling;
  scheduling.dispatch.lease_ttl = absl::ToChronoNanoseconds(options.lease_ttl);
  scheduling.outcomes.max_attempts = options.max_attempts;
  scheduling.outcomes.retry_backoff = absl::ToChronoNanoseconds(options.retry_backoff);
  scheduling.outcomes.crash_limit = options.crash_limit;
  scheduling.dispatch.host_limit = options.host_limit;
  scheduling.dispatch.leased_per_owner = options.limits.running_tasks_per_caller;
  scheduling.dispatch.share_slots = options.share_slots;
  scheduling.jobs.max_unfinished_jobs = options.limits.jobs;
  scheduling.jobs.max_jobs_per_caller = options.limits.jobs_per_caller;
  scheduling.jobs.max_queued_bytes = options.limits.queued_bytes;
  scheduling.jobs.max_queued_bytes_per_caller = options.limits.queued_bytes_per_caller;
  scheduling.jobs.retention = options.job_retention;
  scheduling.jobs.abandon_unfinished = options.abandon_unfinished;
  scheduling.observer = MetricsObserver();
  scheduling.sync_completions = !options.abandon_unfinished;
  PrefillMetrics();
  ASSIGN_OR_RETURN(parts->scheduler, Scheduler::Open(scheduling, *parts->store, parts->clock));
  parts->work = std::make_unique<WorkService>(*parts->scheduler, options.limits, options.grants);
  parts->crawl = std::make_unique<CrawlService>(*parts->scheduler, options.limits);
  parts->backups = std::make_unique<Backups>(options.backups, kCoordinatorDatabase,
                                             [raw = parts.get()](const std::string& dir) {
                                               return raw->store->BackUp(dir, raw->draining);
                                             });
  parts->operation = std::make_unique<CoordinatorService>(*parts->backups);
  RETURN_IF_ERROR(parts->StartRetention(options));
  Parts* const raw = parts.get();
  parts->ticker = std::thread([raw] { raw->RunTicker(); });
  return std::unique_ptr<CoordinatorServer>(new CoordinatorServer(std::move(parts)));
}

CoordinatorServer::CoordinatorServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

// The threads end first, because they use the scheduler and the store.
CoordinatorServer::~CoordinatorServer() {
  parts_->retention_thread.reset();
  parts_->stopping = true;
  parts_->stop.Notify();
  parts_->ticker.join();
}

std::vector<grpc::Service*> CoordinatorServer::services() {
  return {parts_->work.get(), parts_->crawl.get(), parts_->operation.get()};
}

void CoordinatorServer::Drain() {
  parts_->draining = true;
  parts_->scheduler->Drain();
}

absl::Status CoordinatorServer::status() const { return parts_->scheduler->status(); }

}  // namespace kernelmill::coordinator
