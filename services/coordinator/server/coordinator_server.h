#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/access/grants.h"
#include "services/coordinator/server/services.h"

namespace grpc {
class Service;
}

namespace kernelmill::coordinator {

// The coordinator whole, but for the socket: its state in a directory, the services Work and Crawl,
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
    CoordinatorLimits limits;
    absl::Duration job_retention = absl::ZeroDuration();
    // The store that is to keep what jobs need, host:port or unix:/path. Empty: none is told.
    std::string store;
    // Towards it; null without TLS.
    std::shared_ptr<grpc::ChannelCredentials> store_credentials;
    // Signs who may write which result; the store has the same. Null: no grants are given.
    std::shared_ptr<access::GrantKey> grants;
    // For an embedded cluster, which ends with its job: what had not ended before is ABANDONED, and
    // task results are not synced.
    bool abandon_unfinished = false;
  };

  // INVALID_ARGUMENT: an option is out of range; DATA_LOSS, FAILED_PRECONDITION,
  // RESOURCE_EXHAUSTED: see RocksDbStateStore.
  static absl::StatusOr<std::unique_ptr<CoordinatorServer>> Open(const Options& options);
  // The server that serves services() must have been shut down.
  ~CoordinatorServer();

  std::vector<grpc::Service*> services();

  // Lease and Watch answer UNAVAILABLE from now on, those that wait at once; all else goes on.
  void Drain();

  // OK, or why the state cannot be kept any more: then end the process and start it again.
  absl::Status status() const;

 private:
  struct Parts;
  explicit CoordinatorServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
