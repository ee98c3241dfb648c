#include "services/deduplicator/server/deduplicator_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/statusor.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/deduplicator/core/deduplicate.h"
#include "services/deduplicator/server/similar_search.h"

namespace kernelmill::deduplicator {
namespace {

class DeduplicatorService final : public v1::Deduplicator::Service {
 public:
  explicit DeduplicatorService(cas::BlobStore& store) : store_(store) {}

  grpc::Status Deduplicate(grpc::ServerContext* /*context*/, const v1::DeduplicateRequest* request,
                           v1::DeduplicateResponse* response) override {
    absl::StatusOr<v1::Clusters> clusters = deduplicator::Deduplicate(*request);
    if (!clusters.ok()) return rpc::ToGrpcStatus(clusters.status());
    *response->mutable_clusters() = *std::move(clusters);
    return grpc::Status::OK;
  }

  // A caller that is gone, or whose deadline is past, has cancelled.
  grpc::Status Similar(grpc::ServerContext* context, const v1::SimilarRequest* request,
                       v1::SimilarResponse* response) override {
    absl::StatusOr<v1::SimilarResponse> found =
        FindSimilar(store_, *request, [context] { return context->IsCancelled(); });
    if (!found.ok()) return rpc::ToGrpcStatus(found.status());
    *response = *std::move(found);
    return grpc::Status::OK;
  }

 private:
  cas::BlobStore& store_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewDeduplicatorService(cas::BlobStore& store) {
  return std::make_unique<DeduplicatorService>(store);
}

}  // namespace kernelmill::deduplicator
