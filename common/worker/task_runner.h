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
#include "common/worker/patient_store.h"
#include "common/worker/stage.h"
#include "common/worker/stage_table.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// Runs actions: asks the action cache, else the stage, and tells the cache. A store that is away
// (PatientStore) is waited for, as long as the caller's pause goes on: its outage must not fail
// tasks. Thread-safe.
class TaskRunner {
 public:
  struct Outcome {
    absl::StatusOr<v1::StageResult> result;
    bool cached = false;
    v1::TaskTiming timing{};  // all but how long it waited
  };

  // `store` and `stages` must outlive it. `backoff`: between calls to a store that is away;
  // its max_attempts is not used. `worker`: the name that results are written under.
  TaskRunner(cas::BlobStore& store, const std::vector<Stage*>& stages,
             const rpc::RetryPolicy& backoff, std::string worker);

  // None: `pause` gave up, or the stage was stopped. UNIMPLEMENTED: no such stage here; INTERNAL:
  // the stage threw.
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
