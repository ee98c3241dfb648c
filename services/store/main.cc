// kernelmill-store: a content-addressed store and action cache that speaks the Remote Execution API
// v2.

#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/flags/grant_key_flag.h"
#include "common/flags/server_flags.h"
#include "common/rpc/readiness.h"
#include "common/rpc/server.h"
#include "common/server_process/server_process.h"
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

void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("--data", flags->store.data_dir, "the directory that holds the blobs")
      ->envname("KERNELMILL_DATA")
      ->required();
  flags::AsBytes(app.add_option("--cache-bytes", flags->store.block_cache_bytes,
                                "memory for the index and filters of the database, e.g. 512MB"))
      ->envname("KERNELMILL_CACHE_BYTES")
      ->capture_default_str();
  flags::AsBytes(app.add_option("--max-blob-bytes", flags->store.limits.max_blob_bytes,
                                "the largest blob that is taken"))
      ->envname("KERNELMILL_MAX_BLOB_BYTES")
      ->capture_default_str();
  flags::AsBytes(app.add_option("--limit-bytes", flags->store.retention.limit_bytes,
                                "what the database may take on the disk, e.g. 200GB; what was "
                                "used least recently goes first. 0: no limit"))
      ->envname("KERNELMILL_LIMIT_BYTES")
      ->capture_default_str();
  flags::AsBytes(app.add_option("--keep-free-bytes", flags->store.retention.keep_free_bytes,
                                "room to leave free on the disk: with less, nothing is written "
                                "until there is more. 0: until the disk is full"))
      ->envname("KERNELMILL_KEEP_FREE_BYTES")
      ->capture_default_str();
  app.add_option("--max-uploads-per-caller", flags->store.uploads.max_open_per_caller,
                 "uploads that one caller, or without TLS one host, may have open at a time")
      ->envname("KERNELMILL_MAX_UPLOADS_PER_CALLER")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  flags::AsBytes(app.add_option("--max-upload-bytes-per-caller",
                                flags->store.uploads.max_bytes_per_caller,
                                "what they may come to together"))
      ->envname("KERNELMILL_MAX_UPLOAD_BYTES_PER_CALLER")
      ->capture_default_str();
  app.add_option("--backups", flags->store.backups.dir,
                 "a directory that backups may be written to; none are without it")
      ->envname("KERNELMILL_BACKUPS");
  app.add_option("--max-backups", flags->store.backups.max_backups,
                 "backups that there may be; a further one is refused")
      ->envname("KERNELMILL_MAX_BACKUPS")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  flags::AddGrantKeyFlag(app, &flags->grant_key);
  flags::AddServerFlags(app, &flags->server);
}

// Why the log of the database broke. Thread-safe.
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

// Keeps freed memory for the next request instead of giving pages of it back and faulting them in
// again: a fifth of the time of a large transfer. Few arenas, so that it is not kept many times
// over.
void TuneAllocator() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_ARENA_MAX, 4);
}

// Serves until a signal comes, then lets what is in flight finish.
// A log that can no longer be synced ends the process: nothing is acknowledged from then on, and a
// restart reads what is on the disk.
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
  const absl::Status broken = failure.status();
  Drain(*server, broken.ok() ? absl::Seconds(flags.server.drain_seconds) : absl::ZeroDuration(),
        [&store] { store->Drain(); });
  if (broken.ok()) LogInfo("stopped");
  return broken;
}

int Main(int argc, char** argv) {
  TuneAllocator();
  rpc::TerminationSignal signal;  // first: the threads of what follows inherit the blocked signals
  CLI::App app("kernelmill's content store: blobs and action results over gRPC (REAPI v2)",
               "kernelmill-store");
  Flags flags;
  AddFlags(app, &flags);
  if (const auto exit_status = flags::ParseFlags(app, argc, argv)) return *exit_status;
  ConfigureLog("store", flags.server.log_level);
  return ServerExitStatus(Serve(flags, signal));
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) { return kernelmill::Main(argc, argv); }
