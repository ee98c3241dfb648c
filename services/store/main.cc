// kernelmill-store: a content-addressed store and action cache with the Remote Execution API v2.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/base/locks.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/flags/parser.h"
#include "common/flags/server_flags.h"
#include "common/rpc/readiness.h"
#include "common/rpc/server.h"
#include "common/server_process/server_process.h"
#include "common/text/safe_text.h"
#include "common/version/version.h"
#include "services/store/server/store_server.h"

namespace kernelmill {
namespace {

struct Flags {
  flags::ServerFlags server = {
      .version = Version(), .listen = "127.0.0.1:7071", .metrics = "127.0.0.1:8071"};
  store::StoreServer::Options store;
  std::string grant_key;
};

// Each flag has an environment variable, so that a container needs no command line.
void AddFlags(flags::Parser& parser, Flags* flags) {
  parser.Add("--data", &flags->store.data_dir, "directory of the database")
      .Variable("KERNELMILL_DATA")
      .Required();
  parser
      .Add("--cache-bytes", &flags->store.block_cache_bytes,
           "memory for the database's index and filters, e.g. 512MB")
      .Bytes()
      .Variable("KERNELMILL_CACHE_BYTES")
      .ShowDefault();
  parser
      .Add("--max-blob-bytes", &flags->store.limits.max_blob_bytes,
           "largest blob that clients may store")
      .Bytes()
      .Variable("KERNELMILL_MAX_BLOB_BYTES")
      .ShowDefault();
  parser
      .Add("--limit-bytes", &flags->store.retention.limit_bytes,
           "disk space for the database, e.g. 200GB; the least recently used "
           "content is evicted first. At least 16MiB; 0: no limit")
      .Bytes()
      .Variable("KERNELMILL_LIMIT_BYTES")
      .ShowDefault();
  parser
      .Add("--keep-free-bytes", &flags->store.retention.keep_free_bytes,
           "space that stays free on the disk; with less, writes fail. 0: "
           "write until the disk is full")
      .Bytes()
      .Variable("KERNELMILL_KEEP_FREE_BYTES")
      .ShowDefault();
  parser
      .Add("--max-uploads-per-caller", &flags->store.uploads.max_open_per_caller,
           "open uploads of one caller (without TLS: of one host) at a time")
      .Variable("KERNELMILL_MAX_UPLOADS_PER_CALLER")
      .Range(1, 256)
      .ShowDefault();
  parser
      .Add("--max-upload-bytes-per-caller", &flags->store.uploads.max_bytes_per_caller,
           "total size of one caller's open uploads")
      .Bytes()
      .Variable("KERNELMILL_MAX_UPLOAD_BYTES_PER_CALLER")
      .ShowDefault();
  flags::AddBackupFlags(parser.app(), &flags->store.backups.dir, &flags->store.backups.max_backups);
  flags::AddGrantKeyFlag(parser.app(), &flags->grant_key);
  flags::AddServerFlags(parser.app(), &flags->server);
}

// The error with which the database's log broke; setting it wakes main(). Thread-safe.
class LogFailure {
 public:
  void Set(const absl::Status& status) {
    {
      absl::MutexLock lock(&mutex_);
      status_ = status;
    }
    kill(getpid(), SIGTERM);  // wakes main
  }
  absl::Status status() const {
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  mutable absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// Serves until a signal comes, then drains. If the database's log breaks, the process exits at
// once: no write succeeds any more, and a restart recovers from the disk.
absl::Status Serve(Flags flags, rpc::TerminationSignal& signal) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> process, ServerProcess::Open(flags.server));
  ASSIGN_OR_RETURN(flags.store.grants, flags::OpenGrantKey(flags.grant_key));
  LogFailure failure;
  flags.store.on_broken_log = [&failure](const absl::Status& status) { failure.Set(status); };
  ASSIGN_OR_RETURN(const std::unique_ptr<store::StoreServer> store,
                   store::StoreServer::Open(flags.store));
  ASSIGN_OR_RETURN(const std::unique_ptr<rpc::Server> server, process->Serve(store->services()));
  const rpc::Readiness readiness(*server, [&store] { return store->HasRoom(); });
  LogInfo("serving", {{"listen", flags.server.listen},
                      {"port", server->port()},
                      {"metrics", flags.server.metrics},
                      {"data", flags.store.data_dir}});
  signal.Wait();
  absl::Status broken = failure.status();
  Drain(*server, broken.ok() ? absl::Seconds(flags.server.drain_seconds) : absl::ZeroDuration(),
        [&store] { store->Drain(); });
  return broken;
}

// Prints what the repair kept and lost. Returns the exit status: 1 if anything was damaged.
int PrintRepair(const store::RepairReport& report) {
  std::string text;
  for (const std::string& damage : report.damage)
    absl::StrAppend(&text, "damaged: ", SafeLine(damage), "\n");
  absl::StrAppend(&text, "kept: blobs ", report.blobs, ", bytes ", report.blob_bytes, ", results ",
                  report.results, ", holds ", report.holds, "\n");
  if (report.results_forgotten)
    absl::StrAppend(&text, "forgotten: all results; stages run again\n");
  for (const store::BlobId& id : report.lost) absl::StrAppend(&text, "lost: ", ToString(id), "\n");
  absl::StrAppend(&text, "lost blobs: ", report.lost_blobs,
                  "; `kernelmill retry JOB` makes those of a job again\n",
                  "old files: ", report.old_files,
                  "; remove them when they are no longer needed\n");
  std::fputs(text.c_str(), stdout);
  return report.lost_blobs == 0 && report.damage.empty() ? 0 : 1;
}

int Repair(const Flags& flags) {
  const absl::StatusOr<store::RepairReport> report =
      store::StoreServer::Repair(flags.store.data_dir);
  if (!report.ok()) return ServerExitStatus(report.status());
  return PrintRepair(*report);
}

int Main(int argc, char** argv) {
  EndDeadlockSearch();
  rpc::TerminationSignal signal;  // first, so that later threads inherit the blocked signals
  flags::Parser parser("kernelmill's content store: blobs and action results over gRPC (REAPI v2)",
                       "kernelmill-store");
  Flags flags;
  AddFlags(parser, &flags);
  parser.AddCommand("repair",
                    "make a new database of what can be read of a damaged one, and say what is "
                    "lost; no store may run on --data");
  if (const auto exit_status = flags::ParseFlags(parser.app(), argc, argv)) return *exit_status;
  ConfigureLog("store", flags.server.log_level);
  if (parser.HasCommand("repair")) return Repair(flags);
  return ServerExitStatus(Serve(flags, signal));
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) { return kernelmill::Main(argc, argv); }
