#ifndef KERNELMILL_SERVICES_STORE_SERVER_STORE_SERVER_H_
#define KERNELMILL_SERVICES_STORE_SERVER_STORE_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/access/grants.h"
#include "common/rpc/stall_guard.h"
#include "services/store/core/content_store.h"
#include "services/store/core/garbage_collector.h"
#include "services/store/core/uploads.h"
#include "services/store/server/backups.h"
#include "services/store/server/store_metrics.h"

namespace grpc {
class Service;
}

namespace kernelmill::store {

// The content store as gRPC services: ContentAddressableStorage, ActionCache, Capabilities,
// ByteStream and our own Store over a database of its own. Thread-safe.
class StoreServer {
 public:
  struct Options {
    std::string data_dir;  // made if it is not there; one process at a time
    size_t block_cache_bytes = 64 << 20;
    BackupOptions backups;
    std::shared_ptr<access::GrantKey> grants;  // null: who writes a result needs no grant
    Limits limits;
    RetentionOptions retention;
    GarbageCollector::Options collector;
    // Called once, from any thread, when the database's log can no longer be synced: nothing is
    // acknowledged from then on. May be null.
    std::function<void(const absl::Status&)> on_broken_log;
    Uploads::Options uploads;
    rpc::StallGuard::Options streams;
  };

  // FAILED_PRECONDITION: another process has data_dir open, a program of another format wrote it,
  // or a restore did not come to its end; INVALID_ARGUMENT: the limits contradict each other;
  // DATA_LOSS: the database is damaged.
  static absl::StatusOr<std::unique_ptr<StoreServer>> Open(const Options& options);
  ~StoreServer();

  // Makes in `data_dir`, which is made if it is not there, the store whose backup is in
  // `backup_dir`. No store may run on `data_dir`. NOT_FOUND: no backup there; FAILED_PRECONDITION:
  // `data_dir` is not empty; DATA_LOSS: the backup is damaged. On an error, `data_dir` is empty
  // again.
  static absl::Status Restore(const std::string& backup_dir, const std::string& data_dir);

  // The process is about to end: what takes long in the background, and backups, come to an end.
  // What is asked for is still answered.
  void Drain() { collector_.Stop(); }

  // Whether writes find room. RESOURCE_EXHAUSTED: the disk, or the store, is full.
  absl::Status HasRoom() { return store_.lru().admission().HasRoom(); }

  // For rpc::Server::Start. They live as long as this, which must outlive the server.
  std::vector<grpc::Service*> services();

 private:
  StoreServer(std::unique_ptr<Storage> storage, const Options& options);

  ContentStore store_;
  GarbageCollector collector_;
  Uploads uploads_;
  std::unique_ptr<RetentionMetrics> metrics_;  // uses the three
  std::vector<std::unique_ptr<grpc::Service>> services_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_STORE_SERVER_H_
