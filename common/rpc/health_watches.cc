#include "common/rpc/health_watches.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include "absl/strings/string_view.h"

namespace kernelmill::rpc {

using grpc::experimental::InterceptionHookPoints;

// One watch, which gRPC destroys with its call.
class HealthWatches::Watch final : public grpc::experimental::Interceptor {
 public:
  Watch(HealthWatches& watches, grpc::CallbackServerContext* call)
      : watches_(watches), call_(call) {}
  ~Watch() override {
    const std::lock_guard<std::recursive_mutex> lock(watches_.mutex_);
    watches_.calls_.erase(call_);
  }

  // A call can be cancelled from its metadata on.
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      const std::lock_guard<std::recursive_mutex> lock(watches_.mutex_);
      if (watches_.ended_) {
        call_->TryCancel();
      } else {
        watches_.calls_.insert(call_);
      }
    }
    methods->Proceed();
  }

 private:
  HealthWatches& watches_;
  grpc::CallbackServerContext* const call_;
};

class HealthWatches::Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(HealthWatches& watches) : watches_(watches) {}

  // gRPC's health service has handlers of the callback kind.
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    const char* const method = info->method();
    if (method == nullptr || absl::string_view(method) != "/grpc.health.v1.Health/Watch") {
      return nullptr;
    }
    return new Watch(watches_, static_cast<grpc::CallbackServerContext*>(info->server_context()));
  }

 private:
  HealthWatches& watches_;
};

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
HealthWatches::NewInterceptors(HealthWatches& watches) {
  return std::make_unique<Factory>(watches);
}

void HealthWatches::End() {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  ended_ = true;
  while (!calls_.empty()) {
    grpc::CallbackServerContext* const call = *calls_.begin();
    calls_.erase(call);
    call->TryCancel();
  }
}

}  // namespace kernelmill::rpc
