// The gRPC service for clients that validate kernels without a job (kernelmill validate). It calls
// the same function as the stage.
#include "services/validator/server/validator_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/statusor.h"
#include "common/rpc/limited_calls.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/validator/core/validate.h"

namespace kernelmill::validator {
namespace {

// Moves files out of the request, since they are most of its bytes. Without a tree, opt-outs and a
// source's stated licence do not apply.
absl::StatusOr<v1::VerdictShard> Judge(v1::ValidateRequest& request) {
  v1::FileShard files;
  *files.mutable_files() = std::move(*request.mutable_files());
  v1::SourceTree tree;
  *tree.mutable_license_files() = std::move(*request.mutable_license_files());
  v1::ValidateParams params;
  *params.mutable_licenses() = request.licenses();
  *params.mutable_quality() = request.quality();
  return validator::Validate(request.kernels(), files, tree, params);
}

class ValidatorService final : public v1::Validator::Service {
 public:
  explicit ValidatorService(const rpc::CallLimits& limits) : calls_({.under_way = limits}) {
    MarkMethodStreamed(rpc::GetMethodIndex("kernelmill.v1.Validator.Validate"),
                       calls_.NewHandler<v1::ValidateRequest, v1::ValidateResponse>(
                           [](grpc::ServerContext&, auto& request, auto* response) {
                             absl::StatusOr<v1::VerdictShard> verdicts = Judge(request);
                             if (!verdicts.ok()) return rpc::ToGrpcStatus(verdicts.status());
                             *response->mutable_verdicts() = *std::move(verdicts);
                             return grpc::Status::OK;
                           }));
  }

 private:
  rpc::LimitedCalls calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewValidatorService(const rpc::CallLimits& limits) {
  return std::make_unique<ValidatorService>(limits);
}

}  // namespace kernelmill::validator
