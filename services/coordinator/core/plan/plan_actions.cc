// The part of JobPlan that makes the actions of tasks. Inputs are always in the order of (source,
// shard), so that an action's digest does not depend on the order in which results arrived. Fields
// that only newer job files can set are left unset otherwise, so that the digests of older jobs
// stay.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/job/job_spec.h"
#include "common/job/source_spec.h"
#include "common/worker/source_action.h"
#include "services/coordinator/core/plan/plan.h"

namespace kernelmill::coordinator {
namespace {

void AddInput(v1::Action& action, absl::string_view name, const BlobRef& ref) {
  *action.add_inputs() = ToNamedDigest(ref, name);
}

// Adds the job's stages: `split` only if it `divides` its dataset, `compile` only if it `compiles`,
// `reference` only if it asks for references, `history` only if a source has one. So jobs that do
// none of this have the same manifest as before these stages existed.
void AddStages(v1::ManifestParams& params, bool divides, bool compiles) {
  const bool has_history = std::any_of(
      params.sources().begin(), params.sources().end(),
      [](const v1::ManifestSourceParams& source) { return source.source().has_history(); });
  std::vector<std::pair<std::string, int>> stages;
  for (const StageInfo& stage : worker::StageTable()) {
    if (stage.id == StageId::kSplit && !divides) continue;
    if (stage.id == StageId::kCompile && !compiles) continue;
    if (stage.id == StageId::kReference && !params.references()) continue;
    if (stage.id == StageId::kHistory && !has_history) continue;
    if (worker::IsRunStage(stage.id)) continue;  // its results are evidence
    stages.emplace_back(std::string(stage.name), stage.version);
  }
  std::sort(stages.begin(), stages.end());
  for (const auto& [name, version] : stages) {
    v1::ManifestStage* stage = params.add_stages();
    stage->set_stage(name);
    stage->set_version(version);
  }
}

// Adds only the opt-out entries that name this source, since others would change the action's
// digest.
void AddOptOuts(const std::vector<int>& naming, const v1::JobSpec& settings,
                v1::ValidateParams& params) {
  for (const int i : naming) {
    v1::OptOut* entry = params.add_opt_out();
    entry->set_path(settings.opt_out(i).path());
    entry->set_sha256(settings.opt_out(i).sha256());
    if (!entry->path().empty() || !entry->sha256().empty()) continue;
    params.clear_opt_out();  // this entry names the whole source
    params.add_opt_out();
    return;
  }
}

}  // namespace

// Returns the action of a task: the stage, its version, its parameters and the digests of its
// inputs. The digest of the action is the key of the action cache, so an action has everything that
// its result depends on, and nothing else.
v1::Action JobPlan::ActionFor(const TaskKey& task) const {
  v1::Action action;
  action.set_stage(std::string(GetStageInfo(task.stage).name));
  action.set_stage_version(GetStageInfo(task.stage).version);
  switch (task.stage) {
    case StageId::kDiscover:
    case StageId::kPin:
    case StageId::kFetch:
      return worker::SourceAction(task.stage, job::AsRead(settings_, packed_.Get(task.source)),
                                  settings_.require_hashes());
    case StageId::kExtract:
      FillExtract(task, action);
      break;
    case StageId::kLink:
      FillLink(task.source, action);
      break;
    case StageId::kReference:
      FillReference(task.source, action);
      break;
    case StageId::kHistory:
      FillHistory(task.source, action);
      break;
    case StageId::kCompile:
      FillCompile(task, action);
      break;
    case StageId::kValidate:
      FillValidate(task, action);
      break;
    case StageId::kSign:
      AddInput(action, "kernels", sources_[task.source].linked[task.shard]);
      break;
    case StageId::kPair:
      FillPair(task, action);
      break;
    case StageId::kResolve:
      FillResolve(action);
      break;
    case StageId::kSplit:
      FillSplit(action);
      break;
    case StageId::kRunCpu:
    case StageId::kRunCuda80:
    case StageId::kRunCuda90:
    case StageId::kRunCuda100:
      FillRun(task, action);
      break;
    case StageId::kManifest:
      FillManifest(action);
      break;
  }
  return action;
}

// A whole shard has no range in its parameters, so that its digest is that of builds without
// sub-shards.
void JobPlan::FillExtract(const TaskKey& task, v1::Action& action) const {
  const BlobRef& files = sources_[task.source].files[task.shard];
  AddInput(action, "files", files);
  if (packed_.ReadsWholeFiles(task.source)) {
    action.mutable_params()->mutable_extract()->set_keep_files(true);
  }
  if (const std::vector<std::string>* const languages = packed_.GetLanguages(task.source)) {
    *action.mutable_params()->mutable_extract()->mutable_languages() = {languages->begin(),
                                                                        languages->end()};
  }
  if (task.sub_shard == kWholeShard) return;
  const ItemRange range = GetItems(task.sub_shard, static_cast<int32_t>(files.items));
  v1::ExtractParams& params = *action.mutable_params()->mutable_extract();
  params.set_first(range.first);
  params.set_count(range.count);
  if (task.sub_shard & kQuarantined) params.set_quarantine_reason("crash");
}

// Returns the kernels of a shard: one blob, or one for each sub-shard, in the order of the files.
std::vector<BlobRef> JobPlan::GetKernels(const Source& source, int32_t shard) const {
  const auto split = source.split.find(shard);
  if (split == source.split.end()) return {source.kernels[shard]};
  const auto files = static_cast<int32_t>(source.files[shard].items);
  std::map<int32_t, BlobRef> by_first;
  for (const auto& [sub_shard, ref] : split->second)
    by_first[GetItems(sub_shard, files).first] = ref;
  std::vector<BlobRef> kernels;
  for (const auto& [first, ref] : by_first) kernels.push_back(ref);
  return kernels;
}

// The inputs are the source's own shards, then those of the sources that it uses. `parts` tells how
// many inputs form one shard; without split shards each input is one, and `parts` stays empty.
void JobPlan::FillLink(int32_t source, v1::Action& action) const {
  const Source& state = sources_[source];
  AddInput(action, "tree", state.tree);
  std::vector<int32_t> inputs;
  for (int32_t k = 0; k < state.shards(); ++k) {
    if (state.lost[k]) continue;
    const std::vector<BlobRef> kernels = GetKernels(state, k);
    for (const BlobRef& ref : kernels) AddInput(action, "kernels", ref);
    inputs.push_back(static_cast<int32_t>(kernels.size()));
  }
  if (!state.split.empty()) {
    v1::LinkParams& params = *action.mutable_params()->mutable_link();
    for (const int32_t count : inputs) params.add_parts(count);
  }
  for (const int32_t used : uses_.Of(source)) {
    const UsedShards& shards = uses_.GetShards(used);
    if (shards.kernels.empty()) continue;  // a failed source is ignored
    AddInput(action, "used_tree", shards.tree);
    for (const BlobRef& ref : shards.kernels) AddInput(action, "used_kernels", ref);
    v1::UsedSource& named = *action.mutable_params()->mutable_link()->add_uses();
    named.set_name(job::SourceName(packed_.Get(used)));
    named.set_kernels(static_cast<int32_t>(shards.kernels.size()));
  }
}

// The inputs are those of all shards that the source still has, in their order.
void JobPlan::FillReference(int32_t source, v1::Action& action) const {
  const Source& state = sources_[source];
  AddInput(action, "tree", state.tree);
  for (const int32_t k : GetAlive(state)) AddInput(action, "files", state.files[k]);
  for (const int32_t k : GetAlive(state)) AddInput(action, "kernels", state.linked[k]);
}

void JobPlan::FillHistory(int32_t source, v1::Action& action) const {
  const Source& state = sources_[source];
  AddInput(action, "tree", state.tree);
  for (const BlobRef& ref : state.history) AddInput(action, "history", ref);
  for (const BlobRef& ref : state.versions) AddInput(action, "versions", ref);
  for (const int32_t k : GetAlive(state)) AddInput(action, "kernels", state.linked[k]);
  if (!Compiles()) return;
  const v1::CompileParams all = job::MakeCompileParams(settings_.compile());
  v1::CompileParams& params = *action.mutable_params()->mutable_compile();
  *params.mutable_toolchains() = all.toolchains();
  *params.mutable_targets() = all.targets();
}

void JobPlan::FillCompile(const TaskKey& task, v1::Action& action) const {
  const Source& state = sources_[task.source];
  AddInput(action, "kernels", CompileInput(state, task.shard));
  v1::CompileParams& params = *action.mutable_params()->mutable_compile();
  params = job::MakeCompileParams(settings_.compile());
  if (IsOfHistory(state, task.shard)) params.clear_keep();
  if (task.sub_shard == kWholeShard) return;
  const ItemRange range = GetItems(task.sub_shard, CountShardItems(task));
  params.set_first(range.first);
  params.set_count(range.count);
  if (task.sub_shard & kQuarantined) params.set_quarantine_reason("crash");
}

void JobPlan::FillValidate(const TaskKey& task, v1::Action& action) const {
  const Source& source = sources_[task.source];
  AddInput(action, "kernels", source.linked[task.shard]);
  AddInput(action, "files", source.files[task.shard]);
  AddInput(action, "tree", source.tree);
  if (Compiles()) {
    for (const BlobRef& ref : GetCompiled(source, task.shard)) AddInput(action, "compiled", ref);
  }
  v1::ValidateParams& params = *action.mutable_params()->mutable_validate();
  *params.mutable_licenses() = settings_.licenses();
  *params.mutable_quality() = settings_.quality();
  const v1::Source named = packed_.Get(task.source);
  params.set_source_license(named.license());
  *params.mutable_path_licenses() = named.path_licenses();
  AddOptOuts(opt_outs_.Naming(named), settings_, params);
}

// All partitions have the same inputs: each reads all signatures and keeps the bands of its own
// partition.
void JobPlan::FillPair(const TaskKey& task, v1::Action& action) const {
  ForEachLinked([&](int32_t, const Source& source, int32_t k) {
    AddInput(action, "signatures", source.signatures[k]);
  });
  v1::PairParams& params = *action.mutable_params()->mutable_pair();
  ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
    AddInput(action, "shingles", source.shingles[k]);
    params.add_holdouts(IsHoldout(s));
  });
  const v1::DedupPolicy& policy = settings_.dedup();
  params.set_threshold(policy.threshold());
  if (policy.structural()) params.set_structural_threshold(policy.structural_threshold());
  params.set_holdout_threshold(policy.contamination().threshold());
  params.set_partition(task.shard);
  params.set_partitions(static_cast<int32_t>(pairs_.size()));
}

