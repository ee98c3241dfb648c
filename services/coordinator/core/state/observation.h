#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_OBSERVATION_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_OBSERVATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "common/worker/stage_table.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::coordinator {

// Observations of tasks and jobs, for metrics. No decision depends on them.

struct TaskRef {
  worker::StageId stage;
  uint64_t task = 0;
  std::string job;
};

// A lease of the task began, after the task was ready for some time.
struct LeaseBegan {
  TaskRef task;
  double ready_seconds = 0;
};

enum class LostBy : uint8_t { kNot, kExpired, kWorkerEnded, kCancelled };
// A lease of the task ended, with a completion or lost.
struct LeaseOver {
  TaskRef task;
  double seconds = 0;
  LostBy lost = LostBy::kNot;
};

enum class Origin : uint8_t { kRun, kCache, kShared, kHistory };
// The task is done.
struct ResultTaken {
  worker::StageId stage;
  Origin origin = Origin::kRun;
  // The counters, if the stage decides the fate of files and kernels; else null.
  std::shared_ptr<const v1::StageResult> dataset;
};

enum class Next : uint8_t { kRetry, kSplit, kFailed };
// An attempt failed or was lost, and the next step.
struct ErrorTaken {
  worker::StageId stage;
  absl::StatusCode code = absl::StatusCode::kUnknown;
  Next next = Next::kRetry;
};

// A file or kernel was quarantined, because it crashed its workers.
struct FileQuarantined {};

struct JobOver {
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  double seconds = 0;  // since it was submitted
};

using Observation =
    std::variant<LeaseBegan, LeaseOver, ResultTaken, ErrorTaken, FileQuarantined, JobOver>;

// The receiver of observations. Its functions are called without locks, from any thread; each may
// be null.
struct Observer {
  std::function<void(const Observation&)> happened = nullptr;
  // Called after changes were written and synced, with the duration.
  std::function<void(double seconds)> synced = nullptr;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_OBSERVATION_H_
