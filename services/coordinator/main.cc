// kernelmill-coordinator: accepts jobs and leases their tasks to workers.

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/locks.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/flags/parser.h"
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
void AddLimitFlags(flags::Parser& parser, coordinator::CoordinatorLimits* limits) {
  constexpr int64_t kNone = 0;
  constexpr int64_t kMost = 1'000'000;
  parser.Add("--max-jobs", &limits->jobs, "unfinished jobs; further jobs are refused")
      .Variable("KERNELMILL_MAX_JOBS")
      .Range(kNone, kMost)
      .ShowDefault();
  parser.Add("--max-jobs-per-caller", &limits->jobs_per_caller, "the same limit for one caller")
      .Variable("KERNELMILL_MAX_JOBS_PER_CALLER")
      .Range(kNone, kMost)
      .ShowDefault();
  parser
      .Add("--max-queued-bytes", &limits->queued_bytes,
           "total size of the specs of unfinished jobs")
      .Bytes()
      .Variable("KERNELMILL_MAX_QUEUED_BYTES")
      .ShowDefault();
  parser
      .Add("--max-queued-bytes-per-caller", &limits->queued_bytes_per_caller,
           "the same limit for one caller")
      .Bytes()
      .Variable("KERNELMILL_MAX_QUEUED_BYTES_PER_CALLER")
      .ShowDefault();
  parser.Add("--max-waiting-leases", &limits->waiting_leases, "worker calls that wait for a task")
      .Variable("KERNELMILL_MAX_WAITING_LEASES")
      .Range(kNone, kMost)
      .ShowDefault();
  parser
      .Add("--max-waiting-leases-per-caller", &limits->waiting_leases_per_caller,
           "the same limit for one caller")
      .Variable("KERNELMILL_MAX_WAITING_LEASES_PER_CALLER")
      .Range(kNone, kMost)
      .ShowDefault();
  parser.Add("--max-watches", &limits->watches, "clients that watch a job")
      .Variable("KERNELMILL_MAX_WATCHES")
      .Range(kNone, kMost)
      .ShowDefault();
  parser
      .Add("--max-watches-per-caller", &limits->watches_per_caller, "the same limit for one caller")
      .Variable("KERNELMILL_MAX_WATCHES_PER_CALLER")
      .Range(kNone, kMost)
      .ShowDefault();
  parser.Add("--max-submits", &limits->submits, "jobs that are being submitted at a time")
      .Variable("KERNELMILL_MAX_SUBMITS")
      .Range(kNone, kMost)
      .ShowDefault();
  parser
      .Add("--max-submits-per-caller", &limits->submits_per_caller, "the same limit for one caller")
      .Variable("KERNELMILL_MAX_SUBMITS_PER_CALLER")
      .Range(kNone, kMost)
      .ShowDefault();
  parser
      .Add("--max-running-tasks-per-caller", &limits->running_tasks_per_caller,
           "tasks of one caller's jobs that workers run at a time; 0: no limit")
      .Variable("KERNELMILL_MAX_RUNNING_TASKS_PER_CALLER")
      .Range(kNone, kMost)
      .ShowDefault();
}

int Main(int argc, char** argv) {
  EndDeadlockSearch();
  rpc::TerminationSignal termination;
  flags::Parser parser("Accepts crawl jobs, and leases their tasks to workers.",
                       "kernelmill-coordinator");
  flags::ServerFlags flags;
  flags.version = Version();
  flags.listen = "127.0.0.1:7070";
  flags.metrics = "127.0.0.1:8070";
  flags::AddServerFlags(parser.app(), &flags);
  std::string grant_key;
  flags::AddGrantKeyFlag(parser.app(), &grant_key);
  CoordinatorServer::Options options;
  parser.Add("--data", &options.data_dir, "directory of the jobs and tasks")
      .Variable("KERNELMILL_DATA")
      .Required();
  flags::AddBackupFlags(parser.app(), &options.backups.dir, &options.backups.max_backups);
  double lease_ttl_seconds = 30;
  parser
      .Add("--lease-ttl-seconds", &lease_ttl_seconds,
           "how long a worker may be silent before its tasks are given to another")
      .Variable("KERNELMILL_LEASE_TTL_SECONDS")
      .Range(0.01, 86400.0)
      .ShowDefault();
  parser.Add("--max-attempts", &options.max_attempts, "attempts after which a task fails")
      .Variable("KERNELMILL_MAX_ATTEMPTS")
      .Range(1, 1000)
      .ShowDefault();
  parser
      .Add("--crash-limit", &options.crash_limit,
           "how often a shard of files may crash its worker before it is halved")
      .Variable("KERNELMILL_CRASH_LIMIT")
      .Range(1, 100)
      .ShowDefault();
  parser
      .Add("--host-limit", &options.host_limit,
           "sources of one git host to fetch at a time; 0 for no limit")
      .Variable("KERNELMILL_HOST_LIMIT")
      .Range(0, 1'000'000)
      .ShowDefault();
  AddLimitFlags(parser, &options.limits);
  parser
      .Add("--store", &options.store,
           "the store; it holds the blobs of unfinished jobs and of existing datasets")
      .Variable("KERNELMILL_STORE");
  double retention_hours = 0;
  parser
      .Add("--job-retention-hours", &retention_hours,
           "how long an ended job and its dataset are kept; 0 for no limit")
      .Variable("KERNELMILL_JOB_RETENTION_HOURS")
      .Range(0.0, 1e6)
      .ShowDefault();
  if (const auto exit_status = flags::ParseFlags(parser.app(), argc, argv)) return *exit_status;
  ConfigureLog("coordinator", flags.log_level);
  options.lease_ttl = absl::Seconds(lease_ttl_seconds);
  options.job_retention = absl::Hours(1) * retention_hours;
  return ServerExitStatus(Serve(flags, options, grant_key, termination));
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) { return kernelmill::Main(argc, argv); }
