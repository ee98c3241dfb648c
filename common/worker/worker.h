#ifndef KERNELMILL_COMMON_WORKER_WORKER_H_
#define KERNELMILL_COMMON_WORKER_WORKER_H_

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "common/cas/blob_store.h"
#include "common/rpc/retry.h"
#include "common/worker/lease_keeper.h"
#include "common/worker/stage.h"
#include "common/worker/task_runner.h"
#include "common/worker/work_queue.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// A worker: slots that lease tasks, run them through the action cache, and hand in what came out.
// Neither the coordinator nor the store being away ends it: it asks again, ever more slowly. A
// result whose lease was lost meanwhile is not handed in. Thread-safe.
class Worker {
 public:
  struct Options {
    std::string name;  // for the coordinator's logs
    int slots = 1;     // tasks at a time
    // How long one Lease call waits for a task. A drain waits for the call to end: a call that is
    // broken off could take a lease with it.
    absl::Duration poll = absl::Seconds(2);
    // How to wait for whom is away; max_attempts is not used.
    rpc::RetryPolicy away = {.max_attempts = 0, .max_backoff = absl::Seconds(3)};
  };

  // `queue`, which is this worker's alone, `store` and `stages` must outlive it.
  Worker(const Options& options, WorkQueue& queue, cas::BlobStore& store,
         const std::vector<Stage*>& stages);
  // Drains at once, and waits for the stages that run.
  ~Worker();

  // Starts to lease. Call once.
  void Start();

  // Leases nothing more, and waits until what runs is done and handed in. After `grace` hands back
  // what is not, and ends every call. Returns whether all had finished; if not, stages are still
  // running.
  bool Drain(absl::Duration grace);

 private:
  void RunSlot();
  void RunTask(const v1::LeasedTask& task);
  // What to hand in for the task; without an outcome if its lease was lost or a drain gave it up.
  v1::Completion Work(const v1::LeasedTask& task, const v1::LeaseRef& lease);
  // Hands it in, until the coordinator has answered; returns what became of it, for the metrics.
  const char* HandIn(const v1::Completion& completion);
  absl::StatusOr<v1::CompleteResponse> Complete(const std::vector<v1::Completion>& completions);
  // False at once if the lease is lost.
  bool PauseTask(const v1::LeaseRef& lease, absl::Duration pause);
  bool AllIdle() const;

  const Options options_;
  WorkQueue& queue_;
  v1::LeaseRequest lease_request_;
  TaskRunner runner_;
  LeaseKeeper keeper_;
  Notifier changed_;  // draining_ was set, or a slot has ended
  std::atomic<bool> draining_{false};
  mutable absl::Mutex mutex_;
  int slots_running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> slots_;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORKER_H_
