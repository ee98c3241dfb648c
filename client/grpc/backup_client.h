#ifndef KERNELMILL_CLIENT_GRPC_BACKUP_CLIENT_H_
#define KERNELMILL_CLIENT_GRPC_BACKUP_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/grpc/retrying_caller.h"
#include "kernelmill/v1/coordinator.pb.h"
#include "kernelmill/v1/store.pb.h"

namespace grpc {
class Channel;
}

namespace kernelmill::client {

// A client of a server that backs itself up: the store (StoreClient) or the coordinator.
// Thread-safe.
class BackupClient {
 public:
  virtual ~BackupClient() = default;

  // FAILED_PRECONDITION: the server has no folder for backups.
  virtual absl::StatusOr<v1::BackupResponse> Backup(const std::string& name) = 0;
  virtual absl::StatusOr<v1::PruneBackupsResponse> PruneBackups(int keep,
                                                                absl::Duration max_age) = 0;
  // Ends the running calls and every later one.
  virtual void Interrupt() = 0;
};

// Makes the requests.
v1::BackupRequest ToBackupRequest(const std::string& name);
v1::PruneBackupsRequest ToPruneRequest(int keep, absl::Duration max_age);

class CoordinatorBackupClient : public BackupClient {
 public:
  virtual absl::StatusOr<v1::ListBackupsResponse> ListBackups() = 0;
};

// Makes a client of a coordinator. It repeats calls while the coordinator is out of reach.
std::unique_ptr<CoordinatorBackupClient> NewCoordinatorBackupClient(
    std::shared_ptr<grpc::Channel> channel, ReconnectOptions reconnect = {});

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_GRPC_BACKUP_CLIENT_H_
