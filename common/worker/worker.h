#ifndef KERNELMILL_COMMON_WORKER_WORKER_H_
#define KERNELMILL_COMMON_WORKER_WORKER_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "common/cas/blob_store.h"
#include "common/rpc/retry.h"
#include "common/worker/backlog.h"
#include "common/worker/completion_sender.h"
#include "common/worker/lease_renewer.h"
#include "common/worker/stage.h"
#include "common/worker/task_log.h"
#include "common/worker/task_runner.h"
#include "common/worker/work_queue.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// A worker: leases tasks, runs them in its slots through the action cache, and hands in what came
// out. One thread leases, ahead of need where tasks are short; one hands in, in batches; one
// renews. An unreachable coordinator or store does not end it: it asks again, ever more
// slowly. A result whose lease was lost meanwhile is not handed in. Thread-safe.
class Worker {
 public:
  struct Options {
    std::string name;     // for the coordinator's logs
    std::string version;  // of its build, likewise
    int slots = 1;        // tasks at a time
    // How long one Lease call waits for a task. A drain waits for the call to end: a call that is
    // broken off could take a lease with it.
    absl::Duration poll = absl::Seconds(2);
    // A task that runs longer is taken to hang: as a stage that hangs heeds nobody, `on_stuck` is
    // to end the process, so that the coordinator learns of it. Zero: no limit.
    absl::Duration task_timeout = absl::ZeroDuration();
    std::function<void()> on_stuck;
    // Between calls to a coordinator or a store that is unreachable; max_attempts is not used.
    rpc::RetryPolicy unreachable_backoff = {.max_attempts = 0, .max_backoff = absl::Seconds(3)};
  };

  // `queue`, which is this worker's alone, `store` and `stages` must outlive it.
  Worker(const Options& options, WorkQueue& queue, cas::BlobStore& store,
         const std::vector<Stage*>& stages);
  // Drains at once, and waits for the stages that run.
  ~Worker();

  // Starts to lease. Call once.
  void Start();

  // Leases nothing more, and waits until what runs is done and handed in. After `grace` hands back
  // what is not, ends every call, and stops the stages that can be. Returns whether all has ended;
  // if not, stages are still running.
  bool Drain(absl::Duration grace);

 private:
  enum class Role { kProducer, kSender };
  void StartThread(Role role, void (Worker::*body)());
  void LeaseTasks();
  void RunTasks();
  void SendCompletions() { sender_.Run(); }
  // Leases what there is room for; returns whether the coordinator answered.
  bool LeaseInto(const Backlog::Room& room);
  // What to hand in for the task; without an outcome if its lease was lost or a drain gave it up.
  v1::Completion Work(Backlog::Taken& taken);
  void HandBack(const v1::LeasedTask& task);
  void Ended(const v1::Completion& completion, const char* outcome);
  // The task waits for the store, or no longer.
  void SetWaiting(Backlog::Taken& taken, bool waits);
  // The task waits for the store, which answered `why`: the coordinator is told, and the time does
  // not count as the task's. False at once if the lease is lost.
  bool PauseTask(Backlog::Taken& taken, absl::Duration pause, const absl::Status& why);
  void CheckStuck() const;
  bool AllIdle() const;
  // Returns whether all is idle in the end.
  bool AwaitIdle(absl::Duration longest);
  // What was given up is told to the coordinator, once.
  void HandBackAll(const std::vector<v1::LeaseRef>& leases);

  const Options options_;
  WorkQueue& queue_;
  v1::LeaseRequest lease_request_;
  TaskRunner runner_;
  TaskLog log_;
  LeaseRenewer leases_;
  CompletionSender sender_;
  Backlog backlog_;
  Notifier changed_;  // draining_ was set, or a thread has ended
  std::atomic<bool> draining_{false};
  mutable absl::Mutex mutex_;
  int threads_running_ ABSL_GUARDED_BY(mutex_) = 0;    // slots, and those that lease and hand in
  int producers_running_ ABSL_GUARDED_BY(mutex_) = 0;  // of completions: slots, and who leases
  std::vector<std::thread> threads_;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORKER_H_
