// The other half of JobPlan: what a worker is told to run. Inputs always stand in the order of
// (source, shard), so that an action's digest does not depend on the order in which results came
// in.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/config/job_spec.h"
#include "services/coordinator/core/plan.h"

namespace kernelmill::coordinator {
namespace {

void AddInput(v1::Action& action, absl::string_view name, const BlobRef& ref) {
  *action.add_inputs() = ToNamedDigest(ref, name);
}

void AddStages(v1::ManifestParams& params) {
  std::vector<std::pair<std::string, int>> stages;
  for (int i = 0; i < kStageCount; ++i) {
    const auto stage = static_cast<StageId>(i);
    stages.emplace_back(std::string(StageName(stage)), StageVersion(stage));
  }
  std::sort(stages.begin(), stages.end());
  for (const auto& [name, version] : stages) {
    v1::ManifestStage* stage = params.add_stages();
    stage->set_stage(name);
    stage->set_version(version);
  }
}

}  // namespace

template <typename Visit>
void JobPlan::ForEachLinked(Visit visit) const {
  for (size_t s = 0; s < sources_.size(); ++s) {
    for (const Shard& shard : sources_[s].shards) {
      if (!shard.lost) visit(static_cast<int32_t>(s), shard);
    }
  }
}

v1::Action JobPlan::ActionFor(const TaskKey& task) const {
  v1::Action action;
  action.set_stage(std::string(StageName(task.stage)));
  action.set_stage_version(StageVersion(task.stage));
  v1::StageParams& params = *action.mutable_params();
  switch (task.stage) {
    case StageId::kPin:
      *params.mutable_pin()->mutable_source() = config::FetchPart(spec_.sources(task.source));
      break;
    case StageId::kFetch:
      *params.mutable_fetch()->mutable_source() = config::FetchPart(spec_.sources(task.source));
      break;
    case StageId::kExtract:
      AddInput(action, "files", sources_[task.source].shards[task.shard].files);
      break;
    case StageId::kLink:
      FillLink(task.source, action);
      break;
    case StageId::kValidate:
      FillValidate(task, action);
      break;
    case StageId::kSign:
      AddInput(action, "kernels", sources_[task.source].shards[task.shard].linked);
      break;
    case StageId::kPair:
      FillPair(task, action);
      break;
    case StageId::kResolve:
      FillResolve(action);
      break;
    case StageId::kManifest:
      FillManifest(action);
      break;
  }
  return action;
}

void JobPlan::FillLink(int32_t source, v1::Action& action) const {
  AddInput(action, "tree", sources_[source].tree);
  for (const Shard& shard : sources_[source].shards) {
    if (!shard.lost) AddInput(action, "kernels", shard.kernels);
  }
}

void JobPlan::FillValidate(const TaskKey& task, v1::Action& action) const {
  const Source& source = sources_[task.source];
  const Shard& shard = source.shards[task.shard];
  AddInput(action, "kernels", shard.linked);
  AddInput(action, "files", shard.files);
  AddInput(action, "tree", source.tree);
  v1::ValidateParams& params = *action.mutable_params()->mutable_validate();
  *params.mutable_licenses() = spec_.licenses();
  *params.mutable_quality() = spec_.quality();
}

void JobPlan::FillPair(const TaskKey& task, v1::Action& action) const {
  ForEachLinked(
      [&](int32_t, const Shard& shard) { AddInput(action, "signatures", shard.signatures); });
  v1::PairParams& params = *action.mutable_params()->mutable_pair();
  params.set_threshold(spec_.dedup().threshold());
  params.set_partition(task.shard);
  params.set_partitions(static_cast<int32_t>(pairs_.size()));
}

void JobPlan::FillResolve(v1::Action& action) const {
  v1::ResolveParams& params = *action.mutable_params()->mutable_resolve();
  params.set_threshold(spec_.dedup().threshold());
  ForEachLinked([&](int32_t source, const Shard& shard) {
    AddInput(action, "signatures", shard.signatures);
    v1::ShardOrigin* origin = params.add_shards();
    origin->set_holdout(IsHoldout(source));
    origin->set_tier(spec_.sources(source).tier());
  });
  ForEachLinked([&](int32_t source, const Shard& shard) {
    if (!IsHoldout(source)) AddInput(action, "verdicts", shard.verdicts);
  });
  for (const BlobRef& pairs : pairs_) AddInput(action, "pairs", pairs);
}

void JobPlan::FillManifest(v1::Action& action) const {
  v1::ManifestParams& params = *action.mutable_params()->mutable_manifest();
  params.set_name(spec_.name());
  for (size_t s = 0; s < sources_.size(); ++s) {
    const Source& state = sources_[s];
    v1::ManifestSourceParams* source = params.add_sources();
    *source->mutable_source() = config::Identity(spec_.sources(static_cast<int>(s)));
    source->set_failed(state.failed);
    source->set_failed_files(state.lost_files);
    if (!state.failed) AddInput(action, "tree", state.tree);
  }
  ForEachLinked([&](int32_t source, const Shard& shard) {
    v1::ManifestSourceParams& of = *params.mutable_sources(source);
    of.set_shards(of.shards() + 1);
    AddInput(action, "kernels", shard.linked);
  });
  ForEachLinked([&](int32_t source, const Shard& shard) {
    if (!IsHoldout(source)) AddInput(action, "verdicts", shard.verdicts);
  });
  AddInput(action, "clusters", clusters_);
  *params.mutable_licenses() = spec_.licenses();
  *params.mutable_dedup() = spec_.dedup();
  *params.mutable_quality() = spec_.quality();
  AddStages(params);
}

}  // namespace kernelmill::coordinator
