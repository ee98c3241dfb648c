#include "services/store/server/store_server.h"

#include <grpcpp/impl/codegen/service_type.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/store/adapters/rocksdb/rocksdb_storage.h"
#include "services/store/adapters/zstd/zstd_codec.h"
#include "services/store/server/services.h"
#include "services/store/server/store_metrics.h"

namespace kernelmill::store {
namespace {

// The smallest limit: the database's own records and buffers must fit.
constexpr int64_t kLeastLimit = 16 << 20;

// A batch is written as blobs of at most one chunk, so a batch cannot be larger than a chunk.
absl::Status CheckLimits(const StoreServer::Options& options) {
  const Limits& limits = options.limits;
  if (limits.max_batch_bytes <= 0 || limits.max_batch_bytes > kChunkBytes) {
    return absl::InvalidArgumentError(absl::StrCat("max_batch_bytes: must be 1 to ", kChunkBytes,
                                                   ", not ", limits.max_batch_bytes));
  }
  if (options.retention.limit_bytes != 0 && options.retention.limit_bytes < kLeastLimit) {
    return absl::InvalidArgumentError(
        absl::StrCat("--limit-bytes: must be 0 (no limit) or at least ", kLeastLimit >> 20, "MiB"));
  }
  if (limits.max_blob_bytes < limits.max_batch_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--max-blob-bytes: must be at least ", limits.max_batch_bytes, ", the size of a batch"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreServer>> StoreServer::Open(const Options& options) {
  if (options.data_dir.empty()) return absl::InvalidArgumentError("--data: must not be empty");
  RETURN_IF_ERROR(CheckLimits(options));
  ASSIGN_OR_RETURN(
      std::unique_ptr<Storage> storage,
      OpenRocksDbStorage(options.data_dir, {.block_cache_bytes = options.block_cache_bytes,
                                            .limit_bytes = options.retention.limit_bytes,
                                            .on_broken_log = options.on_broken_log,
                                            .on_synced = CountSync}));
  std::unique_ptr<StoreServer> server(new StoreServer(std::move(storage), options));
  // Holds are loaded before the collector starts; otherwise it could evict what they hold.
  RETURN_IF_ERROR(server->store_.lru().Load());
  server->collector_.Start();
  server->scrubber_ = std::make_unique<Scrubber>(&server->store_, options.scrubber);
  server->scrubber_->Start();
  server->metrics_ =
      std::make_unique<RetentionMetrics>(&server->store_, &server->collector_, &server->uploads_);
  return server;
}

// The members depend on each other in the order of their declaration; the services come last.
StoreServer::StoreServer(std::unique_ptr<Storage> storage, const Options& options)
    : store_(std::move(storage), options.limits, options.retention),
      collector_(&store_.lru(), options.collector),
      uploads_(&store_, NewZstdDecoder, options.uploads) {
  services_.push_back(NewCasService(&store_));
  services_.push_back(NewByteStreamService(&store_, &uploads_, options.streams));
  services_.push_back(NewActionCacheService(&store_, options.grants));
  services_.push_back(NewCapabilitiesService(&store_));
  services_.push_back(
      NewStoreService({.store = &store_, .collector = &collector_, .backups = options.backups}));
}

StoreServer::~StoreServer() = default;

std::unique_ptr<cas::BlobStore> StoreServer::NewLocalClient() { return NewLocalBlobStore(&store_); }

std::vector<grpc::Service*> StoreServer::services() {
  std::vector<grpc::Service*> services;
  for (const auto& service : services_) services.push_back(service.get());
  return services;
}

}  // namespace kernelmill::store
