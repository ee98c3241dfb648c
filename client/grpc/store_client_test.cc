#include "client/grpc/store_client.h"

#include <gmock/gmock.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/store.grpc.pb.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

// A store of three blobs, two of them damaged.
class FakeStore : public v1::Store::Service {
 public:
  grpc::Status Stat(grpc::ServerContext*, const v1::StatRequest*,
                    v1::StatResponse* response) override {
    if (failures_before_ok-- > 0) return {grpc::StatusCode::UNAVAILABLE, "not yet"};
    response->set_blobs(3);
    return grpc::Status::OK;
  }
  grpc::Status Verify(grpc::ServerContext* context, const v1::VerifyRequest* request,
                      grpc::ServerWriter<v1::VerifyProgress>* writer) override {
    dropped = request->drop_damaged();
    v1::VerifyProgress progress;
    progress.set_blobs(1);
    progress.add_damaged()->set_hash("abc");
    writer->Write(progress);
    while (hang && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    progress.set_blobs(3);
    progress.mutable_damaged(0)->set_hash("def");
    progress.add_damaged()->set_hash("abc");  // again
    progress.set_finished(!breaks_off);
    writer->Write(progress);
    return grpc::Status::OK;
  }
  grpc::Status CollectGarbage(grpc::ServerContext*, const v1::CollectGarbageRequest* request,
                              v1::CollectGarbageResponse* response) override {
    response->set_held_bytes(request->target_bytes());
    return grpc::Status::OK;
  }
  grpc::Status ForgetResults(grpc::ServerContext*, const v1::ForgetResultsRequest* request,
                             v1::ForgetResultsResponse* response) override {
    if (request->stage().empty()) return {grpc::StatusCode::INVALID_ARGUMENT, "no stage"};
    response->set_results(request->version());
    return grpc::Status::OK;
  }
  grpc::Status Backup(grpc::ServerContext*, const v1::BackupRequest* request,
                      v1::BackupResponse* response) override {
    if (request->name() == "../x") return {grpc::StatusCode::INVALID_ARGUMENT, "name: not a name"};
    response->set_path("/backups/" + request->name());
    return grpc::Status::OK;
  }

  std::atomic<int> failures_before_ok = 0;
  std::atomic<bool> dropped = false;
  std::atomic<bool> breaks_off = false;
  std::atomic<bool> hang = false;
};

class StoreClientTest : public ::testing::Test {
 protected:
  StoreClientTest()
      : dir_(*TempDir::Create()),
        address_("unix:" + dir_.path() + "/socket"),
        server_(*rpc::Server::Start({address_}, {&service_})),
        client_(NewStoreClient(rpc::Connect(address_))) {}

  absl::StatusOr<v1::VerifyProgress> Verify(bool drop_damaged) {
    return client_->Verify(drop_damaged, [this](const v1::VerifyProgress& progress) {
      seen_.push_back(progress.blobs());
    });
  }

  TempDir dir_;
  const std::string address_;
  FakeStore service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<StoreClient> client_;
  std::vector<int64_t> seen_;
};

TEST_F(StoreClientTest, HandsRequestsAndAnswersThrough) {
  service_.failures_before_ok = 1;
  const auto stat = client_->Stat(/*sum_holds=*/false);
  ASSERT_THAT(stat, IsOk());
  EXPECT_EQ(stat->blobs(), 3);
  const auto garbage = client_->CollectGarbage(77, /*dry_run=*/false);
  ASSERT_THAT(garbage, IsOk());
  EXPECT_EQ(garbage->held_bytes(), 77);
  v1::ForgetResultsRequest forget;
  EXPECT_THAT(client_->ForgetResults(forget), StatusIs(absl::StatusCode::kInvalidArgument));
  forget.set_stage("extract");
  forget.set_version(11);
  EXPECT_EQ(client_->ForgetResults(forget)->results(), 11);
  const auto backup = client_->Backup("monday");
  ASSERT_THAT(backup, IsOk());
  EXPECT_EQ(backup->path(), "/backups/monday");
  EXPECT_THAT(client_->Backup("../x"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(StoreClientTest, VerifyShowsProgressAndAnswersWithTheLast) {
  const auto last = Verify(true);
  ASSERT_THAT(last, IsOk());
  EXPECT_TRUE(service_.dropped);
  EXPECT_THAT(seen_, ElementsAre(1, 3));
  ASSERT_EQ(last->damaged_size(), 2);
  EXPECT_EQ(last->damaged(0).hash(), "abc");
  EXPECT_EQ(last->damaged(1).hash(), "def");
  ASSERT_THAT(Verify(false), IsOk());
  EXPECT_FALSE(service_.dropped);
}

TEST_F(StoreClientTest, AVerifyThatBreaksOffHasNoAnswer) {
  service_.breaks_off = true;
  EXPECT_THAT(Verify(false), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(StoreClientTest, AnInterruptEndsAVerify) {
  service_.hang = true;
  absl::Notification started;
  absl::StatusOr<v1::VerifyProgress> ended;
  std::thread verifier([&] {
    ended = client_->Verify(false, [&](const v1::VerifyProgress&) {
      if (!started.HasBeenNotified()) started.Notify();
    });
  });
  started.WaitForNotification();
  client_->Interrupt();
  verifier.join();
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(StoreClientTest, AStoreOfAnotherMakeIsCalledThat) {
  v1::Store::Service nothing;
  const std::string address = "unix:" + dir_.path() + "/other";
  const auto server = rpc::Server::Start({address}, {&nothing});
  ASSERT_THAT(server, IsOk());
  const auto client = NewStoreClient(rpc::Connect(address));
  for (const absl::Status& status :
       {client->Stat(/*sum_holds=*/false).status(),
        client->Verify(false, [](const auto&) {}).status(),
        client->CollectGarbage(0, false).status(), client->Backup("x").status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented));
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("not a kernelmill-store"));
  }
}

}  // namespace
}  // namespace kernelmill::client
