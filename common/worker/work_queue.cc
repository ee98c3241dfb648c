#include "common/worker/work_queue.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "common/rpc/cancellation.h"

namespace kernelmill::worker {
namespace {

// The deadline of a call, plus the time that it may wait at the server.
constexpr absl::Duration kCallDeadline = absl::Seconds(10);

// Does not retry: its callers do, each in its own way. Thread-safe.
class GrpcWorkQueue : public WorkQueue {
 public:
  explicit GrpcWorkQueue(std::unique_ptr<v1::Work::StubInterface> stub) : stub_(std::move(stub)) {}

  absl::StatusOr<v1::LeaseResponse> Lease(const v1::LeaseRequest& request) override {
    return Call<v1::LeaseResponse>(&v1::Work::StubInterface::Lease, request,
                                   kCallDeadline + absl::Milliseconds(request.wait_ms()));
  }
  absl::StatusOr<v1::RenewResponse> Renew(const v1::RenewRequest& request,
                                          const std::string& waits_for) override {
    return Call<v1::RenewResponse>(&v1::Work::StubInterface::Renew, request, kCallDeadline,
                                   waits_for);
  }
  absl::StatusOr<v1::CompleteResponse> Complete(const v1::CompleteRequest& request) override {
    return Call<v1::CompleteResponse>(&v1::Work::StubInterface::Complete, request, kCallDeadline);
  }

  void Cancel() override { calls_.CancelAll(); }

 private:
  // Makes one call. The metadata carries what a task waits for. CANCELLED: Cancel() was called.
  template <typename Response, typename Request>
  absl::StatusOr<Response> Call(grpc::Status (v1::Work::StubInterface::*method)(
                                    grpc::ClientContext*, const Request&, Response*),
                                const Request& request, absl::Duration deadline,
                                const std::string& waits_for = "") {
    grpc::ClientContext context;
    if (!waits_for.empty()) context.AddMetadata(kWaitsForMetadata, waits_for);
    context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
    Response response;
    RETURN_IF_ERROR(
        calls_.Make(context, [&] { return (stub_.get()->*method)(&context, request, &response); }));
    return response;
  }

  const std::unique_ptr<v1::Work::StubInterface> stub_;
  rpc::CancellableCalls calls_;
};

}  // namespace

std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::shared_ptr<grpc::Channel> channel) {
  return NewGrpcWorkQueue(v1::Work::NewStub(std::move(channel)));
}

std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::unique_ptr<v1::Work::StubInterface> stub) {
  return std::make_unique<GrpcWorkQueue>(std::move(stub));
}

}  // namespace kernelmill::worker
