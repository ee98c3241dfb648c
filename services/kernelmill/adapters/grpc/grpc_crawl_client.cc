#include "services/kernelmill/adapters/grpc/grpc_crawl_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/status.h"
#include "common/rpc/retry.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/crawl.grpc.pb.h"

namespace kernelmill::client {
namespace {

constexpr absl::Duration kCallDeadline = absl::Seconds(30);
constexpr rpc::RetryPolicy kRetry = {6, absl::Milliseconds(200), absl::Seconds(4), 2.0};

class GrpcCrawlClient : public CrawlClient {
 public:
  explicit GrpcCrawlClient(std::shared_ptr<grpc::Channel> channel)
      : stub_(v1::Crawl::NewStub(std::move(channel))) {}

  absl::StatusOr<std::string> Submit(const v1::JobSpec& spec,
                                     const std::string& request_id) override {
    v1::SubmitRequest request;
    *request.mutable_spec() = spec;
    request.set_request_id(request_id);
    v1::SubmitResponse response;
    RETURN_IF_ERROR(Call("submit", [&](grpc::ClientContext& context) {
      return stub_->Submit(&context, request, &response);
    }));
    return response.job();
  }

  absl::StatusOr<v1::JobStatus> GetJob(const std::string& job) override {
    v1::GetJobRequest request;
    request.set_job(job);
    v1::JobStatus response;
    RETURN_IF_ERROR(Call("get job", [&](grpc::ClientContext& context) {
      return stub_->GetJob(&context, request, &response);
    }));
    return response;
  }

  absl::StatusOr<std::vector<v1::JobStatus>> ListJobs() override {
    v1::ListJobsResponse response;
    RETURN_IF_ERROR(Call("list jobs", [&](grpc::ClientContext& context) {
      return stub_->ListJobs(&context, v1::ListJobsRequest(), &response);
    }));
    return std::vector<v1::JobStatus>(response.jobs().begin(), response.jobs().end());
  }

  // Without a deadline: a job may take days. Keepalive notices a peer that is gone.
  absl::Status Watch(const std::string& job,
                     const std::function<void(const v1::JobStatus&)>& on_status) override {
    grpc::ClientContext context;
    if (!BeginWatch(&context)) return absl::CancelledError("interrupted");
    v1::WatchRequest request;
    request.set_job(job);
    const auto reader = stub_->Watch(&context, request);
    v1::JobStatus status;
    while (reader->Read(&status)) on_status(status);
    const grpc::Status ended = reader->Finish();
    return EndWatch() ? absl::CancelledError("interrupted") : rpc::FromGrpcStatus(ended);
  }

  void Cancel() override {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
    if (watching_ != nullptr) watching_->TryCancel();
  }

 private:
  template <typename Try>
  absl::Status Call(absl::string_view what, Try&& attempt) {
    return rpc::Retry(kRetry, what, [&] {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(kCallDeadline));
      return rpc::FromGrpcStatus(attempt(context));
    });
  }

  bool BeginWatch(grpc::ClientContext* context) {
    absl::MutexLock lock(&mutex_);
    watching_ = context;
    return !cancelled_;
  }
  // Whether it was cancelled.
  bool EndWatch() {
    absl::MutexLock lock(&mutex_);
    watching_ = nullptr;
    return cancelled_;
  }

  const std::unique_ptr<v1::Crawl::Stub> stub_;
  absl::Mutex mutex_;
  grpc::ClientContext* watching_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<CrawlClient> NewGrpcCrawlClient(std::shared_ptr<grpc::Channel> channel) {
  return std::make_unique<GrpcCrawlClient>(std::move(channel));
}

}  // namespace kernelmill::client
