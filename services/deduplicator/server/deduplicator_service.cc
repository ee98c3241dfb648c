#include "services/deduplicator/server/deduplicator_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/statusor.h"
#include "common/rpc/limited_calls.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/deduplicator/core/deduplicate.h"
#include "services/deduplicator/server/similar_search.h"

namespace kernelmill::deduplicator {
namespace {

// The calls for clients without a job: Deduplicate compares texts with each other, Similar with a
// dataset in the store. Both are computed in the calling thread, within the limits on calls.
class DeduplicatorService final : public v1::Deduplicator::Service {
 public:
  DeduplicatorService(cas::BlobStore& store, const rpc::CallLimits& limits)
      : store_(store), calls_({.under_way = limits}) {
    MarkMethodStreamed(rpc::GetMethodIndex("kernelmill.v1.Deduplicator.Deduplicate"),
                       calls_.NewHandler<v1::DeduplicateRequest, v1::DeduplicateResponse>(
                           [](grpc::ServerContext&, const auto& request, auto* response) {
                             absl::StatusOr<v1::Clusters> clusters =
                                 deduplicator::Deduplicate(request);
                             if (!clusters.ok()) return rpc::ToGrpcStatus(clusters.status());
                             *response->mutable_clusters() = *std::move(clusters);
                             return grpc::Status::OK;
                           }));
    MarkMethodStreamed(
        rpc::GetMethodIndex("kernelmill.v1.Deduplicator.Similar"),
        calls_.NewHandler<v1::SimilarRequest, v1::SimilarResponse>(
            [this](grpc::ServerContext& context, const auto& request, auto* response) {
              return FindThem(context, request, response);
            }));
  }

 private:
  // IsCancelled() is also true if the caller is gone or its deadline has passed.
  grpc::Status FindThem(const grpc::ServerContext& context, const v1::SimilarRequest& request,
                        v1::SimilarResponse* response) {
    absl::StatusOr<v1::SimilarResponse> found =
        FindSimilar(store_, request, [&context] { return context.IsCancelled(); });
    if (!found.ok()) return rpc::ToGrpcStatus(found.status());
    *response = *std::move(found);
    return grpc::Status::OK;
  }

  cas::BlobStore& store_;
  rpc::LimitedCalls calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewDeduplicatorService(cas::BlobStore& store,
                                                      const rpc::CallLimits& limits) {
  return std::make_unique<DeduplicatorService>(store, limits);
}

}  // namespace kernelmill::deduplicator
