#ifndef KERNELMILL_COMMON_WORKER_TASK_LOG_H_
#define KERNELMILL_COMMON_WORKER_TASK_LOG_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// Logs a line when a task starts and when it ends. The fields have the same names as in the
// coordinator's log (job, task, stage, worker, attempt, error), so that both logs can be joined.
// Remembers the names of a task from its lease to its end. Thread-safe.
class TaskLog {
 public:
  explicit TaskLog(std::string worker) : worker_(std::move(worker)) {}

  void Leased(const v1::LeasedTask& task);
  void Started(const v1::LeasedTask& task);
  // Logs the end of a lease and returns the task's stage. `outcome`: see CompletionSender::Outcome.
  std::string Ended(const v1::Completion& completion, const char* outcome);

 private:
  struct Name {
    std::string job, stage;
    int32_t attempt = 0;
  };
  Name Take(const v1::LeaseRef& lease);

  const std::string worker_;
  absl::Mutex mutex_;
  std::map<uint64_t, Name> names_ ABSL_GUARDED_BY(mutex_);  // by lease token
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_TASK_LOG_H_
