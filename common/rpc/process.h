#ifndef KERNELMILL_COMMON_RPC_PROCESS_H_
#define KERNELMILL_COMMON_RPC_PROCESS_H_

#include <atomic>

#include "absl/time/time.h"

namespace kernelmill::rpc {

// SIGTERM and SIGINT as an event to wait for. Construct it first in main(), before any thread
// starts: it blocks both signals for this thread and those it starts. SIGPIPE is ignored.
class TerminationSignal {
 public:
  TerminationSignal();

  // Waits for a signal, at most `timeout`; true once one has come, then and ever after.
  bool WaitFor(absl::Duration timeout);
  // Waits for a signal.
  void Wait();

 private:
  std::atomic<bool> received_{false};
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_PROCESS_H_
