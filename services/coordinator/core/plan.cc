#include "services/coordinator/core/plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/config/job_spec.h"

namespace kernelmill::coordinator {
namespace {

constexpr int64_t kKernelsPerPartition = 2000;
constexpr int64_t kMaxPartitions = 64;

absl::StatusOr<BlobRef> OnlyOutput(const v1::StageResult& result, absl::string_view name) {
  if (result.outputs_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(result.outputs_size(), " outputs where one '", name, "' belongs"));
  }
  return ToBlobRef(result.outputs(0), name);
}

}  // namespace

int32_t PairPartitions(int64_t kernels) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(kernels / kKernelsPerPartition, 1, kMaxPartitions));
}

JobPlan::JobPlan(v1::JobSpec spec)
    : spec_(std::move(spec)),
      sources_(spec_.sources_size()),
      sources_unlinked_(spec_.sources_size()) {}

std::vector<TaskKey> JobPlan::Start() {
  Tasks next;
  for (int32_t i = 0; i < spec_.sources_size(); ++i) {
    const bool pinned = config::IsPinned(spec_.sources(i));
    next.push_back({pinned ? StageId::kFetch : StageId::kPin, i, 0});
  }
  PassBarriers(next);
  return next;
}

absl::StatusOr<std::vector<TaskKey>> JobPlan::Succeed(const TaskKey& task,
                                                      const v1::StageResult& result) {
  Tasks next;
  switch (task.stage) {
    case StageId::kPin:
      RETURN_IF_ERROR(Pinned(task.source, result, next));
      break;
    case StageId::kFetch:
      RETURN_IF_ERROR(Fetched(task.source, result, next));
      break;
    case StageId::kExtract:
      RETURN_IF_ERROR(Extracted(task, result, next));
      break;
    case StageId::kLink:
      RETURN_IF_ERROR(Linked(task.source, result, next));
      break;
    case StageId::kValidate:
    case StageId::kSign:
      RETURN_IF_ERROR(CheckedOrSigned(task, result));
      break;
    case StageId::kPair:
    case StageId::kResolve:
    case StageId::kManifest:
      RETURN_IF_ERROR(JobLevel(task, result, next));
      break;
  }
  for (const v1::Counter& counter : result.counters()) {
    counters_[counter.name()] += counter.value();
  }
  PassBarriers(next);
  return next;
}

absl::Status JobPlan::Pinned(int32_t source, const v1::StageResult& result, Tasks& next) {
  v1::Source pinned = spec_.sources(source);
  pinned.set_ref(result.pinned().ref());
  pinned.set_sha256(result.pinned().sha256());
  if (!config::IsPinned(pinned)) {
    return absl::InvalidArgumentError(absl::StrCat("pin left the source open: ref ",
                                                   JsonString(pinned.ref()), ", sha256 ",
                                                   JsonString(pinned.sha256())));
  }
  *spec_.mutable_sources(source) = std::move(pinned);
  next.push_back({StageId::kFetch, source, 0});
  return absl::OkStatus();
}

absl::Status JobPlan::Fetched(int32_t source, const v1::StageResult& result, Tasks& next) {
  if (result.outputs().empty()) return absl::InvalidArgumentError("fetch without a tree");
  ASSIGN_OR_RETURN(const BlobRef tree, ToBlobRef(result.outputs(0), "tree"));
  std::vector<Shard> shards(result.outputs_size() - 1);
  for (size_t k = 0; k < shards.size(); ++k) {
    ASSIGN_OR_RETURN(shards[k].files, ToBlobRef(result.outputs(k + 1), "files"));
  }
  Source& state = sources_[source];
  state.tree = tree;
  state.shards = std::move(shards);
  state.extracts_open = static_cast<int32_t>(state.shards.size());
  for (int32_t k = 0; k < state.extracts_open; ++k) {
    next.push_back({StageId::kExtract, source, k});
  }
  if (state.shards.empty()) ExtractionOver(source, next);
  return absl::OkStatus();
}

absl::Status JobPlan::Extracted(const TaskKey& task, const v1::StageResult& result, Tasks& next) {
  Source& state = sources_[task.source];
  ASSIGN_OR_RETURN(state.shards[task.shard].kernels, OnlyOutput(result, "kernels"));
  if (--state.extracts_open == 0) ExtractionOver(task.source, next);
  return absl::OkStatus();
}

void JobPlan::ExtractionOver(int32_t source, Tasks& next) {
  const std::vector<Shard>& shards = sources_[source].shards;
  if (std::all_of(shards.begin(), shards.end(), [](const Shard& s) { return s.lost; })) {
    --sources_unlinked_;  // nothing to link
  } else {
    next.push_back({StageId::kLink, source, 0});
  }
}

