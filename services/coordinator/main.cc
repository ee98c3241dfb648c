// kernelmill-coordinator: accepts jobs and leases their tasks to workers.

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/config/server_flags.h"
#include "common/rpc/server.h"
#include "common/server_process/server_process.h"
#include "common/version/version.h"
#include "services/coordinator/server/coordinator_server.h"

namespace kernelmill {
namespace {

using coordinator::CoordinatorServer;

// Serves until a signal comes (OK) or the state cannot be kept any more.
absl::Status Serve(const config::ServerFlags& flags, CoordinatorServer::Options options,
                   rpc::TerminationSignal& termination) {
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

int Main(int argc, char** argv) {
  rpc::TerminationSignal termination;
  CLI::App app("Accepts crawl jobs, and leases their tasks to workers.", "kernelmill-coordinator");
  config::ServerFlags flags;
  flags.version = Version();
  flags.listen = "127.0.0.1:7070";
  flags.metrics = "127.0.0.1:8070";
  config::AddServerFlags(app, &flags);
  CoordinatorServer::Options options;
  app.add_option("--data", options.data_dir, "the folder that jobs and tasks are kept in")
      ->envname("KERNELMILL_DATA")
      ->required();
  double lease_ttl_seconds = 30;
  app.add_option("--lease-ttl-seconds", lease_ttl_seconds,
                 "how long a worker may be silent before its tasks go to another")
      ->envname("KERNELMILL_LEASE_TTL_SECONDS")
      ->check(CLI::Range(0.01, 86400.0))
      ->capture_default_str();
  app.add_option("--max-attempts", options.max_attempts, "attempts at a task before it has failed")
      ->envname("KERNELMILL_MAX_ATTEMPTS")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--crash-limit", options.crash_limit,
                 "how often a shard of files may end its worker before it is halved")
      ->envname("KERNELMILL_CRASH_LIMIT")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--host-limit", options.host_limit,
                 "sources of one git host that are fetched at a time; 0 for no limit")
      ->envname("KERNELMILL_HOST_LIMIT")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--max-jobs", options.max_unfinished_jobs,
                 "jobs that have not ended; a further one is refused")
      ->envname("KERNELMILL_MAX_JOBS")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--store", options.store,
                 "the store that is to keep what unfinished jobs use and kept datasets consist of")
      ->envname("KERNELMILL_STORE");
  double retention_hours = 0;
  app.add_option("--job-retention-hours", retention_hours,
                 "how long an ended job and its dataset are kept; 0 for ever")
      ->envname("KERNELMILL_JOB_RETENTION_HOURS")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  if (const auto exit_status = config::ParseFlags(app, argc, argv)) return *exit_status;
  ConfigureLog("coordinator", flags.log_level);
  // Results of ten thousand shards come in bursts, each on whichever thread serves it. With an
  // arena for every thread what is freed stays in most of them, and the memory doubles.
  mallopt(M_ARENA_MAX, 2);
  options.lease_ttl = absl::Seconds(lease_ttl_seconds);
  options.job_retention = absl::Hours(1) * retention_hours;
  return ServerExitStatus(Serve(flags, options, termination));
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) { return kernelmill::Main(argc, argv); }
