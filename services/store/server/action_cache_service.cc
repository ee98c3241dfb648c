#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/status.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/content_store.h"
#include "services/store/server/method_metrics.h"
#include "services/store/server/request_checks.h"
#include "services/store/server/services.h"

namespace kernelmill::store {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;

// Hints of the request (what to inline, the priority) are not taken.
class ActionCacheService final : public reapi::ActionCache::Service {
 public:
  explicit ActionCacheService(ContentStore* store) : store_(store) {}

  grpc::Status GetActionResult(grpc::ServerContext*, const reapi::GetActionResultRequest* request,
                               reapi::ActionResult* response) override {
    return get_.Run([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckRequest(*request));
      ASSIGN_OR_RETURN(const BlobId action, ToBlobId(request->action_digest()));
      ASSIGN_OR_RETURN(*response, store_->GetActionResult(request->instance_name(), action));
      return absl::OkStatus();
    });
  }

  grpc::Status UpdateActionResult(grpc::ServerContext*,
                                  const reapi::UpdateActionResultRequest* request,
                                  reapi::ActionResult* response) override {
    return update_.Run([&]() -> absl::Status {
      RETURN_IF_ERROR(CheckRequest(*request));
      ASSIGN_OR_RETURN(const BlobId action, ToBlobId(request->action_digest()));
      RETURN_IF_ERROR(
          store_->PutActionResult(request->instance_name(), action, request->action_result()));
      *response = request->action_result();
      return absl::OkStatus();
    });
  }

 private:
  ContentStore* const store_;
  MethodMetrics get_{"GetActionResult"};
  MethodMetrics update_{"UpdateActionResult"};
};

}  // namespace

std::unique_ptr<grpc::Service> NewActionCacheService(ContentStore* store) {
  return std::make_unique<ActionCacheService>(store);
}

}  // namespace kernelmill::store
