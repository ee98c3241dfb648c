#ifndef KERNELMILL_CLIENT_GRPC_RETRYING_CALLER_H_
#define KERNELMILL_CLIENT_GRPC_RETRYING_CALLER_H_

#include <functional>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"

namespace grpc {
class ClientContext;
class Status;
}  // namespace grpc

namespace kernelmill::client {

struct ReconnectOptions {
  // The time to try to reach a server that does not answer.
  absl::Duration timeout = absl::Seconds(10);
  // Called once, before the second try.
  std::function<void(const absl::Status&)> on_unreachable = [](const absl::Status&) {};
};

// A maker of calls for a client that a person waits for. Each call has a deadline, is repeated
// while the server is out of reach, and is ended at once by Interrupt(). Thread-safe.
class RetryingCaller {
 public:
  using Attempt = std::function<grpc::Status(grpc::ClientContext&)>;

  explicit RetryingCaller(ReconnectOptions reconnect) : reconnect_(std::move(reconnect)) {}

  // Repeats a call until it is OK, its error is not retryable, or the reconnect timeout is over.
  // `deadline` applies to each try. CANCELLED: it was interrupted.
  absl::Status Call(absl::string_view what, const Attempt& attempt,
                    absl::Duration deadline = absl::Seconds(30));

  // Makes a call once and without a deadline, for streams. Keepalive detects a dead peer.
  absl::Status Stream(const Attempt& attempt);

  // Ends the running calls and every later one.
  void Interrupt();

 private:
  absl::Status Once(grpc::ClientContext& context, const Attempt& attempt);
  // Waits. CANCELLED: it was interrupted.
  absl::Status Pause(absl::Duration time);

  const ReconnectOptions reconnect_;
  Notifier interrupt_;
  absl::Mutex mutex_;
  std::set<grpc::ClientContext*> running_ ABSL_GUARDED_BY(mutex_);
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_GRPC_RETRYING_CALLER_H_
