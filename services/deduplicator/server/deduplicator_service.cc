#include "services/deduplicator/server/deduplicator_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/statusor.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/deduplicator/core/deduplicate.h"

namespace kernelmill::deduplicator {
namespace {

class DeduplicatorService final : public v1::Deduplicator::Service {
  grpc::Status Deduplicate(grpc::ServerContext* /*context*/, const v1::DeduplicateRequest* request,
                           v1::DeduplicateResponse* response) override {
    absl::StatusOr<v1::Clusters> clusters = deduplicator::Deduplicate(*request);
    if (!clusters.ok()) return rpc::ToGrpcStatus(clusters.status());
    *response->mutable_clusters() = *std::move(clusters);
    return grpc::Status::OK;
  }
};

}  // namespace

std::unique_ptr<grpc::Service> NewDeduplicatorService() {
  return std::make_unique<DeduplicatorService>();
}

}  // namespace kernelmill::deduplicator
