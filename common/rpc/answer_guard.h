#ifndef KERNELMILL_COMMON_RPC_ANSWER_GUARD_H_
#define KERNELMILL_COMMON_RPC_ANSWER_GUARD_H_

#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace grpc {
class ServerContextBase;
}
namespace grpc::experimental {
class ServerInterceptorFactoryInterface;
}
namespace prometheus {
class Counter;
}

namespace kernelmill::rpc {

// Ends a call of this server with a status that the client gets even if it reads nothing else.
// Calls that the handler then makes on the stream fail.
void EndCall(grpc::ServerContextBase& call, const absl::Status& status);

// Ends calls whose client does not take the answer: such a call would hold its thread and its share
// of the memory as long as the client likes. The time begins when the handler has finished and the
// answer waits to be sent; DEADLINE_EXCEEDED then. Counted in kernelmill_answers_stalled_total.
// Must outlive the server. Thread-safe.
class AnswerGuard {
 public:
  explicit AnswerGuard(absl::Duration patience);
  ~AnswerGuard();

  // Makes the interceptors that see answers begin and end.
  static std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> NewInterceptors(
      AnswerGuard& guard);

 private:
  class Factory;
  class Answer;

  void Watch();
  void EndStalled();

  const absl::Duration patience_;
  prometheus::Counter& stalled_;
  // Recursive: to end a call may destroy its Answer in the same thread.
  std::recursive_mutex mutex_;
  std::list<Answer*> waiting_;  // the first to be ended first
  absl::Mutex stop_mutex_;
  bool stop_ ABSL_GUARDED_BY(stop_mutex_) = false;
  std::thread watcher_;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_ANSWER_GUARD_H_
