#include "services/deduplicator/server/deduplicator_service.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/stages.grpc.pb.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class DeduplicatorServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    service_ = NewDeduplicatorService();
    auto server = rpc::Server::Start({}, {service_.get()});
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    stub_ = v1::Deduplicator::NewStub(server_->InProcessChannel());
  }

  absl::Status Call(const v1::DeduplicateRequest& request, v1::DeduplicateResponse* response) {
    grpc::ClientContext context;
    return rpc::FromGrpcStatus(stub_->Deduplicate(&context, request, response));
  }

  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::Deduplicator::Stub> stub_;
};

TEST_F(DeduplicatorServiceTest, DecidesOnEveryText) {
  v1::DeduplicateRequest request;
  request.add_sources("def f(x): return x");
  request.add_sources(std::string("def \xff\0 g", 9));
  request.add_sources("def f(x): return x");
  v1::DeduplicateResponse response;
  ASSERT_THAT(Call(request, &response), IsOk());
  ASSERT_EQ(response.clusters().decisions_size(), 3);
  EXPECT_EQ(response.clusters().decisions(1).fate(), v1::FATE_KEPT);
  EXPECT_EQ(response.clusters().decisions(2).fate(), v1::FATE_DUPLICATE);
  EXPECT_EQ(response.clusters().decisions(2).leader(), 0u);
}

TEST_F(DeduplicatorServiceTest, AWrongThresholdIsRefused) {
  v1::DeduplicateRequest request;
  request.set_threshold(2);
  v1::DeduplicateResponse response;
  EXPECT_THAT(Call(request, &response), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::deduplicator