absl::Status JobPlan::Linked(int32_t source, const v1::StageResult& result, Tasks& next) {
  Source& state = sources_[source];
  std::vector<int32_t> alive;
  for (size_t k = 0; k < state.shards.size(); ++k) {
    if (!state.shards[k].lost) alive.push_back(static_cast<int32_t>(k));
  }
  if (result.outputs_size() != static_cast<int>(alive.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("link made ", result.outputs_size(), " shards of ", alive.size()));
  }
  std::vector<BlobRef> linked(alive.size());
  for (size_t i = 0; i < alive.size(); ++i) {
    ASSIGN_OR_RETURN(linked[i], ToBlobRef(result.outputs(i), "kernels"));
  }
  for (size_t i = 0; i < alive.size(); ++i) {
    state.shards[alive[i]].linked = linked[i];
    if (!IsHoldout(source)) {
      next.push_back({StageId::kValidate, source, alive[i]});
      ++validates_open_;
    }
    next.push_back({StageId::kSign, source, alive[i]});
    ++signs_open_;
  }
  --sources_unlinked_;
  return absl::OkStatus();
}

absl::Status JobPlan::CheckedOrSigned(const TaskKey& task, const v1::StageResult& result) {
  Shard& shard = sources_[task.source].shards[task.shard];
  if (task.stage == StageId::kValidate) {
    ASSIGN_OR_RETURN(shard.verdicts, OnlyOutput(result, "verdicts"));
    --validates_open_;
  } else {
    ASSIGN_OR_RETURN(shard.signatures, OnlyOutput(result, "signatures"));
    --signs_open_;
  }
  return absl::OkStatus();
}

absl::Status JobPlan::JobLevel(const TaskKey& task, const v1::StageResult& result, Tasks& next) {
  if (task.stage == StageId::kPair) {
    ASSIGN_OR_RETURN(pairs_[task.shard], OnlyOutput(result, "pairs"));
    --pairs_open_;
  } else if (task.stage == StageId::kResolve) {
    ASSIGN_OR_RETURN(clusters_, OnlyOutput(result, "clusters"));
    next.push_back({StageId::kManifest, 0, 0});
  } else {
    ASSIGN_OR_RETURN(manifest_, OnlyOutput(result, "manifest"));
    state_ = v1::JOB_STATE_DONE;
  }
  return absl::OkStatus();
}

void JobPlan::PassBarriers(Tasks& next) {
  if (state_ != v1::JOB_STATE_RUNNING) return;
  if (!pairing_ && sources_unlinked_ == 0 && signs_open_ == 0) {
    int64_t kernels = 0;
    for (const Source& source : sources_) {
      for (const Shard& shard : source.shards) kernels += shard.linked.items;
    }
    pairing_ = true;
    pairs_open_ = PairPartitions(kernels);
    pairs_.resize(pairs_open_);
    for (int32_t p = 0; p < pairs_open_; ++p) next.push_back({StageId::kPair, 0, p});
  }
  if (pairing_ && !resolving_ && pairs_open_ == 0 && validates_open_ == 0) {
    resolving_ = true;
    next.push_back({StageId::kResolve, 0, 0});
  }
}

std::vector<TaskKey> JobPlan::Fail(const TaskKey& task, const absl::Status& error) {
  AddFailure(task, error);
  Tasks next;
  switch (task.stage) {
    case StageId::kPin:
    case StageId::kFetch:
    case StageId::kLink:
      FailSource(task.source);
      break;
    case StageId::kExtract: {
      Source& state = sources_[task.source];
      Shard& shard = state.shards[task.shard];
      shard.lost = true;
      state.lost_files += shard.files.items;
      if (--state.extracts_open == 0) ExtractionOver(task.source, next);
      break;
    }
    default:
      state_ = v1::JOB_STATE_FAILED;
      break;
  }
  PassBarriers(next);
  return next;
}

void JobPlan::FailSource(int32_t source) {
  sources_[source] = Source();
  sources_[source].failed = true;
  --sources_unlinked_;
}

void JobPlan::AddFailure(const TaskKey& task, const absl::Status& error) {
  v1::Failure& failure = failures_[task];
  if (task.stage < StageId::kPair) {
    failure.set_source(config::SourceName(spec_.sources(task.source)));
  }
  failure.set_stage(std::string(StageName(task.stage)));
  failure.set_code(absl::StatusCodeToString(error.code()));
  failure.set_message(ToUtf8(error.message()));
  if (task.stage == StageId::kExtract) {
    failure.set_files(sources_[task.source].shards[task.shard].files.items);
  } else if (task.stage == StageId::kLink) {
    int64_t files = 0;
    for (const Shard& shard : sources_[task.source].shards) {
      if (!shard.lost) files += shard.files.items;  // the lost ones have failures of their own
    }
    failure.set_files(files);
  }
}

bool JobPlan::IsHoldout(int32_t source) const {
  return spec_.sources(source).role() == v1::SOURCE_ROLE_HOLDOUT;
}

void JobPlan::FillStatus(v1::JobStatus& status) const {
  for (const auto& [task, failure] : failures_) *status.add_failures() = failure;
  for (const auto& [name, value] : counters_) {
    v1::Counter* counter = status.add_counters();
    counter->set_name(name);
    counter->set_value(value);
  }
  if (state_ != v1::JOB_STATE_DONE) return;
  *status.mutable_dataset() = ToNamedDigest(manifest_, "manifest").digest();
  *status.mutable_lock() = spec_;
}

}  // namespace kernelmill::coordinator
