#ifndef KERNELMILL_COMMON_RPC_SELF_CHECK_H_
#define KERNELMILL_COMMON_RPC_SELF_CHECK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"

namespace grpc {
class ChannelCredentials;
}

namespace kernelmill::rpc {

// A thread that calls the process's own server as a client does, each time by a new connection, and
// gives up on it after several failures. A supervisor that only sees whether a process lives then
// starts another one.
class SelfCheck {
 public:
  struct Options {
    std::string target;  // the server's address, as clients write it
    std::shared_ptr<grpc::ChannelCredentials> credentials;  // null: no TLS
    absl::Duration interval = absl::Seconds(20);
    absl::Duration patience = absl::Seconds(10);  // for one answer
    int failures = 6;                             // in a row, after which give_up is called
    // Returns whether the server has refused connections since the last call. It then is not dead,
    // but full.
    std::function<bool()> is_full;
    std::function<void(const absl::Status& error)> give_up;
  };

  // Called on this object's thread, once: `give_up`.
  explicit SelfCheck(Options options);
  ~SelfCheck();

 private:
  void Run();

  const Options options_;
  std::atomic<bool> stopping_{false};
  Notifier stop_;
  std::thread thread_;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_SELF_CHECK_H_
