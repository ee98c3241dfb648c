// The part of JobPlan that takes failures: what each costs, and what is told of it.

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/job/source_spec.h"
#include "services/coordinator/core/plan/plan.h"

namespace kernelmill::coordinator {
namespace {

using worker::FailureCost;
using worker::StageScope;

constexpr int kNamedFiles = 10;  // or pairs, in the message of a failure
// Of one failure's message, so that a page of them fits into an answer whatever a worker said.
constexpr size_t kMaxMessage = 4096;
// How the manifest stage names a gate, where it names a pair "pairs[3]".
constexpr absl::string_view kGatePrefix = "gates.";

using FileFailures = google::protobuf::RepeatedPtrField<v1::FileFailure>;

// The first of a result's failures, each with its reason, of `total`.
std::string NamedFailures(const FileFailures& failures, int64_t total) {
  std::string names;
  for (int i = 0; i < std::min(failures.size(), kNamedFiles); ++i) {
    const v1::FileFailure& failure = failures[i];
    absl::StrAppend(&names, i == 0 ? " " : ", ", ToUtf8(failure.path()), " (", failure.reason(),
                    ")");
  }
  return total > kNamedFiles ? absl::StrCat(names, ", ...") : names;
}

}  // namespace

std::vector<TaskKey> JobPlan::Fail(const TaskKey& task, const absl::Status& error) {
  AddFailure(task, error);
  Tasks next;
  switch (StageInfoOf(task.stage).failure_cost) {
    case FailureCost::kSource:
      sources_.Mutable(task.source) = Source();
      sources_.Mutable(task.source).failed = true;
      if (task.stage != StageId::kDiscover && task.stage != StageId::kLink) {
        Settle(task.source, next);
      }
      break;
    case FailureCost::kFiles:
      LoseShard(task);
      break;
    case FailureCost::kJob:
      state_ = v1::JOB_STATE_FAILED;
      break;
  }
  NoLongerAwaited(task, next);
  PassBarriers(next);
  return next;
}

void JobPlan::NoLongerAwaited(const TaskKey& task, Tasks& next) {
  switch (task.stage) {
    case StageId::kDiscover:
      if (--searches_open_ == 0) SearchesOver(next);
      break;
    case StageId::kPin:
    case StageId::kFetch:
    case StageId::kLink:
      --sources_unlinked_;
      break;
    case StageId::kExtract:
      if (--sources_.Mutable(task.source).extracts_open == 0) ExtractionOver(task.source, next);
      break;
    case StageId::kCompile:
      if (task.sub_shard != kWholeShard) {
        CompiledParts& parts = sources_.Mutable(task.source).compiled_parts[task.shard];
        parts.failed = true;
        --parts.open;
      }
      --checks_open_;
      break;
    case StageId::kValidate:
    case StageId::kSign:
      --checks_open_;
      break;
    case StageId::kPair:
    case StageId::kResolve:
    case StageId::kSplit:
    case StageId::kManifest:
      break;  // the job has failed
  }
}

std::vector<TaskKey> JobPlan::Split(const TaskKey& task) {
  if (!StageInfoOf(task.stage).splittable) return {};
  Source& state = sources_.Mutable(task.source);
  Tasks next;
  for (const SubShard sub_shard : coordinator::Split(task.sub_shard, ShardItemsOf(task))) {
    next.push_back(task);
    next.back().sub_shard = sub_shard;
  }
  if (next.empty()) return next;
  const auto more = static_cast<int32_t>(next.size()) - 1;
  if (task.stage == StageId::kCompile) {
    state.compiled_parts[task.shard].open += more;
    checks_open_ += more;
  } else {
    state.split[task.shard];
    state.extracts_open += more;
  }
  return next;
}

int32_t JobPlan::ShardItemsOf(const TaskKey& task) const {
  const Source& state = sources_[task.source];
  const std::vector<BlobRef>& shards = task.stage == StageId::kCompile ? state.linked : state.files;
  return static_cast<int32_t>(shards[task.shard].items);
}

int32_t JobPlan::ItemCountOf(const TaskKey& task) const {
  return ItemsOf(task.sub_shard, ShardItemsOf(task)).count;
}

void JobPlan::LoseShard(const TaskKey& task) {
  Source& state = sources_.Mutable(task.source);
  if (state.lost[task.shard]) return;  // by another sub-shard or stage
  state.lost[task.shard] = true;
  state.lost_files += state.files[task.shard].items;
}

std::string JobPlan::SourceNameOf(const TaskKey& task) const {
  if (StageInfoOf(task.stage).scope == StageScope::kJob) return "";
  return job::SourceName(packed_.Get(task.source));
}

v1::Failure& JobPlan::NewFailure(const TaskKey& task, absl::StatusCode code) {
  v1::Failure& failure = failures_[task];
  failure.set_source(SourceNameOf(task));
  failure.set_stage(std::string(StageInfoOf(task.stage).name));
  failure.set_code(absl::StatusCodeToString(code));
  return failure;
}

void JobPlan::AddFailure(const TaskKey& task, const absl::Status& error) {
  v1::Failure& failure = NewFailure(task, error.code());
  failure.set_message(ToUtf8(error.message().substr(0, kMaxMessage)));
  const StageScope scope = StageInfoOf(task.stage).scope;
  if (scope == StageScope::kJob) return;
  const Source& state = sources_[task.source];
  int64_t files = 0;  // without the lost ones, which have failures of their own
  for (int32_t k = 0; k < state.shards(); ++k) {
    const bool concerned = scope == StageScope::kSource || k == task.shard;
    if (concerned && !state.lost[k]) files += state.files[k].items;
  }
  failure.set_files(files);
}

void JobPlan::AddQuarantined(const TaskKey& task, const v1::StageResult& result) {
  v1::Failure& failure = NewFailure(task, absl::StatusCode::kAborted);
  if (!result.failures().empty()) failure.set_path(result.failures(0).path());
  if (task.stage == StageId::kExtract) {
    failure.set_message("quarantined: its extraction ended the worker again and again");
    failure.set_files(1);
    return;
  }
  // No file is lost: the kernel stays, and what compilers say of it is unknown.
  const std::string kernel = result.failures().empty() ? "?" : result.failures(0).reason();
  failure.set_message(ToUtf8(absl::StrCat("quarantined: compiling ", kernel,
                                          " ended its compiler or the worker again and again")
                                 .substr(0, kMaxMessage)));
}

void JobPlan::AddUnfetched(int32_t source, const v1::StageResult& result) {
  if (result.failures().empty()) return;
  const TaskKey task = {.stage = StageId::kFetch, .source = source};
  v1::Failure& failure = NewFailure(task, absl::StatusCode::kDataLoss);
  for (const v1::Counter& counter : result.counters()) {
    if (absl::StartsWith(counter.name(), "files.failed.")) {
      failure.set_files(failure.files() + counter.value());
    }
  }
  failure.set_message(ToUtf8(absl::StrCat("files that could not be had:",
                                          NamedFailures(result.failures(), failure.files()))
                                 .substr(0, kMaxMessage)));
  failure.set_path(result.failures(0).path());
}

void JobPlan::AddShortfalls(const TaskKey& task, const v1::StageResult& result) {
  FileFailures pairs;
  TaskKey gate = task;
  for (const v1::FileFailure& shortfall : result.failures()) {
    if (!absl::StartsWith(shortfall.path(), kGatePrefix)) {
      *pairs.Add() = shortfall;
      continue;
    }
    ++gate.shard;  // the stage has one task, whose own failure is of shard 0
    v1::Failure& failure = NewFailure(gate, absl::StatusCode::kFailedPrecondition);
    failure.set_path(shortfall.path());
    failure.set_message(ToUtf8(shortfall.reason().substr(0, kMaxMessage)));
  }
  if (pairs.empty()) return;
  v1::Failure& failure = NewFailure(task, absl::StatusCode::kNotFound);
  const bool reviews = absl::StartsWith(pairs.rbegin()->path(), "reviews");
  failure.set_message(
      ToUtf8(absl::StrCat(reviews ? "pairs and reviews that name nothing in the dataset:"
                                  : "pairs that could not be made:",
                          NamedFailures(pairs, pairs.size()))
                 .substr(0, kMaxMessage)));
}

std::vector<TaskFailure> JobPlan::Failures(const TaskKey* after, size_t limit) const {
  std::vector<TaskFailure> failures;
  auto at = after == nullptr ? failures_.begin() : failures_.upper_bound(*after);
  for (; at != failures_.end() && failures.size() < limit; ++at) {
    failures.push_back({at->first, at->second});
  }
  return failures;
}

std::vector<TaskFailure> JobPlan::TakeFailures() {
  std::vector<TaskFailure> failures;
  failures.reserve(failures_.size());
  for (auto& [task, failure] : failures_) failures.push_back({task, std::move(failure)});
  failures_.clear();
  return failures;
}

void JobPlan::FillStatus(v1::JobStatus& status) const {
  for (const auto& [task, failure] : failures_) {
    if (status.failures_size() == kFailuresInStatus) break;
    *status.add_failures() = failure;
  }
  status.set_failure_count(failure_count());
  for (const auto& [name, value] : counters_) {
    v1::Counter* counter = status.add_counters();
    counter->set_name(name);
    counter->set_value(value);
  }
  if (state_ != v1::JOB_STATE_DONE) return;
  *status.mutable_dataset() = ToNamedDigest(manifest_, "manifest").digest();
}

}  // namespace kernelmill::coordinator
