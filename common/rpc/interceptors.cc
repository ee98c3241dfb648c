#include "common/rpc/interceptors.h"

#include <grpcpp/support/client_interceptor.h>
#include <grpcpp/support/interceptor.h>
#include <grpcpp/support/server_interceptor.h>
#include <grpcpp/support/status.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "common/access/roles.h"
#include "common/metrics/metrics.h"

// Two interceptors: CallMetrics counts and times every call on both sides, under the names of
// go-grpc-prometheus; Explainer replaces the errors that a client gets if it talks to the wrong
// server by ones that say so.
namespace kernelmill::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;

constexpr std::array<const char*, 17> kCodes = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

// The metric families of a server or a client.
struct Side {
  const metrics::Family& started;
  const metrics::Family& handled;
  const metrics::Family& seconds;
};
constexpr Side kServer = {metrics::kServerStarted, metrics::kServerHandled,
                          metrics::kServerSeconds};
constexpr Side kClient = {metrics::kClientStarted, metrics::kClientHandled,
                          metrics::kClientSeconds};

// The instruments of one method. The first call creates them for all codes.
struct MethodInstruments {
  prometheus::Counter* started;
  std::array<prometheus::Counter*, kCodes.size()> handled;
  prometheus::Histogram* seconds;
};

// Methods that the table does not have share the labels "unknown": a stranger can call any name,
// and each would be a new series.
MethodInstruments Make(const Side& side, absl::string_view method) {
  std::pair<std::string, std::string> name = {"unknown", "unknown"};
  if (access::FindMethod(method) != nullptr) {
    name = absl::StrSplit(method.substr(1), absl::MaxSplits('/', 1));
  }
  metrics::Labels labels = {{"grpc_service", name.first}, {"grpc_method", name.second}};
  MethodInstruments made;
  made.started = &metrics::Counter(side.started, labels);
  made.seconds = &metrics::Histogram(side.seconds, labels);
  for (size_t code = 0; code < kCodes.size(); ++code) {
    labels["grpc_code"] = kCodes[code];
    made.handled[code] = &metrics::Counter(side.handled, labels);
  }
  return made;
}

// The instruments by method path, bounded by the method table. Thread-safe.
class Instruments {
 public:
  explicit Instruments(const Side& side) : side_(side), unknown_(Make(side, "")) {}

  const MethodInstruments& Get(absl::string_view method) {
    if (access::FindMethod(method) == nullptr) return unknown_;
    absl::MutexLock lock(&mutex_);
    std::unique_ptr<const MethodInstruments>& found = methods_[method];
    if (found == nullptr) found = std::make_unique<MethodInstruments>(Make(side_, method));
    return *found;
  }

 private:
  const Side side_;
  const MethodInstruments unknown_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::unique_ptr<const MethodInstruments>> methods_
      ABSL_GUARDED_BY(mutex_);
};

// The interceptor of one call. It counts the call's start, and its end with the status that passes
// by. A call that ends without a status was cancelled.
class CallMetrics final : public grpc::experimental::Interceptor {
 public:
  CallMetrics(const MethodInstruments& instruments, InterceptionHookPoints point)
      : instruments_(instruments), point_(point), start_(std::chrono::steady_clock::now()) {
    instruments_.started->Increment();
  }
  ~CallMetrics() override { Ended(grpc::StatusCode::CANCELLED); }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(point_)) {
      Ended(point_ == InterceptionHookPoints::PRE_SEND_STATUS
                ? methods->GetSendStatus().error_code()
                : methods->GetRecvStatus()->error_code());
    }
    methods->Proceed();
  }

 private:
  // A code outside the table counts as "Unknown", which is at 2. Only the first status counts.
  void Ended(grpc::StatusCode code) {
    if (ended_) return;
    ended_ = true;
    const auto at = static_cast<size_t>(code);
    instruments_.handled[at < kCodes.size() ? at : 2]->Increment();
    instruments_.seconds->Observe(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  }

  const MethodInstruments& instruments_;
  const InterceptionHookPoints point_;
  const std::chrono::steady_clock::time_point start_;
  bool ended_ = false;
};

// gRPC asks the factory for an interceptor for each call and owns what it returns.
class ServerFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    static auto* const instruments = new Instruments(kServer);
    return new CallMetrics(instruments->Get(info->method() == nullptr ? "" : info->method()),
                           InterceptionHookPoints::PRE_SEND_STATUS);
  }
};

class ClientFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override {
    static auto* const instruments = new Instruments(kClient);
    return new CallMetrics(instruments->Get(info->method() == nullptr ? "" : info->method()),
                           InterceptionHookPoints::POST_RECV_STATUS);
  }
};

}  // namespace

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
ServerCallMetrics() {
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<ServerFactory>());
  return factories;
}

std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
ClientCallMetrics() {
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<ClientFactory>());
  return factories;
}

namespace {

// A prefix of services, the server that has them, and the likely mistake.
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

// Names the server that has the service, and the flag that is probably wrong.
std::string UnknownService(absl::string_view target, absl::string_view method) {
  absl::ConsumePrefix(&method, "/");
  for (const Expected& expected : kExpected) {
    if (!absl::StartsWith(method, expected.services)) continue;
    return absl::StrCat(target, " answers, but is not ", expected.server,
                        " of this version (it does not have ", method, "): ", expected.question);
  }
  return absl::StrCat(target, " answers, but does not have ", method);
}

// Looks at the status of a call as the client gets it, and replaces it.
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

// gRPC tells these cases apart only by the text of its message. An HTTP answer becomes
// FAILED_PRECONDITION, which is not retried, since waiting does not turn a web server into another.
// A connection that closes stays UNAVAILABLE: a server that restarts closes connections too.
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
                         " answers, but without TLS: omit --tls-ca, or start it with "
                         "--tls-cert; ",
                         said)};
  }
  const bool closed = absl::StrContains(said, "Socket closed") ||
                      absl::StrContains(said, "Connection reset by peer");
  if (!with_tls && closed) {
    return {status.error_code(),
            absl::StrCat(target,
                         " closes each connection; a server with TLS does that if "
                         "--tls-ca is missing: ",
                         said)};
  }
  return status;
}

std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> WrongServerExplainer(
    const std::string& target, bool with_tls) {
  return std::make_unique<Factory>(target, with_tls);
}

}  // namespace kernelmill::rpc
