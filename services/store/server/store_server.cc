#include "services/store/server/store_server.h"

#include <grpcpp/impl/codegen/service_type.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/store/adapters/rocksdb/rocksdb_storage.h"
#include "services/store/adapters/zstd/zstd_codec.h"
#include "services/store/server/services.h"

namespace kernelmill::store {
namespace {

absl::Status CheckLimits(const Limits& limits) {
  if (limits.max_batch_bytes <= 0 || limits.max_batch_bytes > kChunkBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a batch may hold 1 to ", kChunkBytes,
                                                   " bytes, not ", limits.max_batch_bytes));
  }
  if (limits.max_blob_bytes < limits.max_batch_bytes) {
    return absl::InvalidArgumentError("the largest blob is smaller than the largest batch");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreServer>> StoreServer::Open(const Options& options) {
  if (options.data_dir.empty()) return absl::InvalidArgumentError("no data directory");
  RETURN_IF_ERROR(CheckLimits(options.limits));
  ASSIGN_OR_RETURN(std::unique_ptr<Storage> storage,
                   OpenRocksDbStorage(options.data_dir, options.block_cache_bytes));
  return std::unique_ptr<StoreServer>(new StoreServer(std::move(storage), options));
}

StoreServer::StoreServer(std::unique_ptr<Storage> storage, const Options& options)
    : store_(std::move(storage), options.limits),
      uploads_(&store_, NewZstdDecoder, options.uploads) {
  services_.push_back(NewCasService(&store_));
  services_.push_back(NewByteStreamService(&store_, &uploads_, options.streams));
  services_.push_back(NewActionCacheService(&store_));
  services_.push_back(NewCapabilitiesService(&store_));
}

StoreServer::~StoreServer() = default;

std::vector<grpc::Service*> StoreServer::services() {
  std::vector<grpc::Service*> services;
  for (const auto& service : services_) services.push_back(service.get());
  return services;
}

}  // namespace kernelmill::store
