#include "common/worker/stage_table.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace kernelmill::worker {
namespace {

// The three scopes of a stage, each with the cost of a final failure: the source is left out, the
// shard's files are, or the job fails.
constexpr StageInfo Source(StageId id, absl::string_view name, int version) {
  return {id, name, version, StageScope::kSource, FailureCost::kSource};
}
constexpr StageInfo Shard(StageId id, absl::string_view name, int version) {
  return {id, name, version, StageScope::kShard, FailureCost::kFiles};
}
constexpr StageInfo Job(StageId id, absl::string_view name, int version) {
  return {id, name, version, StageScope::kJob, FailureCost::kJob};
}
// Discovering and pinning ask the outside world, whose answer changes. They are never cached.
constexpr StageInfo Uncached(StageInfo stage) {
  stage.cacheable = false;
  return stage;
}
// The coordinator limits how many such tasks run against one host.
constexpr StageInfo CallsHost(StageInfo stage) {
  stage.calls_host = true;
  return stage;
}
// A shard that crashes workers, or is ABORTED, is halved to find the file at fault.
constexpr StageInfo Splittable(StageInfo stage) {
  stage.splittable = true;
  return stage;
}

// The only place where versions are set.
constexpr StageInfo kStages[] = {
    Uncached(CallsHost(Source(StageId::kDiscover, "discover", 1))),
    Uncached(CallsHost(Source(StageId::kPin, "pin", 2))),
    CallsHost(Source(StageId::kFetch, "fetch", 11)),
    Splittable(Shard(StageId::kExtract, "extract", 20)),
    Source(StageId::kLink, "link", 18),
    Source(StageId::kReference, "reference", 3),
    Source(StageId::kHistory, "history", 6),
    Splittable(Shard(StageId::kCompile, "compile", 15)),
    Shard(StageId::kValidate, "validate", 13),
    Shard(StageId::kSign, "sign", 8),
    Job(StageId::kPair, "pair", 6),
    Job(StageId::kResolve, "resolve", 6),
    Job(StageId::kSplit, "split", 5),
    // The result of a kernel on a machine is an observation, as the answer of a host is.
    Uncached(Job(StageId::kRunCpu, "run-cpu", 1)),
    Uncached(Job(StageId::kRunCuda80, "run-cuda-80", 1)),
    Uncached(Job(StageId::kRunCuda90, "run-cuda-90", 1)),
    Uncached(Job(StageId::kRunCuda100, "run-cuda-100", 1)),
    Job(StageId::kManifest, "manifest", 7),
};

static_assert(sizeof(kStages) / sizeof(kStages[0]) == kStageCount);

}  // namespace

absl::Span<const StageInfo> StageTable() { return kStages; }

// The table is in the order of StageId.
const StageInfo& GetStageInfo(StageId stage) { return kStages[static_cast<size_t>(stage)]; }

const StageInfo* FindStage(absl::string_view name) {
  for (const StageInfo& stage : kStages) {
    if (stage.name == name) return &stage;
  }
  return nullptr;
}

const StageInfo* FindRunStage(absl::string_view device) {
  return FindStage(absl::StrCat("run-", absl::StrReplaceAll(device, {{":", "-"}})));
}

}  // namespace kernelmill::worker
