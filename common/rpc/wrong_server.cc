#include "common/rpc/wrong_server.h"

#include <grpcpp/support/client_interceptor.h>
#include <grpcpp/support/status.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::rpc {
namespace {

// Who knows a service, and which address was likely taken for theirs.
struct Expected {
  absl::string_view services;  // prefix
  absl::string_view server;
  absl::string_view question;
};

constexpr Expected kExpected[] = {
    {"kernelmill.v1.Crawl/", "a coordinator", "is --coordinator the store's address?"},
    {"kernelmill.v1.Work/", "a coordinator", "is --coordinator the store's address?"},
    {"kernelmill.v1.Store/", "a kernelmill-store", "is --store the coordinator's address?"},
    {"build.bazel.", "a content store", "is --store the coordinator's address?"},
    {"google.bytestream.", "a content store", "is --store the coordinator's address?"},
};

std::string UnknownService(absl::string_view target, absl::string_view method) {
  absl::ConsumePrefix(&method, "/");
  for (const Expected& expected : kExpected) {
    if (!absl::StartsWith(method, expected.services)) continue;
    return absl::StrCat(target, " answers, but is not ", expected.server,
                        " of this version (it does not know ", method, "): ", expected.question);
  }
  return absl::StrCat(target, " answers, but does not know ", method);
}

class Explainer final : public grpc::experimental::Interceptor {
 public:
  Explainer(const std::string& target, std::string method, bool with_tls)
      : target_(target), method_(std::move(method)), with_tls_(with_tls) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::POST_RECV_STATUS)) {
      grpc::Status* const status = methods->GetRecvStatus();
      if (!status->ok()) *status = ExplainWrongServer(*status, target_, method_, with_tls_);
    }
    methods->Proceed();
  }

 private:
  const std::string target_;
  const std::string method_;
  const bool with_tls_;
};

class Factory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  Factory(std::string target, bool with_tls) : target_(std::move(target)), with_tls_(with_tls) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override {
    return new Explainer(target_, info->method() == nullptr ? "" : info->method(), with_tls_);
  }

 private:
  const std::string target_;
  const bool with_tls_;
};

}  // namespace

grpc::Status ExplainWrongServer(const grpc::Status& status, absl::string_view target,
                                absl::string_view method, bool with_tls) {
  const std::string said = status.error_message();
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED && said.empty()) {
    return {status.error_code(), UnknownService(target, method)};
  }
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return status;
  if (absl::StrContains(said, "Failed parsing HTTP/2") || absl::StrContains(said, "http1.x")) {
    return {grpc::StatusCode::FAILED_PRECONDITION,
            absl::StrCat(target,
                         " answers, but does not speak gRPC: is it a web server, or the "
                         "port of a server's --metrics?")};
  }
  if (with_tls && absl::StrContains(said, "wrong version number")) {
    return {status.error_code(),
            absl::StrCat(target,
                         " answers, but without TLS: leave --tls-ca out, or start it with "
                         "--tls-cert; ",
                         said)};
  }
  const bool closed = absl::StrContains(said, "Socket closed") ||
                      absl::StrContains(said, "Connection reset by peer");
  if (!with_tls && closed) {
    return {status.error_code(),
            absl::StrCat(target,
                         " takes connections and closes them; a server with TLS does that "
                         "where --tls-ca is missing: ",
                         said)};
  }
  return status;
}

std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> WrongServerExplainer(
    const std::string& target, bool with_tls) {
  return std::make_unique<Factory>(target, with_tls);
}

}  // namespace kernelmill::rpc
