#include "common/rpc/call_metrics.h"

#include <grpcpp/support/client_interceptor.h>
#include <grpcpp/support/interceptor.h>
#include <grpcpp/support/server_interceptor.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/access/roles.h"
#include "common/metrics/metrics.h"

namespace kernelmill::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;

constexpr std::array<const char*, 17> kCodes = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

// One side's families.
struct Side {
  const metrics::Family& started;
  const metrics::Family& handled;
  const metrics::Family& seconds;
};
constexpr Side kServer = {metrics::kServerStarted, metrics::kServerHandled,
                          metrics::kServerSeconds};
constexpr Side kClient = {metrics::kClientStarted, metrics::kClientHandled,
                          metrics::kClientSeconds};

// The instruments of one method; those of all codes are there from its first call on.
struct MethodInstruments {
  prometheus::Counter* started;
  std::array<prometheus::Counter*, kCodes.size()> handled;
  prometheus::Histogram* seconds;
};

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

// Looks a method's instruments up, by its path; as bounded as the table of methods is. Thread-safe.
class Instruments {
 public:
  explicit Instruments(const Side& side) : side_(side), unknown_(Make(side, "")) {}

  const MethodInstruments& Of(absl::string_view method) {
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

// One call. Counts it as it begins and, by the status that it sees go by, as it ends; a call that
// ends without one was cancelled.
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

class ServerFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    static auto* const instruments = new Instruments(kServer);
    return new CallMetrics(instruments->Of(info->method() == nullptr ? "" : info->method()),
                           InterceptionHookPoints::PRE_SEND_STATUS);
  }
};

class ClientFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override {
    static auto* const instruments = new Instruments(kClient);
    return new CallMetrics(instruments->Of(info->method() == nullptr ? "" : info->method()),
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

}  // namespace kernelmill::rpc