void JobPlan::FillResolve(v1::Action& action) const {
  v1::ResolveParams& params = *action.mutable_params()->mutable_resolve();
  *params.mutable_dedup() = settings_.dedup();
  ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
    AddInput(action, "signatures", source.signatures[k]);
    v1::ShardOrigin* origin = params.add_shards();
    origin->set_holdout(IsHoldout(s));
    origin->set_tier(packed_.Get(s).tier());
    origin->set_source(s);
    // Others name the source by it, as the origin of their code.
    const v1::Source named = packed_.Get(s);
    origin->set_url(named.url().empty() ? job::SourceName(named) : named.url());
    // Only sources that lend code to other sources, or borrow it, need their name: an opt-out must
    // also reach the kernels that contain the code.
    const bool lends = uses_.IsUsed(s) || !uses_.Of(s).empty();
    if (lends && !settings_.opt_out().empty()) origin->set_repository(job::SourceName(named));
  });
  ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
    if (!IsHoldout(s)) AddInput(action, "verdicts", source.verdicts[k]);
  });
  for (const BlobRef& pairs : pairs_) AddInput(action, "pairs", pairs);
  if (!settings_.reviews().empty()) {
    // Reviews name kernels by data that only trees and linked shards have.
    *params.mutable_reviews() = settings_.reviews();
    int32_t last = -1;
    ForEachLinked([&](int32_t s, const Source& source, int32_t) {
      if (s != last) AddInput(action, "tree", source.tree);
      last = s;
    });
    ForEachLinked([&](int32_t, const Source& source, int32_t k) {
      AddInput(action, "reviewed", source.linked[k]);
    });
  }
  if (settings_.opt_out().empty()) return;
  ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
    if (!IsHoldout(s)) AddInput(action, "kernels", source.linked[k]);
  });
}

