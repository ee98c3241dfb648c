#ifndef KERNELMILL_COMMON_WORKER_STAGE_TABLE_H_
#define KERNELMILL_COMMON_WORKER_STAGE_TABLE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::worker {

// The stages in the order of the data flow. The coordinator stores these numbers beside
// PlanFingerprint(), which changes with them.
enum class StageId : uint8_t {
  kDiscover,
  kPin,
  kFetch,
  kExtract,
  kLink,
  kReference,  // only in jobs that ask for references
  kHistory,    // only for sources with a history
  kCompile,    // only in jobs that compile
  kValidate,
  kSign,
  kPair,
  kResolve,
  kSplit,  // only in jobs that split their dataset
  // Only in jobs that run kernels. Each device has a stage, since a worker announces by its stages
  // what it can do.
  kRunCpu,
  kRunCuda80,
  kRunCuda90,
  kRunCuda100,
  kManifest,
};
inline constexpr int kStageCount = 18;

// The unit of work of one task.
enum class StageScope : uint8_t {
  kSource,  // one source of the job
  kShard,   // one shard of files of a source
  kJob,     // the whole job: one task, or a few partitions
};

// The loss when a task has finally failed.
enum class FailureCost : uint8_t {
  kSource,  // its source is lost; the job continues
  kFiles,   // the files of its shard are lost; the source continues
  kJob,     // the job fails
};

// The properties of a stage.
struct StageInfo {
  StageId id = StageId::kDiscover;
  absl::string_view name;  // in actions, manifests, metrics and reports
  // Part of every action and of the manifest. Raise it whenever the same input may give a different
  // output.
  int version = 0;
  StageScope scope = StageScope::kJob;
  FailureCost failure_cost = FailureCost::kJob;
  bool cacheable = true;    // the action cache may answer; false: it reads the outside world
  bool calls_host = false;  // it calls the source's host, so the limits for each host apply
  bool splittable = false;  // a shard that crashes workers, or is ABORTED, is halved (SubShard)
};

// Returns the stage table: one row for each stage, by StageId. The coordinator plans with it, and
// workers announce the stages that they can run with it.
absl::Span<const StageInfo> StageTable();

const StageInfo& GetStageInfo(StageId stage);

// Finds a stage by name; null if no stage has this name.
const StageInfo* FindStage(absl::string_view name);

// Finds the stage that runs kernels on a device (toolchains::RunDevices); null if no stage does.
const StageInfo* FindRunStage(absl::string_view device);

// Returns whether the stage runs kernels.
constexpr bool IsRunStage(StageId stage) {
  return stage >= StageId::kRunCpu && stage <= StageId::kRunCuda100;
}

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_STAGE_TABLE_H_
