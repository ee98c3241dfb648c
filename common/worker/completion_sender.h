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

// Hands in what a worker has done: one call at a time with all that came while the one before it
// was on its way, again and again until the coordinator has answered. What lost its lease meanwhile
// is dropped. Thread-safe.
class CompletionSender {
 public:
  // Told of each completion what became of it: "done", "cached", "error", "handed_back", "refused"
  // or "lost".
  using Outcome = std::function<void(const v1::Completion&, const char*)>;

  // `queue` and `leases` must outlive it. `backoff`: between calls to a coordinator that is
  // unreachable; its max_attempts is not used.
  CompletionSender(WorkQueue& queue, LeaseRenewer& leases, std::string worker,
                   const rpc::RetryPolicy& backoff, Outcome outcome);

  // One without an outcome is dropped, as lost.
  void Put(v1::Completion completion);
  // Sends until Close() was called and nothing is left to be sent.
  void Run();
  void Close();

 private:
  std::vector<v1::Completion> AwaitBatch();
  void Send(std::vector<v1::Completion> batch);
  // Whether the coordinator has answered for all of them.
  bool Answered(const std::vector<v1::Completion>& batch);
  // Removes and reports those whose lease is lost.
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
