#include "services/coordinator/core/task.h"

#include "common/worker/stage_versions.h"

namespace kernelmill::coordinator {
namespace {

struct Entry {
  const char* name;
  int version;
};

constexpr Entry kStages[kStageCount] = {
    {"discover", worker::kDiscoverVersion}, {"pin", worker::kPinVersion},
    {"fetch", worker::kFetchVersion},       {"extract", worker::kExtractVersion},
    {"link", worker::kLinkVersion},         {"validate", worker::kValidateVersion},
    {"sign", worker::kSignVersion},         {"pair", worker::kPairVersion},
    {"resolve", worker::kResolveVersion},   {"manifest", worker::kManifestVersion},
};

}  // namespace

absl::string_view StageName(StageId stage) { return kStages[static_cast<int>(stage)].name; }

int StageVersion(StageId stage) { return kStages[static_cast<int>(stage)].version; }

std::optional<StageId> StageNamed(absl::string_view name) {
  for (int i = 0; i < kStageCount; ++i) {
    if (name == kStages[i].name) return static_cast<StageId>(i);
  }
  return std::nullopt;
}

}  // namespace kernelmill::coordinator