void JobPlan::FillSplit(v1::Action& action) const {
  v1::SplitParams& params = *action.mutable_params()->mutable_split();
  *params.mutable_splits() = settings_.splits();
  params.set_threshold(settings_.dedup().threshold());
  ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
    AddInput(action, "signatures", source.signatures[k]);
    const v1::Source of = packed_.Get(s);
    v1::ShardOrigin* origin = params.add_shards();
    origin->set_holdout(IsHoldout(s));
    origin->set_source(s);
    origin->set_repository(job::SourceName(of));
    origin->set_url(of.url());
  });
  ForEachLinked([&](int32_t, const Source& source, int32_t k) {
    AddInput(action, "shingles", source.shingles[k]);
  });
  for (const BlobRef& pairs : pairs_) AddInput(action, "pairs", pairs);
  AddInput(action, "clusters", clusters_);
}

// Shards of holdouts are among the kernels, since clusters number the kernels of all shards.
void JobPlan::FillRun(const TaskKey& task, v1::Action& action) const {
  ForEachLinked([&](int32_t, const Source& source, int32_t k) {
    AddInput(action, "kernels", source.linked[k]);
  });
  ForEachShard([&](int32_t s, const Source& source, int32_t k) {
    if (packed_.IsEvidence(s)) AddInput(action, "evidence", source.files[k]);
  });
  AddInput(action, "clusters", clusters_);
  v1::RunParams& params = *action.mutable_params()->mutable_run();
  params.set_device(settings_.run().device());
  params.set_partition(task.shard);
  params.set_partitions(static_cast<int32_t>(pairs_.size()));
}

