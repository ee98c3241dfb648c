// The client of the coordinator over gRPC. Calls other than Watch are repeated while the
// coordinator is out of reach, so each must be safe to repeat: Submit by its request id, Delete by
// accepting NOT_FOUND on a repeated try, and streams by starting again with an empty result.

#include "client/grpc/crawl_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/grpc/retrying_caller.h"
#include "common/base/status.h"
#include "common/rpc/server.h"
#include "kernelmill/v1/crawl.grpc.pb.h"

namespace kernelmill::client {
namespace {

// The lock of a job with 100,000 sources has some tens of megabytes.
constexpr absl::Duration kLockDeadline = absl::Minutes(10);

// gRPC's own error for a message that is too large would not say what to do.
absl::Status CheckSize(const v1::SubmitRequest& request) {
  const size_t bytes = request.ByteSizeLong();
  if (bytes <= rpc::kMaxMessageBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the job has ", bytes, " bytes with its lists; the limit is ",
                   rpc::kMaxMessageBytes, ": split it into two jobs"));
}

// Each method fills a request and passes one attempt to RetryingCaller, which may run it several
// times.
class GrpcCrawlClient : public CrawlClient {
 public:
  GrpcCrawlClient(std::shared_ptr<grpc::Channel> channel, ReconnectOptions reconnect)
      : stub_(v1::Crawl::NewStub(std::move(channel))), caller_(std::move(reconnect)) {}

  absl::StatusOr<std::string> Submit(const v1::JobSpec& spec, const std::string& request_id,
                                     int priority, bool no_cache) override {
    v1::SubmitRequest request;
    *request.mutable_spec() = spec;
    request.set_request_id(request_id);
    request.set_priority(priority);
    request.set_no_cache(no_cache);
    RETURN_IF_ERROR(CheckSize(request));
    v1::SubmitResponse response;
    RETURN_IF_ERROR(caller_.Call("submit", [&](grpc::ClientContext& context) {
      return stub_->Submit(&context, request, &response);
    }));
    return response.job();
  }

  absl::StatusOr<v1::JobStatus> GetJob(const std::string& job) override {
    return CallOn<v1::GetJobRequest>("get job", &v1::Crawl::Stub::GetJob, job);
  }

