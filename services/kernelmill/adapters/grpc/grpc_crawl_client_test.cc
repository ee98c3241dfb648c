#include "services/kernelmill/adapters/grpc/grpc_crawl_client.h"

#include <gmock/gmock.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/crawl.grpc.pb.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// One job, "j", that never ends of itself.
class FakeCrawl : public v1::Crawl::Service {
 public:
  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                      v1::SubmitResponse* response) override {
    if (failures_before_ok-- > 0) return {grpc::StatusCode::UNAVAILABLE, "not yet"};
    if (request->spec().name().empty()) return {grpc::StatusCode::INVALID_ARGUMENT, "name: empty"};
    response->set_job("j-" + request->request_id());
    return grpc::Status::OK;
  }
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::JobStatus>* writer) override {
    if (request->job() != "j") return {grpc::StatusCode::NOT_FOUND, "no such job"};
    v1::JobStatus status;
    status.set_state(v1::JOB_STATE_RUNNING);
    writer->Write(status);
    while (!context->IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  }

  std::atomic<int> failures_before_ok = 0;
};

class GrpcCrawlClientTest : public ::testing::Test {
 protected:
  GrpcCrawlClientTest()
      : server_(*rpc::Server::Start({}, {&service_})),
        client_(NewGrpcCrawlClient(server_->InProcessChannel())) {}

  FakeCrawl service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<CrawlClient> client_;
};

TEST_F(GrpcCrawlClientTest, SubmitIsTriedAgainWhileUnavailable) {
  v1::JobSpec spec;
  spec.set_name("a");
  service_.failures_before_ok = 1;
  const auto job = client_->Submit(spec, "r1");
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(*job, "j-r1");
}

TEST_F(GrpcCrawlClientTest, ErrorsKeepTheirCodeAndMessage) {
  const auto job = client_->Submit(v1::JobSpec(), "r1");
  EXPECT_THAT(job, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(job.status().message()), ::testing::HasSubstr("name: empty"));
  EXPECT_THAT(client_->Watch("x", [](const v1::JobStatus&) {}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(client_->GetJob("j"), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST_F(GrpcCrawlClientTest, CancelEndsTheWatchThatRunsAndLaterOnes) {
  absl::Notification started;
  absl::Status ended;
  std::thread watcher(
      [&] { ended = client_->Watch("j", [&](const v1::JobStatus&) { started.Notify(); }); });
  started.WaitForNotification();
  client_->Cancel();
  watcher.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(client_->Watch("j", [](const v1::JobStatus&) {}),
              StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace kernelmill::client
