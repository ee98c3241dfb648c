#ifndef KERNELMILL_COMMON_WORKER_TASK_RUNNER_H_
#define KERNELMILL_COMMON_WORKER_TASK_RUNNER_H_

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/rpc/retry.h"
#include "common/worker/stage.h"
#include "common/worker/stage_table.h"
#include "common/worker/task_store.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// A runner of actions: looks in the action cache, else runs the stage and writes its result to the
// cache. It waits for an unreachable store (PatientStore) as long as the caller's pause continues,
// so that an outage does not fail tasks. Thread-safe.
class TaskRunner {
 public:
  struct Outcome {
    absl::StatusOr<v1::StageResult> result;
    bool cached = false;
    v1::TaskTiming timing{};  // except the time that the task waited for a slot
  };

  // `store` and `stages` must outlive it. `backoff`: the pauses while the store is unreachable;
  // max_attempts is ignored. `worker`: the name recorded in results.
  TaskRunner(cas::BlobStore& store, const std::vector<Stage*>& stages,
             const rpc::RetryPolicy& backoff, std::string worker);

  // Runs the task. Returns nothing if `pause` gave up or the stage was stopped. UNIMPLEMENTED: this
  // worker does not have the stage. INTERNAL: the stage threw an exception.
  std::optional<Outcome> Run(const v1::LeasedTask& task, const Pause& pause,
                             const std::stop_token& stop);

 private:
  static absl::StatusOr<v1::StageResult> RunStage(Stage& stage, const v1::LeasedTask& task,
                                                  cas::BlobStore& store,
                                                  const std::stop_token& stop);

  cas::BlobStore& store_;
  std::map<StageId, Stage*> stages_;
  const rpc::RetryPolicy backoff_;
  const std::string worker_;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_TASK_RUNNER_H_
