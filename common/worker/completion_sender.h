#ifndef KERNELMILL_COMMON_WORKER_COMPLETION_SENDER_H_
#define KERNELMILL_COMMON_WORKER_COMPLETION_SENDER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "common/rpc/retry.h"
#include "common/worker/lease_renewer.h"
#include "common/worker/work_queue.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// Sends a worker's completions to the coordinator. It makes one call at a time, with all
// completions that arrived during the previous call, and retries until the coordinator answers. A
// completion that lost its lease meanwhile is dropped. Thread-safe.
class CompletionSender {
 public:
  // Called with the outcome of each completion: "done", "cached", "error", "handed_back", "refused"
  // or "lost".
  using Outcome = std::function<void(const v1::Completion&, const char*)>;

  // `queue` and `leases` must outlive it. `backoff`: the pauses while the coordinator is
  // unreachable; max_attempts is ignored.
  CompletionSender(WorkQueue& queue, LeaseRenewer& leases, std::string worker,
                   const rpc::RetryPolicy& backoff, Outcome outcome);

  // Adds a completion. One without an outcome is dropped as "lost".
  void Put(v1::Completion completion);
  // Sends completions until Close() was called and none is left.
  void Run();
  void Close();

 private:
  std::vector<v1::Completion> AwaitBatch();
  void Send(std::vector<v1::Completion> batch);
  // Sends a batch. Returns whether the coordinator answered.
  bool Answered(const std::vector<v1::Completion>& batch);
  // Removes the completions whose lease is lost, and reports their outcome.
  void DropLost(std::vector<v1::Completion>& batch);
  void End(const v1::Completion& completion, const char* outcome);

  WorkQueue& queue_;
  LeaseRenewer& leases_;
  const std::string worker_;
  const rpc::RetryPolicy backoff_;
  const Outcome outcome_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::Completion> waiting_;
  bool closed_ = false;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_COMPLETION_SENDER_H_
