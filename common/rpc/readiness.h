#ifndef KERNELMILL_COMMON_RPC_READINESS_H_
#define KERNELMILL_COMMON_RPC_READINESS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "common/rpc/server.h"

namespace kernelmill::rpc {

// A thread that regularly checks the server's dependencies, reports the result through the health
// service (kReadyService), and logs changes. Calls are served either way.
class Readiness {
 public:
  // Returns OK if the server is ready, else the reason. Called on this object's thread.
  using Check = std::function<absl::Status()>;

  // `server` and everything that `check` uses must outlive it.
  Readiness(Server& server, Check check, absl::Duration interval = absl::Seconds(2));
  ~Readiness();

 private:
  void Run();

  Server& server_;
  const Check check_;
  const absl::Duration interval_;
  std::atomic<bool> stopping_{false};
  Notifier stop_;
  std::thread thread_;
};

// Checks that the channel is connected or can connect soon. UNAVAILABLE: it cannot; the message has
// `name`.
absl::Status CheckReach(grpc::Channel& channel, const std::string& name);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_READINESS_H_
