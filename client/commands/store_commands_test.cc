#include <gmock/gmock.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/commands/commands.h"
#include "client/commands/testing/command_test.h"
#include "client/console/exit_code.h"
#include "common/base/file.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/store.grpc.pb.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

class FakeStore : public v1::Store::Service {
 public:
  grpc::Status Stat(grpc::ServerContext*, const v1::StatRequest*,
                    v1::StatResponse* response) override {
    response->set_blobs(3);
    response->add_holds()->set_name("dataset/d");
    return grpc::Status::OK;
  }
  grpc::Status Verify(grpc::ServerContext*, const v1::VerifyRequest*,
                      grpc::ServerWriter<v1::VerifyProgress>* writer) override {
    v1::VerifyProgress progress;
    progress.set_blobs(1);
    writer->Write(progress);
    progress.set_blobs(3);
    if (damaged) progress.add_damaged()->set_hash("abc");
    progress.set_finished(true);
    writer->Write(progress);
    return grpc::Status::OK;
  }
  grpc::Status CollectGarbage(grpc::ServerContext*, const v1::CollectGarbageRequest* request,
                              v1::CollectGarbageResponse* response) override {
    response->set_dropped_blobs(request->target_bytes());
    return grpc::Status::OK;
  }
  grpc::Status Backup(grpc::ServerContext*, const v1::BackupRequest*,
                      v1::BackupResponse*) override {
    return {grpc::StatusCode::FAILED_PRECONDITION, "started without --backups"};
  }

  bool damaged = false;
};

class StoreCommandsTest : public CommandTest {
 protected:
  StoreCommandsTest() : dir_(*TempDir::Create()), address_("unix:" + dir_.path() + "/store") {
    server_ = *rpc::Server::Start({address_}, {&service_});
  }
  absl::StatusOr<int> Verify(bool json) {
    return Run(json, [this](Console& console) {
      return StoreVerify({.store = address_}, /*drop_damaged=*/false, signal_, console);
    });
  }

  rpc::TerminationSignal signal_;
  TempDir dir_;
  const std::string address_;
  FakeStore service_;
  std::unique_ptr<rpc::Server> server_;
};

TEST_F(StoreCommandsTest, StatPrintsATableOrJson) {
  for (const bool json : {false, true}) {
    const auto code = Run(json, [this](Console& console) {
      return StoreStat({.store = address_}, signal_, console);
    });
    ASSERT_THAT(code, IsOk());
    EXPECT_EQ(*code, kDone);
    if (json) {
      EXPECT_EQ(nlohmann::json::parse(out_)["holds"][0]["name"], "dataset/d");
    } else {
      EXPECT_THAT(out_, HasSubstr("dataset/d"));
    }
    EXPECT_EQ(err_, "");
  }
}

TEST_F(StoreCommandsTest, VerifyExitsWith1IfBlobsAreDamaged) {
  EXPECT_EQ(Verify(false).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("all are intact"));
  EXPECT_EQ(err_, "");  // a short command is silent where no terminal is
  service_.damaged = true;
  EXPECT_EQ(Verify(false).value(), kInputsFailed);
  EXPECT_THAT(out_, HasSubstr("  abc/0\n"));
  EXPECT_EQ(Verify(true).value(), kInputsFailed);
  EXPECT_EQ(nlohmann::json::parse(out_)["damaged"][0], "abc/0");
  const nlohmann::json progress = nlohmann::json::parse(err_.substr(0, err_.find('\n')));
  EXPECT_EQ(progress,
            (nlohmann::json{{"type", "progress"}, {"what", "blobs"}, {"done", 1}, {"all", 3}}));
}

TEST_F(StoreCommandsTest, GarbageIsCollectedDownToTheTarget) {
  const auto code = Run(true, [this](Console& console) {
    return StoreCollectGarbage({.store = address_}, {.target_bytes = 12, .yes = true}, signal_,
                               console);
  });
  EXPECT_EQ(code.value(), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_)["dropped_blobs"], 12);
}

TEST_F(StoreCommandsTest, WhatTheStoreRefusesIsAWrongRequest) {
  const auto backup = Run(false, [this](Console& console) {
    return MakeBackup(DataServer::kStore, {.store = address_}, {.name = "monday"}, signal_,
                      console);
  });
  EXPECT_EQ(ToExitCode(backup.status()), kRequestWrong);
  EXPECT_THAT(std::string(backup.status().message()), HasSubstr("--backups"));
  v1::Store::Service other_make;
  const std::string address = "unix:" + dir_.path() + "/other";
  const auto server = rpc::Server::Start({address}, {&other_make});
  const auto stat =
      Run(false, [&](Console& console) { return StoreStat({.store = address}, signal_, console); });
  EXPECT_EQ(ToExitCode(stat.status()), kRequestWrong);
  EXPECT_THAT(std::string(stat.status().message()), HasSubstr("not a kernelmill-store"));
}

TEST_F(StoreCommandsTest, RestoreNamesWhatIsNoBackup) {
  const auto code = Run(false, [this](Console& console) {
    return Restore(DataServer::kStore, dir_.path() + "/none", dir_.path() + "/data", console);
  });
  EXPECT_THAT(code, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(ToExitCode(code.status()), kRequestWrong);
}

}  // namespace
}  // namespace kernelmill::client