// The order of the inputs is part of the stage's interface: trees, files, kernels, verdicts,
// clusters, splits, IR, references, changes, their kernels and what came of these. The parameters
// tell how many belong to each source.
void JobPlan::FillManifest(v1::Action& action) const {
  v1::ManifestParams& params = *action.mutable_params()->mutable_manifest();
  params.set_name(settings_.name());
  for (size_t s = 0; s < sources_.size(); ++s) {
    const Source& state = sources_[s];
    v1::ManifestSourceParams* source = params.add_sources();
    *source->mutable_source() = job::Identity(packed_.Get(static_cast<int32_t>(s)));
    source->set_failed(state.failed);
    source->set_failed_files(state.lost_files);
    if (!state.failed) AddInput(action, "tree", state.tree);
  }
  ForEachShard([&](int32_t s, const Source& source, int32_t k) {
    v1::ManifestSourceParams& of = *params.mutable_sources(s);
    of.set_shards(of.shards() + 1);
    AddInput(action, "files", source.files[k]);
  });
  ForEachLinked([&](int32_t, const Source& source, int32_t k) {
    AddInput(action, "kernels", source.linked[k]);
  });
  ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
    if (!IsHoldout(s)) AddInput(action, "verdicts", source.verdicts[k]);
  });
  AddInput(action, "clusters", clusters_);
  *params.mutable_licenses() = settings_.licenses();
  *params.mutable_dedup() = settings_.dedup();
  *params.mutable_quality() = settings_.quality();
  *params.mutable_pairs() = settings_.pairs();
  if (settings_.has_mix()) *params.mutable_mix() = settings_.mix();
  *params.mutable_opt_out() = settings_.opt_out();
  if (settings_.has_gates()) *params.mutable_gates() = settings_.gates();
  *params.mutable_reviews() = settings_.reviews();
  if (settings_.has_evidence()) *params.mutable_evidence() = settings_.evidence();
  const bool divides = job::Divides(settings_.splits());
  if (divides) {
    AddInput(action, "splits", splits_);
    *params.mutable_splits() = settings_.splits();
  }
  if (Compiles()) {
    *params.mutable_compile() = job::MakeCompileParams(settings_.compile());
    AddIr(action);
  }
  if (settings_.references()) {
    params.set_references(true);
    ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
      if (!IsHoldout(s)) AddInput(action, "references", source.references[k]);
    });
  }
  for (size_t s = 0; s < sources_.size(); ++s) {
    const std::vector<BlobRef>& changes = sources_[s].changes;
    if (changes.empty()) continue;
    params.mutable_sources(static_cast<int>(s))->set_changes(static_cast<int32_t>(changes.size()));
    for (const BlobRef& ref : changes) AddInput(action, "changes", ref);
  }
  if (Compiles()) AddVersions(action);
  AddStages(params, divides, Compiles());
}

// Adds the kept IR of each shard and its number of blobs, 0 for a shard without IR, so that the
// stage can assign the inputs to the shards.
void JobPlan::AddIr(v1::Action& action) const {
  if (settings_.compile().keep().empty()) return;
  v1::ManifestParams& params = *action.mutable_params()->mutable_manifest();
  ForEachLinked([&](int32_t s, const Source& source, int32_t k) {
    if (IsHoldout(s)) return;
    const auto found = source.ir.find(k);
    if (found == source.ir.end()) return params.mutable_sources(s)->add_ir(0);
    for (const BlobRef& ref : found->second) AddInput(action, "ir", ref);
    params.mutable_sources(s)->add_ir(static_cast<int32_t>(found->second.size()));
  });
}

void JobPlan::AddVersions(v1::Action& action) const {
  v1::ManifestParams& params = *action.mutable_params()->mutable_manifest();
  for (size_t s = 0; s < sources_.size(); ++s) {
    const Source& state = sources_[s];
    for (size_t i = 0; i < state.version_kernels.size(); ++i) {
      AddInput(action, "version_kernels", state.version_kernels[i]);
      const std::vector<BlobRef> parts =
          GetCompiled(state, state.shards() + static_cast<int32_t>(i));
      for (const BlobRef& ref : parts) AddInput(action, "version_compiled", ref);
      params.mutable_sources(static_cast<int>(s))
          ->add_version_parts(static_cast<int32_t>(parts.size()));
    }
  }
}

std::vector<BlobRef> JobPlan::GetCompiled(const Source& source, int32_t shard) {
  const auto parts = source.compiled_parts.find(shard);
  if (parts == source.compiled_parts.end()) {
    const bool compiled = static_cast<size_t>(shard) < source.compiled.size() &&
                          source.compiled[shard].hash != BlobRef().hash;
    return compiled ? std::vector<BlobRef>{source.compiled[shard]} : std::vector<BlobRef>();
  }
  std::vector<BlobRef> results;
  if (parts->second.failed) return results;
  for (const auto& [first, ref] : parts->second.compiled) results.push_back(ref);
  return results;
}

}  // namespace kernelmill::coordinator
