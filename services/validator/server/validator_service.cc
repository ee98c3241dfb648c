#include "services/validator/server/validator_service.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/statusor.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/validator/core/validate.h"

namespace kernelmill::validator {
namespace {

class ValidatorService : public v1::Validator::Service {
 public:
  grpc::Status Validate(grpc::ServerContext*, const v1::ValidateRequest* request,
                        v1::ValidateResponse* response) override {
    v1::FileShard files;
    *files.mutable_files() = request->files();
    v1::SourceTree tree;
    *tree.mutable_license_files() = request->license_files();
    v1::ValidateParams params;
    *params.mutable_licenses() = request->licenses();
    *params.mutable_quality() = request->quality();
    absl::StatusOr<v1::VerdictShard> verdicts =
        validator::Validate(request->kernels(), files, tree, params);
    if (!verdicts.ok()) return rpc::ToGrpcStatus(verdicts.status());
    *response->mutable_verdicts() = *std::move(verdicts);
    return grpc::Status::OK;
  }
};

}  // namespace

std::unique_ptr<grpc::Service> NewValidatorService() {
  return std::make_unique<ValidatorService>();
}

}  // namespace kernelmill::validator
