// kernelmill-coordinator: accepts jobs and leases their tasks to workers.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/locks.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/flags/server_flags.h"
#include "common/rpc/server.h"
#include "common/server_process/server_process.h"
#include "common/version/version.h"
#include "services/coordinator/server/coordinator_server.h"

namespace kernelmill {
namespace {

using coordinator::CoordinatorServer;

// Serves until a signal comes (OK) or the state can no longer be stored.
absl::Status Serve(const flags::ServerFlags& flags, CoordinatorServer::Options options,
                   const std::string& grant_key, rpc::TerminationSignal& termination) {
  ASSIGN_OR_RETURN(options.grants, flags::OpenGrantKey(grant_key));
  ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> process, ServerProcess::Open(flags));
  options.store_credentials = process->client_credentials();
  ASSIGN_OR_RETURN(std::unique_ptr<CoordinatorServer> coordinator,
                   CoordinatorServer::Open(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<rpc::Server> server,
                   process->Serve(coordinator->services()));
  LogInfo("serving",
          {{"address", flags.listen}, {"port", server->port()}, {"data", options.data_dir}});
  while (!termination.WaitFor(absl::Milliseconds(500))) {
    if (!coordinator->status().ok()) break;
  }
  Drain(*server, absl::Seconds(flags.drain_seconds), [&coordinator] { coordinator->Drain(); });
  return coordinator->status();
}

// Adds the flags of the limits on callers. 0: no limit.
void AddLimitFlags(CLI::App& app, coordinator::CoordinatorLimits* limits) {
  const auto count = CLI::Range(int64_t{0}, int64_t{1'000'000});
  app.add_option("--max-jobs", limits->jobs, "unfinished jobs; further jobs are refused")
      ->envname("KERNELMILL_MAX_JOBS")
      ->check(count)
      ->capture_default_str();
  app.add_option("--max-jobs-per-caller", limits->jobs_per_caller, "the same limit for one caller")
      ->envname("KERNELMILL_MAX_JOBS_PER_CALLER")
      ->check(count)
      ->capture_default_str();
  flags::AsBytes(app.add_option("--max-queued-bytes", limits->queued_bytes,
                                "total size of the specs of unfinished jobs"))
      ->envname("KERNELMILL_MAX_QUEUED_BYTES")
      ->capture_default_str();
  flags::AsBytes(app.add_option("--max-queued-bytes-per-caller", limits->queued_bytes_per_caller,
                                "the same limit for one caller"))
      ->envname("KERNELMILL_MAX_QUEUED_BYTES_PER_CALLER")
      ->capture_default_str();
  app.add_option("--max-waiting-leases", limits->waiting_leases,
                 "worker calls that wait for a task")
      ->envname("KERNELMILL_MAX_WAITING_LEASES")
      ->check(count)
      ->capture_default_str();
  app.add_option("--max-waiting-leases-per-caller", limits->waiting_leases_per_caller,
                 "the same limit for one caller")
      ->envname("KERNELMILL_MAX_WAITING_LEASES_PER_CALLER")
      ->check(count)
      ->capture_default_str();
  app.add_option("--max-watches", limits->watches, "clients that watch a job")
      ->envname("KERNELMILL_MAX_WATCHES")
      ->check(count)
      ->capture_default_str();
  app.add_option("--max-watches-per-caller", limits->watches_per_caller,
                 "the same limit for one caller")
      ->envname("KERNELMILL_MAX_WATCHES_PER_CALLER")
      ->check(count)
      ->capture_default_str();
  app.add_option("--max-submits", limits->submits, "jobs that are being submitted at a time")
      ->envname("KERNELMILL_MAX_SUBMITS")
      ->check(count)
      ->capture_default_str();
  app.add_option("--max-submits-per-caller", limits->submits_per_caller,
                 "the same limit for one caller")
      ->envname("KERNELMILL_MAX_SUBMITS_PER_CALLER")
      ->check(count)
      ->capture_default_str();
  app.add_option("--max-running-tasks-per-caller", limits->running_tasks_per_caller,
                 "tasks of one caller's jobs that workers run at a time; 0: no limit")
      ->envname("KERNELMILL_MAX_RUNNING_TASKS_PER_CALLER")
      ->check(count)
      ->capture_default_str();
}

int Main(int argc, char** argv) {
  EndDeadlockSearch();
  rpc::TerminationSignal termination;
  CLI::App app("Accepts crawl jobs, and leases their tasks to workers.", "kernelmill-coordinator");
  flags::ServerFlags flags;
  flags.version = Version();
  flags.listen = "127.0.0.1:7070";
  flags.metrics = "127.0.0.1:8070";
  flags::AddServerFlags(app, &flags);
  std::string grant_key;
  flags::AddGrantKeyFlag(app, &grant_key);
  CoordinatorServer::Options options;
  app.add_option("--data", options.data_dir, "directory of the jobs and tasks")
      ->envname("KERNELMILL_DATA")
      ->required();
  flags::AddBackupFlags(app, &options.backups.dir, &options.backups.max_backups);
  double lease_ttl_seconds = 30;
  app.add_option("--lease-ttl-seconds", lease_ttl_seconds,
                 "how long a worker may be silent before its tasks are given to another")
      ->envname("KERNELMILL_LEASE_TTL_SECONDS")
      ->check(CLI::Range(0.01, 86400.0))
      ->capture_default_str();
  app.add_option("--max-attempts", options.max_attempts, "attempts after which a task fails")
      ->envname("KERNELMILL_MAX_ATTEMPTS")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--crash-limit", options.crash_limit,
                 "how often a shard of files may crash its worker before it is halved")
      ->envname("KERNELMILL_CRASH_LIMIT")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--host-limit", options.host_limit,
                 "sources of one git host to fetch at a time; 0 for no limit")
      ->envname("KERNELMILL_HOST_LIMIT")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  AddLimitFlags(app, &options.limits);
  app.add_option("--store", options.store,
                 "the store; it holds the blobs of unfinished jobs and of existing datasets")
      ->envname("KERNELMILL_STORE");
  double retention_hours = 0;
  app.add_option("--job-retention-hours", retention_hours,
                 "how long an ended job and its dataset are kept; 0 for no limit")
      ->envname("KERNELMILL_JOB_RETENTION_HOURS")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  if (const auto exit_status = flags::ParseFlags(app, argc, argv)) return *exit_status;
  ConfigureLog("coordinator", flags.log_level);
  options.lease_ttl = absl::Seconds(lease_ttl_seconds);
  options.job_retention = absl::Hours(1) * retention_hours;
  return ServerExitStatus(Serve(flags, options, grant_key, termination));
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) { return kernelmill::Main(argc, argv); }
