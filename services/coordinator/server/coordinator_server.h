#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_SERVER_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/access/grants.h"
#include "common/rocksdb/backups.h"
#include "services/coordinator/server/services.h"

namespace grpc {
class Service;
}

namespace kernelmill::coordinator {

// The coordinator without its socket. Owns the state in its directory, the services Work and Crawl,
// and the thread that takes back leases. Used by main() and by the embedded cluster. Thread-safe.
class CoordinatorServer {
 public:
  struct Options {
    std::string data_dir;
    absl::Duration lease_ttl = absl::Seconds(30);
    int max_attempts = 5;
    absl::Duration retry_backoff = absl::Seconds(1);  // Outcomes::Options
    int crash_limit = 3;                              // likewise
    int host_limit = 4;
    bool share_slots = true;  // Dispatcher::Options
    CoordinatorLimits limits;
    BackupOptions backups;
    absl::Duration job_retention = absl::ZeroDuration();
    // The store that holds the blobs of jobs, host:port or unix:/path. Empty: no holds are made.
    std::string store;
    // The credentials for the store; null without TLS.
    std::shared_ptr<grpc::ChannelCredentials> store_credentials;
    // Signs grants; the store has the same key. Null: tasks get no grants.
    std::shared_ptr<access::GrantKey> grants;
    // For an embedded cluster, which ends with its job: earlier unfinished jobs are ABANDONED, and
    // completions are not synced.
    bool abandon_unfinished = false;
  };

  // Opens the coordinator. INVALID_ARGUMENT: an option is out of range. DATA_LOSS,
  // FAILED_PRECONDITION, RESOURCE_EXHAUSTED: see RocksDbStateStore.
  static absl::StatusOr<std::unique_ptr<CoordinatorServer>> Open(const Options& options);
  // The server that serves services() must be shut down before.
  ~CoordinatorServer();

  std::vector<grpc::Service*> services();

  // Makes Lease and Watch return UNAVAILABLE, also the waiting calls, and ends backups; everything
  // else continues.
  void Drain();

  // OK, or the error with which the state could no longer be stored; the process must then restart.
  absl::Status status() const;

 private:
  struct Parts;
  explicit CoordinatorServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
