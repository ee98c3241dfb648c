#include "common/rpc/answer_guard.h"

#include <grpc/grpc.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>
#include <prometheus/counter.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/metrics/metrics.h"
#include "common/rpc/status.h"

// gRPC sends the status of a call after its answer, and the answer only as fast as the client takes
// it (flow control of HTTP/2), without any bound on the time. The handler's thread waits meanwhile.
// Ending the call drops the rest of the answer, and sends a status, for which there is always room.
namespace kernelmill::rpc {

using grpc::experimental::InterceptionHookPoints;

void EndCall(grpc::ServerContextBase& call, const absl::Status& status) {
  const grpc::Status sent = ToGrpcStatus(status);
  grpc_call_cancel_with_status(call.c_call(), static_cast<grpc_status_code>(sent.error_code()),
                               sent.error_message().c_str(), nullptr);
}

// One call, from its status on. gRPC destroys it with the call.
class AnswerGuard::Answer final : public grpc::experimental::Interceptor {
 public:
  Answer(AnswerGuard& guard, grpc::ServerContextBase& call) : guard_(guard), call_(call) {}
  ~Answer() override {
    const std::lock_guard<std::recursive_mutex> lock(guard_.mutex_);
    Leave();
  }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      const std::lock_guard<std::recursive_mutex> lock(guard_.mutex_);
      Leave();
      deadline_ = MonotonicNow() + guard_.patience_;
      place_ = guard_.waiting_.insert(guard_.waiting_.end(), this);
    }
    methods->Proceed();
  }

  // These two need the lock.
  absl::Duration deadline() const { return deadline_; }
  void End() {
    Leave();
    EndCall(call_, absl::DeadlineExceededError(absl::StrCat(
                       "the answer was not read within ", absl::FormatDuration(guard_.patience_))));
  }

 private:
  void Leave() {
    if (place_ != guard_.waiting_.end()) guard_.waiting_.erase(place_);
    place_ = guard_.waiting_.end();
  }

  AnswerGuard& guard_;
  grpc::ServerContextBase& call_;
  absl::Duration deadline_;
  std::list<Answer*>::iterator place_ = guard_.waiting_.end();
};

class AnswerGuard::Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(AnswerGuard& guard) : guard_(guard) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return new Answer(guard_, *info->server_context());
  }

 private:
  AnswerGuard& guard_;
};

AnswerGuard::AnswerGuard(absl::Duration patience)
    : patience_(patience),
      stalled_(metrics::Counter(metrics::kStalledAnswers)),
      watcher_([this] { Watch(); }) {}

AnswerGuard::~AnswerGuard() {
  {
    absl::MutexLock lock(&stop_mutex_);
    stop_ = true;
  }
  watcher_.join();
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> AnswerGuard::NewInterceptors(
    AnswerGuard& guard) {
  return std::make_unique<Factory>(guard);
}

void AnswerGuard::Watch() {
  const absl::Duration pause = std::min(patience_ / 4, absl::Seconds(1));
  absl::MutexLock lock(&stop_mutex_);
  while (!stop_mutex_.AwaitWithTimeout(absl::Condition(&stop_), pause)) EndStalled();
}

// An answer's destructor waits for the lock, so that its call is still there.
void AnswerGuard::EndStalled() {
  const absl::Duration now = MonotonicNow();
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  while (!waiting_.empty() && waiting_.front()->deadline() <= now) {
    stalled_.Increment();
    waiting_.front()->End();
  }
}

}  // namespace kernelmill::rpc