  absl::StatusOr<std::vector<v1::Failure>> ListFailures(const std::string& job) override {
    v1::ListFailuresRequest request;
    request.set_job(job);
    std::vector<v1::Failure> all;
    do {
      v1::ListFailuresResponse page;
      RETURN_IF_ERROR(caller_.Call("list failures", [&](grpc::ClientContext& context) {
        return stub_->ListFailures(&context, request, &page);
      }));
      for (v1::Failure& failure : *page.mutable_failures()) all.push_back(std::move(failure));
      // The coordinator answers in pages; an empty token is the last one's.
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return all;
  }

  absl::StatusOr<v1::JobSpec> ReadLock(const std::string& job) override {
    v1::ReadLockRequest request;
    request.set_job(job);
    v1::JobSpec lock;
    const auto read = [&](grpc::ClientContext& context) {
      // A repeated call starts from the beginning.
      lock.Clear();
      const auto reader = stub_->ReadLock(&context, request);
      v1::JobSpec part;
      // The lock comes in parts: repeated fields are joined.
      while (reader->Read(&part)) lock.MergeFrom(part);
      return reader->Finish();
    };
    RETURN_IF_ERROR(caller_.Call("read lock", read, kLockDeadline));
    return lock;
  }

  absl::StatusOr<std::vector<v1::JobStatus>> ListJobs() override {
    v1::ListJobsResponse response;
    RETURN_IF_ERROR(caller_.Call("list jobs", [&](grpc::ClientContext& context) {
      return stub_->ListJobs(&context, v1::ListJobsRequest(), &response);
    }));
    return std::vector<v1::JobStatus>(response.jobs().begin(), response.jobs().end());
  }

  absl::StatusOr<std::vector<v1::WorkerInfo>> ListWorkers() override {
    v1::ListWorkersResponse response;
    RETURN_IF_ERROR(caller_.Call("list workers", [&](grpc::ClientContext& context) {
      return stub_->ListWorkers(&context, v1::ListWorkersRequest(), &response);
    }));
    return std::vector<v1::WorkerInfo>(response.workers().begin(), response.workers().end());
  }

  absl::StatusOr<Timeline> GetTimeline(const std::string& job) override {
    constexpr absl::Duration kDeadline = absl::Minutes(10);  // millions of attempts
    v1::TimelineRequest request;
    request.set_job(job);
    Timeline timeline;
    RETURN_IF_ERROR(caller_.Call(
        "timeline",
        [&](grpc::ClientContext& context) {
          // A repeated call starts again, so what came before is dropped.
          timeline = {};
          const auto reader = stub_->Timeline(&context, request);
          v1::TimelinePart part;
          while (reader->Read(&part)) {
            for (const v1::TaskSpan& span : part.spans()) timeline.Add(span);
          }
          return reader->Finish();
        },
        kDeadline));
    return timeline;
  }

  absl::StatusOr<v1::JobStatus> CancelJob(const std::string& job) override {
    return CallOn<v1::CancelRequest>("cancel", &v1::Crawl::Stub::Cancel, job);
  }

  absl::StatusOr<v1::JobStatus> RetryJob(const std::string& job, bool no_cache) override {
    v1::RetryRequest request;
    request.set_job(job);
    request.set_no_cache(no_cache);
    v1::JobStatus response;
    RETURN_IF_ERROR(caller_.Call("retry", [&](grpc::ClientContext& context) {
      return stub_->Retry(&context, request, &response);
    }));
    return response;
  }

  absl::Status DeleteJob(const std::string& job) override {
    v1::DeleteRequest request;
    request.set_job(job);
    // True after the first try.
    bool tried = false;
    return caller_.Call("delete", [&](grpc::ClientContext& context) {
      v1::DeleteResponse response;
      grpc::Status status = stub_->Delete(&context, request, &response);
      // An earlier try may have deleted the job although its answer was lost.
      if (std::exchange(tried, true) && status.error_code() == grpc::StatusCode::NOT_FOUND) {
        return grpc::Status::OK;
      }
      return status;
    });
  }

  absl::Status Watch(const std::string& job, const OnStatus& on_status) override {
    v1::WatchRequest request;
    request.set_job(job);
    // Not repeated here: WatchJob calls again, and knows how long it has heard nothing.
    return caller_.Stream([&](grpc::ClientContext& context) {
      const auto reader = stub_->Watch(&context, request);
      v1::JobStatus status;
      while (reader->Read(&status)) on_status(status);
      return reader->Finish();
    });
  }

  void Interrupt() override { caller_.Interrupt(); }

 private:
  // Makes a call that takes a job's name and returns its status.
  template <typename Request>
  absl::StatusOr<v1::JobStatus> CallOn(absl::string_view what,
                                       grpc::Status (v1::Crawl::Stub::*call)(grpc::ClientContext*,
                                                                             const Request&,
                                                                             v1::JobStatus*),
                                       const std::string& job) {
    Request request;
    request.set_job(job);
    v1::JobStatus response;
    RETURN_IF_ERROR(caller_.Call(what, [&](grpc::ClientContext& context) {
      return ((*stub_).*call)(&context, request, &response);
    }));
    return response;
  }

  const std::unique_ptr<v1::Crawl::Stub> stub_;
  RetryingCaller caller_;
};

}  // namespace

std::unique_ptr<CrawlClient> NewCrawlClient(std::shared_ptr<grpc::Channel> channel,
                                            ReconnectOptions reconnect) {
  return std::make_unique<GrpcCrawlClient>(std::move(channel), std::move(reconnect));
}

}  // namespace kernelmill::client
