#ifndef KERNELMILL_COMMON_WORKER_WORKER_H_
#define KERNELMILL_COMMON_WORKER_WORKER_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
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

// A worker: leases tasks, runs them in its slots with the action cache, and sends the results to
// the coordinator. Thread-safe.
//
// Threads: one leases (ahead, if tasks are short: Backlog), one for each slot runs tasks, one sends
// completions in batches (CompletionSender), one renews leases (LeaseRenewer). If the coordinator
// or the store is unreachable, the worker retries with backoff. A result whose lease was lost is
// not sent.
class Worker {
 public:
  struct Options {
    std::string name;     // for the coordinator's logs
    std::string version;  // the build's version, for the coordinator's logs
    int slots = 1;        // tasks at a time
    // How long one Lease call waits for a task. A drain waits for the call to end, because a
    // cancelled call could lose a lease.
    absl::Duration poll = absl::Seconds(2);
    // A task that runs longer counts as hanging. A hanging stage cannot be stopped, so `on_stuck`
    // must end the process; the coordinator then notices. Zero: no limit.
    absl::Duration task_timeout = absl::ZeroDuration();
    std::function<void()> on_stuck;
    // Called once, from any thread, when tasks have waited that long without a break for a store
    // that is full. Without it they wait until somebody makes room.
    absl::Duration full_patience = absl::InfiniteDuration();
    std::function<void(const absl::Status&)> on_full;
    // The pauses while the coordinator or the store is unreachable; max_attempts is ignored.
    rpc::RetryPolicy unreachable_backoff = {.max_attempts = 0, .max_backoff = absl::Seconds(3)};
  };

  // `queue`, `store` and `stages` must outlive it; only this worker may use `queue`.
  Worker(const Options& options, WorkQueue& queue, cas::BlobStore& store,
         const std::vector<Stage*>& stages);
  // Drains without grace and waits for running stages.
  ~Worker();

  // Starts leasing. Call once.
  void Start();

  // Stops leasing and waits until running tasks are done and sent. After `grace` it hands back the
  // rest, cancels every call, and triggers the stages' stop tokens. Returns false if a stage still
  // runs.
  bool Drain(absl::Duration grace);

 private:
  enum class Role { kProducer, kSender };
  void StartThread(Role role, void (Worker::*body)());
  void LeaseTasks();
  void RunTasks();
  void SendCompletions() { sender_.Run(); }
  // Leases as many tasks as there is room for. Returns whether the coordinator answered.
  bool LeaseInto(const Backlog::Room& room);
  // Runs the task. Returns its completion, without an outcome if its lease was lost or given up.
  v1::Completion Work(Backlog::Taken& taken);
  void HandBack(const v1::LeasedTask& task);
  void Ended(const v1::Completion& completion, const char* outcome);
  // Notes whether the task waits for the store.
  void SetWaiting(Backlog::Taken& taken, bool waits);
  // Waits for the store, which answered `why`. Tells the coordinator; the time does not count as
  // running time. Returns false at once if the lease is lost.
  bool PauseTask(Backlog::Taken& taken, absl::Duration pause, const absl::Status& why);
  // Calls on_full when tasks have waited for a full store for too long.
  void NoteFull(const absl::Status& why);
  void CheckStuck() const;
  bool AllIdle() const;
  // Waits for all threads to end. Returns whether they did.
  bool AwaitIdle(absl::Duration longest);
  // Tells the coordinator, once, that these leases are given up.
  void HandBackAll(const std::vector<v1::LeaseRef>& leases);

  const Options options_;
  WorkQueue& queue_;
  v1::LeaseRequest lease_request_;
  TaskRunner runner_;
  TaskLog log_;
  LeaseRenewer leases_;
  CompletionSender sender_;
  Backlog backlog_;
  Notifier changed_;  // notified when draining_ is set or a thread ends
  std::atomic<bool> draining_{false};
  mutable absl::Mutex mutex_;
  int threads_running_ ABSL_GUARDED_BY(mutex_) = 0;  // slots, the leasing and the sending thread
  int producers_running_ ABSL_GUARDED_BY(mutex_) =
      0;  // those that make completions: without sending
  absl::Time full_since_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool told_full_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORKER_H_
