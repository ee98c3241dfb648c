#include "services/coordinator/core/dispatch/unserved_stages.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"

namespace kernelmill::coordinator {
namespace {

constexpr size_t kMaxOthers = 16;  // bounds the versions in a report

// Returns "2 of version 6, 1 of version 8"; "0" if there are no others.
std::string OthersText(const std::map<int32_t, int64_t>& others) {
  std::string text;
  for (const auto& [version, workers] : others) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", workers, " of version ", version);
  }
  return text.empty() ? "0" : text;
}

void LogUnserved(const StageInfo& stage, int64_t tasks, const std::map<int32_t, int64_t>& others) {
  LogWarning("no worker runs this stage; start one", {{"stage", stage.name},
                                                      {"version", stage.version},
                                                      {"tasks", tasks},
                                                      {"other_workers", OthersText(others)}});
}

void LogServed(const StageInfo& stage, bool by_worker) {
  LogInfo(by_worker ? "a stage has a worker again" : "a stage without a worker has no ready tasks",
          {{"stage", stage.name}, {"version", stage.version}});
}

// Keeps the newest versions.
std::map<int32_t, int64_t> Newest(std::map<int32_t, int64_t> others) {
  while (others.size() > kMaxOthers) others.erase(others.begin());
  return others;
}

}  // namespace

// A stage is unserved if it has ready tasks, no connected worker of this build's version, and no
// lease, for longer than the grace period: workers that restart must not cause warnings. `said`
// remembers that the stage was reported, so that each change is logged once. Returns whether a
// report changed.
bool UnservedStages::Update(const Queue& queue, const WorkerCensus& workers, Clock::Time now) {
  bool changed = false;
  for (int i = 0; i < kStageCount; ++i) {
    const StageInfo& info = GetStageInfo(static_cast<StageId>(i));
    Stage& stage = stages_[i];
    // A lease means that a worker runs the stage, even if a restarted coordinator has not heard
    // from it yet.
    const bool served = workers[i].same.connected() > 0 || queue.leased[i] > 0;
    if (served || queue.ready[i] == 0) {
      if (stage.said) LogServed(info, served);
      changed |= stage.said;
      stage = {};
      continue;
    }
    if (!stage.since.has_value()) stage.since = now;
    if (now - *stage.since < grace_) continue;
    std::map<int32_t, int64_t> others = Newest(workers[i].others);
    if (!stage.said) LogUnserved(info, queue.ready[i], others);
    changed |= !stage.said || stage.others != others;
    stage.said = true;
    stage.others = std::move(others);
  }
  if (changed) ++version_;
  return changed;
}

void UnservedStages::AddTo(const Job& job, v1::JobStatus& status) const {
  for (int i = 0; i < kStageCount; ++i) {
    const auto id = static_cast<StageId>(i);
    const int64_t ready = job.ReadyCount(id);
    if (!stages_[i].said || ready == 0) continue;
    v1::Unserved& unserved = *status.add_unserved();
    unserved.set_stage(std::string(GetStageInfo(id).name));
    unserved.set_version(GetStageInfo(id).version);
    unserved.set_tasks(ready);
    for (const auto& [version, workers] : stages_[i].others) {
      v1::OtherVersion& other = *unserved.add_others();
      other.set_version(version);
      other.set_workers(workers);
    }
  }
}

}  // namespace kernelmill::coordinator
