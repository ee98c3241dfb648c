#include "services/compiler/server/compiler_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/compiler/server/fake_compiler.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class CompilerServiceTest : public ::testing::Test {
 protected:
  CompilerServiceTest() {
    auto server = rpc::Server::Start({}, {service_.get()});
    EXPECT_THAT(server, IsOk());
    server_ = *std::move(server);
    stub_ = v1::Compiler::NewStub(server_->InProcessChannel());
    *request_.mutable_kernels() = Kernels();
    request_.mutable_compile()->add_targets("cuda:80");
  }

  absl::Status Call() {
    grpc::ClientContext context;
    return rpc::FromGrpcStatus(stub_->Compile(&context, request_, &response_));
  }

  FakeCompiler compiler_;
  std::unique_ptr<grpc::Service> service_ = NewCompilerService(compiler_);
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::Compiler::Stub> stub_;
  v1::CompileRequest request_;
  v1::CompileResponse response_;
};

TEST_F(CompilerServiceTest, AnswersOverAChannelByAllToolchainsUnlessTold) {
  ASSERT_THAT(Call(), IsOk());
  ASSERT_EQ(response_.compiled().kernels_size(), 2);
  EXPECT_EQ(response_.compiled().kernels(0).results_size(), 2) << "two toolchains are pinned";
  request_.mutable_compile()->add_toolchains("triton-3.5.1");
  ASSERT_THAT(Call(), IsOk());
  EXPECT_EQ(response_.compiled().kernels(0).results_size(), 1);
}

TEST_F(CompilerServiceTest, WhatIsNotPinnedAndTooManyKernelsAreRefused) {
  request_.mutable_compile()->add_toolchains("gcc");
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kInvalidArgument));
  request_.mutable_compile()->clear_toolchains();
  request_.mutable_compile()->add_targets("cuda:1");
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kInvalidArgument));
  request_.mutable_compile()->clear_targets();
  for (int i = 0; i < 256; ++i) request_.mutable_kernels()->add_kernels();
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CompilerServiceStopTest, ACallerWhoGoesEndsWhatWasCompiledForIt) {
  EndlessCompiler endless;
  const std::unique_ptr<grpc::Service> service = NewCompilerService(endless);
  auto server = rpc::Server::Start({}, {service.get()});
  ASSERT_THAT(server, IsOk());
  const auto stub = v1::Compiler::NewStub((*server)->InProcessChannel());
  v1::CompileRequest request;
  *request.mutable_kernels() = Kernels();
  grpc::ClientContext context;
  v1::CompileResponse response;
  grpc::Status status;
  std::thread call([&] { status = stub->Compile(&context, request, &response); });
  endless.began.WaitForNotification();
  context.TryCancel();
  call.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  server->reset();  // waits for the handler
}

TEST_F(CompilerServiceTest, AMissingToolchainIsSaid) {
  compiler_.status = absl::FailedPreconditionError("not installed");
  EXPECT_THAT(Call(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::compiler
