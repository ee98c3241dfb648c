#include "common/worker/process/peers.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include "absl/time/clock.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/status.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace kernelmill::worker {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

// What is left of an answer: only that another server gave it.
absl::Status OnlyWrongServer(const grpc::Status& status) {
  const absl::Status answer = rpc::FromCallStatus(status);
  return absl::IsUnimplemented(answer) || absl::IsFailedPrecondition(answer) ? answer
                                                                             : absl::OkStatus();
}

}  // namespace

absl::Status CheckPeers(const std::shared_ptr<grpc::Channel>& coordinator,
                        const std::shared_ptr<grpc::Channel>& store, absl::Duration patience) {
  const auto deadline = [patience] { return absl::ToChronoTime(absl::Now() + patience); };
  {
    grpc::ClientContext context;
    context.set_deadline(deadline());
    v1::RenewResponse response;
    RETURN_IF_ERROR(OnlyWrongServer(
        v1::Work::NewStub(coordinator)->Renew(&context, v1::RenewRequest(), &response)));
  }
  grpc::ClientContext context;
  context.set_deadline(deadline());
  reapi::FindMissingBlobsResponse response;
  return OnlyWrongServer(reapi::ContentAddressableStorage::NewStub(store)->FindMissingBlobs(
      &context, reapi::FindMissingBlobsRequest(), &response));
}

}  // namespace kernelmill::worker
