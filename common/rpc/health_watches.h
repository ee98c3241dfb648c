#ifndef KERNELMILL_COMMON_RPC_HEALTH_WATCHES_H_
#define KERNELMILL_COMMON_RPC_HEALTH_WATCHES_H_

#include <memory>
#include <mutex>
#include <set>

namespace grpc {
class CallbackServerContext;
}
namespace grpc::experimental {
class ServerInterceptorFactoryInterface;
}

namespace kernelmill::rpc {

// The calls of Health.Watch that a server has. They never end by themselves, so that a server that
// stops has to end them: otherwise it waits for them as long as for work. Thread-safe.
class HealthWatches {
 public:
  // Makes the interceptors that find the calls. `watches` must outlive the server.
  static std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> NewInterceptors(
      HealthWatches& watches);

  // Ends all watches, and each later one at its start.
  void End();

 private:
  class Factory;
  class Watch;

  // Recursive: to cancel a call may destroy its Watch in the same thread.
  std::recursive_mutex mutex_;
  std::set<grpc::CallbackServerContext*> calls_;
  bool ended_ = false;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_HEALTH_WATCHES_H_
