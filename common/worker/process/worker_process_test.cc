#include "common/worker/process/worker_process.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace kernelmill::worker {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

class FakeWork : public v1::Work::Service {
  grpc::Status Renew(grpc::ServerContext*, const v1::RenewRequest*, v1::RenewResponse*) override {
    return {grpc::StatusCode::INVALID_ARGUMENT, "worker: empty"};
  }
};

class FakeBlobs : public build::bazel::remote::execution::v2::ContentAddressableStorage::Service {
  grpc::Status FindMissingBlobs(
      grpc::ServerContext*, const build::bazel::remote::execution::v2::FindMissingBlobsRequest*,
      build::bazel::remote::execution::v2::FindMissingBlobsResponse*) override {
    return grpc::Status::OK;
  }
};

std::shared_ptr<grpc::Channel> To(const rpc::Server& server) {
  return rpc::Connect(absl::StrCat("127.0.0.1:", server.port()));
}

TEST(Peers, SwappedAddressesAreFoundOut) {
  FakeWork work;
  FakeBlobs blobs;
  const auto coordinator = *rpc::Server::Start({.address = "127.0.0.1:0"}, {&work});
  const auto store = *rpc::Server::Start({.address = "127.0.0.1:0"}, {&blobs});
  const absl::Duration patience = absl::Seconds(20);
  EXPECT_THAT(CheckPeers(To(*coordinator), To(*store), patience), IsOk());
  const absl::Status swapped = CheckPeers(To(*store), To(*coordinator), patience);
  EXPECT_THAT(swapped, StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(std::string(swapped.message()), HasSubstr("is --coordinator the store's address?"));
  const absl::Status store_wrong = CheckPeers(To(*coordinator), To(*coordinator), patience);
  EXPECT_THAT(store_wrong, StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(std::string(store_wrong.message()), HasSubstr("is not a content store"));
}

TEST(Peers, ThoseThatAreAwayAreNoError) {
  const auto nobody = rpc::Connect("127.0.0.1:1");
  EXPECT_THAT(CheckPeers(nobody, nobody, absl::Seconds(2)), IsOk());
}

}  // namespace
}  // namespace kernelmill::worker
