#include "common/rpc/interceptors.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/rpc/server.h"
#include "common/testing/rpc/generic_call.h"

namespace kernelmill::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

grpc::Status Unavailable(const std::string& said) { return {grpc::StatusCode::UNAVAILABLE, said}; }

TEST(WrongServer, OneThatDoesNotKnowTheServiceIsNamedWithWhatWasAskedOfIt) {
  const auto server = *Server::Start({.address = "127.0.0.1:0"}, {});
  const std::string address = absl::StrCat("127.0.0.1:", server->port());
  const auto call = [&](const char* method) {
    return kernelmill::testing::GenericCall(Connect(address), method, absl::Seconds(20));
  };
  const grpc::Status crawl = call("/kernelmill.v1.Crawl/Submit");
  EXPECT_EQ(crawl.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(crawl.error_message(),
            address +
                " answers, but is not a coordinator of this version (it does not have "
                "kernelmill.v1.Crawl/Submit): is --coordinator the store's address?");
  EXPECT_THAT(call("/build.bazel.remote.execution.v2.ActionCache/GetActionResult").error_message(),
              HasSubstr("is not a content store"));
  EXPECT_EQ(call("/x.Y/Z").error_message(), address + " answers, but does not have x.Y/Z");
}

TEST(WrongServer, OneThatSpeaksNoGrpcIsNotTriedAgain) {
  const grpc::Status status =
      ExplainWrongServer(Unavailable("failed to connect to all addresses; last error: UNAVAILABLE: "
                                     "ipv4:127.0.0.1:8070: Failed parsing HTTP/2"),
                         "127.0.0.1:8070", "/kernelmill.v1.Crawl/Submit", /*with_tls=*/false);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(),
              StartsWith("127.0.0.1:8070 answers, but does not speak gRPC"));
}

TEST(WrongServer, SaysWhoLacksTls) {
  EXPECT_THAT(ExplainWrongServer(Unavailable("Socket closed"), "a:1", "", false).error_message(),
              HasSubstr("if --tls-ca is missing"));
  EXPECT_EQ(ExplainWrongServer(Unavailable("Socket closed"), "a:1", "", true).error_message(),
            "Socket closed");
  EXPECT_THAT(ExplainWrongServer(Unavailable("SSL routines::wrong version number"), "a:1", "", true)
                  .error_message(),
              StartsWith("a:1 answers, but without TLS"));
}

TEST(WrongServer, WhatAServerSaysItselfStays) {
  const grpc::Status said(grpc::StatusCode::UNIMPLEMENTED, "not here");
  EXPECT_EQ(ExplainWrongServer(said, "a:1", "/kernelmill.v1.Crawl/Submit", false).error_message(),
            "not here");
  const grpc::Status refused = Unavailable("Connection refused");
  EXPECT_EQ(ExplainWrongServer(refused, "a:1", "", false).error_message(), "Connection refused");
}

}  // namespace
}  // namespace kernelmill::rpc
