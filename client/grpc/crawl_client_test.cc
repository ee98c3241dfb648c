#include "client/grpc/crawl_client.h"

#include <gmock/gmock.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/console/watch.h"
#include "common/base/file.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/crawl.grpc.pb.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// One job, "j"; it runs until `ended` is set.
class FakeCrawl : public v1::Crawl::Service {
 public:
  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                      v1::SubmitResponse* response) override {
    if (failures_before_ok-- > 0) return {grpc::StatusCode::UNAVAILABLE, "not yet"};
    if (request->spec().name().empty()) return {grpc::StatusCode::INVALID_ARGUMENT, "name: empty"};
    response->set_job("j-" + request->request_id() + "-" + std::to_string(request->priority()) +
                      (request->no_cache() ? "-anew" : ""));
    return grpc::Status::OK;
  }
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::JobStatus>* writer) override {
    if (request->job() != "j") return {grpc::StatusCode::NOT_FOUND, "no such job"};
    v1::JobStatus status;
    status.set_state(ended ? v1::JOB_STATE_DONE : v1::JOB_STATE_RUNNING);
    writer->Write(status);
    while (!ended && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    return ended ? grpc::Status::OK : grpc::Status::CANCELLED;
  }
  grpc::Status Cancel(grpc::ServerContext*, const v1::CancelRequest* request,
                      v1::JobStatus* response) override {
    return Answer(request->job(), v1::JOB_STATE_CANCELLED, response);
  }
  grpc::Status Retry(grpc::ServerContext*, const v1::RetryRequest* request,
                     v1::JobStatus* response) override {
    response->set_no_cache(request->no_cache());
    return Answer(request->job(), v1::JOB_STATE_RUNNING, response);
  }
  // Deletes the job, but may say that it could not be reached.
  grpc::Status Delete(grpc::ServerContext*, const v1::DeleteRequest* request,
                      v1::DeleteResponse*) override {
    const bool known = request->job() == "j" && !deleted.exchange(true);
    if (failures_before_ok-- > 0) return {grpc::StatusCode::UNAVAILABLE, "the answer was lost"};
    return known ? grpc::Status::OK : grpc::Status(grpc::StatusCode::NOT_FOUND, "no such job");
  }

  std::atomic<int> failures_before_ok = 0;
  std::atomic<bool> ended = false;
  std::atomic<bool> deleted = false;

 private:
  static grpc::Status Answer(const std::string& job, v1::JobState state, v1::JobStatus* response) {
    if (job != "j") return {grpc::StatusCode::NOT_FOUND, "no such job"};
    response->set_job(job);
    response->set_state(state);
    return grpc::Status::OK;
  }
};

class CrawlClientTest : public ::testing::Test {
 protected:
  CrawlClientTest() : dir_(*TempDir::Create()), address_("unix:" + dir_.path() + "/socket") {
    Serve();
    client_ = NewCrawlClient(rpc::Connect(address_));
  }

  void Serve() { server_ = *rpc::Server::Start({address_}, {&service_}); }
  void StopServing() { server_.reset(); }

  TempDir dir_;
  const std::string address_;
  FakeCrawl service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<CrawlClient> client_;
};

v1::JobSpec Spec() {
  v1::JobSpec spec;
  spec.set_name("a");
  return spec;
}

TEST_F(CrawlClientTest, SubmitIsTriedAgainWithTheSameId) {
  service_.failures_before_ok = 2;
  const auto job = client_->Submit(Spec(), "r1", -3, /*no_cache=*/true);
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(*job, "j-r1--3-anew");
}

TEST_F(CrawlClientTest, ReconnectTimeoutEnds) {
  StopServing();
  std::vector<absl::Status> unreachable;
  ReconnectOptions reconnect;
  reconnect.timeout = absl::Milliseconds(700);
  reconnect.on_unreachable = [&](const absl::Status& status) { unreachable.push_back(status); };
  const auto client = NewCrawlClient(rpc::Connect(address_), reconnect);
  EXPECT_THAT(client->Submit(Spec(), "r1", 0, false), StatusIs(absl::StatusCode::kUnavailable));
  ASSERT_EQ(unreachable.size(), 1u);
  EXPECT_THAT(unreachable[0], StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(CrawlClientTest, ErrorsKeepTheirCodeAndMessage) {
  const auto job = client_->Submit(v1::JobSpec(), "r1", 0, false);
  EXPECT_THAT(job, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(job.status().message()), ::testing::HasSubstr("name: empty"));
  EXPECT_THAT(client_->Watch("x", [](const v1::JobStatus&) {}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(client_->GetJob("j"), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST_F(CrawlClientTest, CancelAndRetryAnswerWithTheJob) {
  const auto cancelled = client_->CancelJob("j");
  ASSERT_THAT(cancelled, IsOk());
  EXPECT_EQ(cancelled->state(), v1::JOB_STATE_CANCELLED);
  const auto retried = client_->RetryJob("j", /*no_cache=*/true);
  ASSERT_THAT(retried, IsOk());
  EXPECT_EQ(retried->state(), v1::JOB_STATE_RUNNING);
  EXPECT_TRUE(retried->no_cache());
  EXPECT_FALSE(client_->RetryJob("j", /*no_cache=*/false)->no_cache());
  EXPECT_THAT(client_->CancelJob("x"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(client_->RetryJob("x", false), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(CrawlClientTest, ADeleteWhoseAnswerWasLostIsNoError) {
  service_.failures_before_ok = 1;
  EXPECT_THAT(client_->DeleteJob("j"), IsOk());
  EXPECT_TRUE(service_.deleted);
  EXPECT_THAT(client_->DeleteJob("j"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(CrawlClientTest, AnInterruptEndsTheWatchThatRunsAndLaterCalls) {
  absl::Notification started;
  absl::Status ended;
  std::thread watcher(
      [&] { ended = client_->Watch("j", [&](const v1::JobStatus&) { started.Notify(); }); });
  started.WaitForNotification();
  client_->Interrupt();
  watcher.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(client_->Watch("j", [](const v1::JobStatus&) {}),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(client_->Submit(Spec(), "r1", 0, false), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(CrawlClientTest, AnInterruptEndsTheWaitForACoordinatorThatIsAway) {
  StopServing();
  ReconnectOptions reconnect;
  reconnect.timeout = absl::Hours(1);
  absl::Notification waiting;
  reconnect.on_unreachable = [&](const absl::Status&) { waiting.Notify(); };
  const auto client = NewCrawlClient(rpc::Connect(address_), reconnect);
  absl::StatusOr<std::string> job;
  std::thread submitter([&] { job = client->Submit(Spec(), "r1", 0, false); });
  waiting.WaitForNotification();
  client->Interrupt();
  submitter.join();
  EXPECT_THAT(job, StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(CrawlClientTest, AWatchOutlivesARestartOfTheCoordinator) {
  absl::Notification started;
  absl::Notification lost;
  WatchOptions options;
  options.on_lost = [&](const absl::Status&) { lost.Notify(); };
  absl::StatusOr<v1::JobStatus> ended;
  std::thread watcher([&] {
    const auto watch = [&](const OnStatus& on_status) { return client_->Watch("j", on_status); };
    ended = WatchJob(watch, options, [&](const v1::JobStatus&) {
      if (!started.HasBeenNotified()) started.Notify();
    });
  });
  started.WaitForNotification();
  StopServing();
  lost.WaitForNotification();
  service_.ended = true;
  Serve();
  watcher.join();
  ASSERT_THAT(ended, IsOk());
  EXPECT_EQ(ended->state(), v1::JOB_STATE_DONE);
}

}  // namespace
}  // namespace kernelmill::client
