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
  kCompile,  // of jobs that compile alone
  kValidate,
  kSign,
  kPair,
  kResolve,
  kSplit,  // of jobs that divide their dataset alone
  kManifest,
};
inline constexpr int kStageCount = 12;

// What one task of a stage works on.
enum class StageScope : uint8_t {
  kSource,  // one source of the job
  kShard,   // one shard of files of a source
  kJob,     // the whole job: one task, or a few partitions
};

// What is lost when a task of a stage has failed for good.
enum class FailureCost : uint8_t {
  kSource,  // its source; the job goes on
  kFiles,   // the files of its shard; the source goes on
  kJob,     // the job
};

// All that is known of a stage without running it.
struct StageInfo {
  StageId id = StageId::kDiscover;
  absl::string_view name;  // in actions, manifests, metrics and reports
  // Part of every action and of the manifest. Raise it whenever the same input may give another
  // output.
  int version = 0;
  StageScope scope = StageScope::kJob;
  FailureCost failure_cost = FailureCost::kJob;
  bool cacheable = true;    // the action cache may answer; false: it asks the outside world
  bool calls_host = false;  // it calls on the source's host: the limits for each host apply
  bool splittable = false;  // a shard that ends its workers, or is ABORTED, is halved (SubShard)
};

// The stage table: a row for every stage, by StageId. The coordinator plans by it, and workers say
// by it what they can run.
absl::Span<const StageInfo> StageTable();

const StageInfo& StageInfoOf(StageId stage);

// Null: no stage has this name.
const StageInfo* FindStage(absl::string_view name);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_STAGE_TABLE_H_
