// A proxy of the coordinator that loses answers, and repeats, delays and forges completions. It
// checks the promises of Work: a repeated completion gets the same answer, a token that is not held
// is refused, and the job's result does not change.

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/rpc/server.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "tests/chaos/client/commands.h"

namespace kernelmill::chaos {
namespace {

constexpr size_t kRemembered = 256;

class Proxy : public v1::Work::Service {
 public:
  Proxy(const std::string& coordinator, uint64_t seed)
      : stub_(v1::Work::NewStub(rpc::Connect(coordinator))), random_(seed) {}

  grpc::Status Lease(grpc::ServerContext* context, const v1::LeaseRequest* request,
                     v1::LeaseResponse* response) override {
    const auto call = grpc::ClientContext::FromServerContext(*context);
    return stub_->Lease(call.get(), *request, response);
  }

  grpc::Status Renew(grpc::ServerContext* context, const v1::RenewRequest* request,
                     v1::RenewResponse* response) override {
    const auto call = grpc::ClientContext::FromServerContext(*context);
    return stub_->Renew(call.get(), *request, response);
  }

  grpc::Status Complete(grpc::ServerContext* context, const v1::CompleteRequest* request,
                        v1::CompleteResponse* response) override {
    const grpc::Status lost(grpc::StatusCode::UNAVAILABLE, "the answer was lost on the way");
    switch (Roll(6)) {
      case 0: {  // accepted, but the answer is lost
        const grpc::Status status = Forward(*request, response);
        if (status.ok()) Count("answer lost");
        return status.ok() ? lost : status;
      }
      case 1: {  // twice
        v1::CompleteResponse first;
        const grpc::Status status = Forward(*request, &first);
        if (!status.ok()) return status;
        Count("sent twice");
        const grpc::Status again = Forward(*request, response);
        if (again.ok()) ExpectSame(first, *response);
        return again;
      }
      case 2:  // delayed, so that others overtake it
        Hold(*request);
        Count("held back");
        return lost;
      case 3:  // after the delayed ones, in the wrong order
        for (v1::CompleteRequest held; TakeNewest(&held);) {
          v1::CompleteResponse ignored;
          if (Forward(held, &ignored).ok()) Count("out of order");
        }
        return Forward(*request, response);
      case 4:
        Forge(*request);
        return Forward(*request, response);
      default:
        ReplayOld();
        return Forward(*request, response);
    }
  }

  // Writes the actions and returns the exit status.
  int Report() {
    absl::MutexLock lock(&mutex_);
    for (const auto& [what, times] : counts_) std::printf("%s: %d\n", what.c_str(), times);
    return violations_ == 0 ? 0 : 1;
  }

 private:
  int Roll(int sides) {
    absl::MutexLock lock(&mutex_);
    return static_cast<int>(random_() % sides);
  }
  void Count(const std::string& what) {
    absl::MutexLock lock(&mutex_);
    ++counts_[what];
  }
  void Violation(const std::string& text) {
    std::printf("violation: %s\n", text.c_str());
    absl::MutexLock lock(&mutex_);
    ++violations_;
  }

  grpc::Status Send(const v1::CompleteRequest& request, v1::CompleteResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(30)));
    return stub_->Complete(&context, request, response);
  }

  // Sends the completion and remembers it if it was accepted.
  grpc::Status Forward(const v1::CompleteRequest& request, v1::CompleteResponse* response) {
    const grpc::Status status = Send(request, response);
    if (!status.ok() || response->statuses_size() != request.completions_size()) return status;
    absl::MutexLock lock(&mutex_);
    for (int i = 0; i < request.completions_size(); ++i) {
      // After an error or a handback the task may be leased again; the old token is stale then.
      if (response->statuses(i).code() != 0 || !request.completions(i).has_result()) continue;
      accepted_.push_back(request.completions(i));
      if (accepted_.size() > kRemembered) accepted_.pop_front();
    }
    return status;
  }

  void ExpectSame(const v1::CompleteResponse& first, const v1::CompleteResponse& again) {
    for (int i = 0; i < first.statuses_size(); ++i) {
      if (first.statuses(i).code() != again.statuses(i).code()) {
        Violation(absl::StrCat("sent twice, answered ", first.statuses(i).code(), " and ",
                               again.statuses(i).code()));
      }
    }
  }

  void Hold(const v1::CompleteRequest& request) {
    absl::MutexLock lock(&mutex_);
    held_.push_back(request);
  }
  bool TakeNewest(v1::CompleteRequest* request) {
    absl::MutexLock lock(&mutex_);
    if (held_.empty()) return false;
    *request = held_.back();
    held_.pop_back();
    return true;
  }

  // Repeats an old accepted completion, once with its result and once as a failure.
  void ReplayOld() {
    v1::CompleteRequest request;
    {
      absl::MutexLock lock(&mutex_);
      if (accepted_.empty()) return;
      *request.add_completions() = accepted_[random_() % accepted_.size()];
    }
    v1::Completion& failed = *request.add_completions();
    *failed.mutable_lease() = request.completions(0).lease();
    failed.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    v1::CompleteResponse response;
    if (!Send(request, &response).ok()) return;
    Count("replayed");
    for (const auto& status : response.statuses()) {
      if (status.code() != 0)
        Violation("a completion that was accepted is refused when it comes again");
    }
  }

  // Sends tokens that were never granted.
  void Forge(const v1::CompleteRequest& request) {
    v1::CompleteRequest forged;
    for (const v1::Completion& completion : request.completions()) {
      for (const int64_t change : {-1, 1, 1'000'000}) {
        v1::Completion& bad = *forged.add_completions();
        *bad.mutable_lease() = completion.lease();
        bad.mutable_lease()->set_token(completion.lease().token() + change);
        bad.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
      }
      v1::Completion& unknown = *forged.add_completions();
      unknown.mutable_lease()->set_task(completion.lease().task() + (uint64_t{1} << 40));
      unknown.mutable_lease()->set_token(completion.lease().token());
      unknown.mutable_result();
    }
    v1::CompleteResponse response;
    if (!Send(forged, &response).ok()) return;
    Count("forged");
    for (const auto& status : response.statuses()) {
      if (status.code() != static_cast<int>(absl::StatusCode::kFailedPrecondition)) {
        Violation(absl::StrCat("a forged token was answered with ", status.code()));
      }
    }
  }

  const std::unique_ptr<v1::Work::Stub> stub_;
  absl::Mutex mutex_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::Completion> accepted_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::CompleteRequest> held_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> counts_ ABSL_GUARDED_BY(mutex_);
  int violations_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

int WorkProxy(const Words& words) {
  rpc::TerminationSignal termination;
  Proxy proxy(words[1], std::strtoull(words[2].c_str(), nullptr, 10));
  const auto server = rpc::Server::Start({.address = words[0]}, {&proxy});
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 2;
  }
  std::puts("serving");
  termination.Wait();
  (*server)->Shutdown(absl::Seconds(5));
  return proxy.Report();
}

}  // namespace kernelmill::chaos
