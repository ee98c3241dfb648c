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

// Looks now and then, while it lives, whether what a server depends on is there, tells the health
// service (kReadyService), and logs when that changes. Nothing is done about it: calls go on.
class Readiness {
 public:
  // OK: ready; else why not. Called on a thread of its own.
  using Check = std::function<absl::Status()>;

  // `server` must outlive it, and what `check` uses.
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

// OK if a connection is there, or can be made soon. UNAVAILABLE: it cannot; `name` says to what.
absl::Status CheckReach(grpc::Channel& channel, const std::string& name);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_READINESS_H_
