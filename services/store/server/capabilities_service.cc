#include <memory>

#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/status.h"
#include "services/store/core/content_store.h"
#include "services/store/core/resource_name.h"
#include "services/store/server/method_metrics.h"
#include "services/store/server/services.h"

namespace kernelmill::store {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;

class CapabilitiesService final : public reapi::Capabilities::Service {
 public:
  explicit CapabilitiesService(const ContentStore* store) : store_(store) {}

  grpc::Status GetCapabilities(grpc::ServerContext*, const reapi::GetCapabilitiesRequest* request,
                               reapi::ServerCapabilities* response) override {
    return get_.Run([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckInstanceName(request->instance_name()));
      reapi::CacheCapabilities& cache = *response->mutable_cache_capabilities();
      cache.add_digest_functions(reapi::DigestFunction::SHA256);
      cache.mutable_action_cache_update_capabilities()->set_update_enabled(true);
      cache.set_max_batch_total_size_bytes(store_->limits().max_batch_bytes);
      cache.set_max_cas_blob_size_bytes(store_->limits().max_blob_bytes);
      cache.set_symlink_absolute_path_strategy(reapi::SymlinkAbsolutePathStrategy::ALLOWED);
      cache.add_supported_compressors(reapi::Compressor::ZSTD);
      cache.add_supported_batch_update_compressors(reapi::Compressor::ZSTD);
      response->mutable_low_api_version()->set_major(2);
      response->mutable_high_api_version()->set_major(2);
      response->mutable_high_api_version()->set_minor(3);
      return absl::OkStatus();
    });
  }

 private:
  const ContentStore* const store_;
  MethodMetrics get_{"GetCapabilities"};
};

}  // namespace

std::unique_ptr<grpc::Service> NewCapabilitiesService(const ContentStore* store) {
  return std::make_unique<CapabilitiesService>(store);
}

}  // namespace kernelmill::store
