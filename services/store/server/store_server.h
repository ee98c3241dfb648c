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
#include "common/cas/blob_store.h"
#include "common/rocksdb/backups.h"
#include "common/rpc/stall_guard.h"
#include "services/store/adapters/rocksdb/salvage.h"
#include "services/store/core/content_store.h"
#include "services/store/core/garbage_collector.h"
#include "services/store/core/scrubber.h"
#include "services/store/core/uploads.h"
#include "services/store/server/store_metrics.h"

namespace grpc {
class Service;
}

namespace kernelmill::store {

// The content store: its database, its garbage collector and its gRPC services
// (ContentAddressableStorage, ActionCache, Capabilities, ByteStream, kernelmill.v1.Store), all of
// which it owns; everything except the socket. Thread-safe.
class StoreServer {
 public:
  struct Options {
    std::string data_dir;  // created if missing; one process at a time
    size_t block_cache_bytes = 64 << 20;
    BackupOptions backups;
    std::shared_ptr<access::GrantKey> grants;  // null: writing a result needs no grant
    Limits limits;
    RetentionOptions retention;
    GarbageCollector::Options collector;
    Scrubber::Options scrubber;
    // Called once, from any thread, when the database's log can no longer be synced. No write
    // succeeds from then on. May be null.
    std::function<void(const absl::Status&)> on_broken_log;
    Uploads::Options uploads;
    rpc::StallGuard::Options streams;
  };

  // Opens the store. FAILED_PRECONDITION: another process has data_dir open, a program with another
  // format wrote it, or a restore is unfinished. INVALID_ARGUMENT: an option is out of range.
  // DATA_LOSS: the database is damaged.
  static absl::StatusOr<std::unique_ptr<StoreServer>> Open(const Options& options);
  ~StoreServer();

  // Replaces the damaged database in `data_dir` by what is left of it; see there for errors.
  static absl::StatusOr<RepairReport> Repair(const std::string& data_dir) {
    return RepairDatabase(data_dir);
  }

  // Ends background work and backups before shutdown. Calls are still answered.
  void Drain() {
    collector_.Stop();
    scrubber_->Stop();
  }

  // Returns whether writes find room. RESOURCE_EXHAUSTED: the disk or the store is full.
  absl::Status HasRoom() { return store_.lru().admission().HasRoom(); }

  // The services, for rpc::Server::Start. This must outlive the server.
  std::vector<grpc::Service*> services();

  // Returns a client for this process: it makes no calls, and needs no server. This must outlive
  // it.
  std::unique_ptr<cas::BlobStore> NewLocalClient();

 private:
  StoreServer(std::unique_ptr<Storage> storage, const Options& options);

  ContentStore store_;
  GarbageCollector collector_;
  std::unique_ptr<Scrubber> scrubber_;  // after Load, which reads the known damage
  Uploads uploads_;
  std::unique_ptr<RetentionMetrics> metrics_;  // uses the three members above
  std::vector<std::unique_ptr<grpc::Service>> services_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_STORE_SERVER_H_
