#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_TASK_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_TASK_H_

#include <compare>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kernelmill::coordinator {

// The stages in the order of the data flow. The numbers are stored: never renumber.
enum class StageId : uint8_t {
  kPin = 0,
  kFetch = 1,
  kExtract = 2,
  kLink = 3,
  kValidate = 4,
  kSign = 5,
  kPair = 6,
  kResolve = 7,
  kManifest = 8,
};
inline constexpr int kStageCount = 9;

absl::string_view StageName(StageId stage);
int StageVersion(StageId stage);
// None: no such stage.
std::optional<StageId> StageNamed(absl::string_view name);

// Which task of a job: a stage, the source by its place in the job, and the shard of that source
// (for pair, the partition). What a stage does not have is 0.
struct TaskKey {
  StageId stage = StageId::kPin;
  int32_t source = 0;
  int32_t shard = 0;

  friend auto operator<=>(const TaskKey&, const TaskKey&) = default;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_TASK_H_
