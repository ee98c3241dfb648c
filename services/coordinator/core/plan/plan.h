#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PLAN_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PLAN_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/job/opt_out.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "services/coordinator/core/plan/packed_sources.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/plan/uses.h"

namespace kernelmill::coordinator {

// A NamedDigest without its name, in a third of the memory: a job may have a million of them.
struct BlobRef {
  std::array<char, 32> hash{};
  int64_t size = 0;
  int64_t items = 0;
};

v1::NamedDigest ToNamedDigest(const BlobRef& ref, absl::string_view name);

// INVALID_ARGUMENT: another name than `name`, not a digest, or no count of items.
absl::StatusOr<BlobRef> ToBlobRef(const v1::NamedDigest& digest, absl::string_view name);

// The output of a stage that promises one alone. INVALID_ARGUMENT too: it has another number.
absl::StatusOr<BlobRef> OnlyOutput(const v1::StageResult& result, absl::string_view name);

// Why an input is lost, and which task says so.
struct TaskFailure {
  TaskKey task;
  v1::Failure failure;
};

// How many failures a job's status names.
inline constexpr int kFailuresInStatus = 100;

// The task graph of one job, as a pure state machine: outcomes of tasks go in, the tasks that they
// make possible come out. No I/O, no clock; not thread-safe.
//
//   once for the job: all discover, each of which becomes the sources that it found
//   for each source:  [pin] -> fetch -> extract(k) -> link -> [compile(k)] -> validate(k)
//                                                          -> sign(k)
//   of a source that uses others: link waits for their extractions too (uses.h)
//   once for the job: all sign -> pair(p) -> with all validate -> resolve -> [split] -> manifest
//
// Which tasks come, and every action, depend on the spec and on the results alone, never on the
// order in which results arrive: inputs stand in the order of (source, shard). Feeding the same
// outcomes again, in any order in which each task was possible, rebuilds the same state.
//
// What a failure costs is in the stage table (FailureCost).
class JobPlan {
 public:
  // `spec` has its defaults written out (job::WithDefaults).
  explicit JobPlan(v1::JobSpec spec);

  // The first tasks. Call once, before all else.
  std::vector<TaskKey> Start();

  // Takes the result of a task that came out of Start(), Succeed() or Fail(), once.
  // INVALID_ARGUMENT: it is not what the stage promises; then nothing has changed, and the task is
  // best failed.
  absl::StatusOr<std::vector<TaskKey>> Succeed(const TaskKey& task, const v1::StageResult& result);

  // Takes the final failure of a task.
  std::vector<TaskKey> Fail(const TaskKey& task, const absl::Status& error);

  // The tasks that take the place of one that ends its worker again and again: its halves, or its
  // one file or kernel quarantined. Empty: it cannot be split, and is best failed; then nothing has
  // changed.
  std::vector<TaskKey> Split(const TaskKey& task);

  // How many files an extraction has, or kernels a compilation.
  int32_t ItemCountOf(const TaskKey& task) const;

  // Ends the job where it stands.
  void Cancel() { state_ = v1::JOB_STATE_CANCELLED; }

  // What a worker is to run for the task.
  v1::Action ActionFor(const TaskKey& task) const;

  // RUNNING, DONE, FAILED or CANCELLED. No outcome may be fed once it has ended.
  v1::JobState state() const { return state_; }

  // Writes the first failures (in the order of the data flow) and their number, counters, and the
  // dataset if DONE.
  void FillStatus(v1::JobStatus& status) const;
  // At most `limit` failures, in the order of the data flow: from the first, or those after `after`
  // unless it is null.
  std::vector<TaskFailure> Failures(const TaskKey* after, size_t limit) const;
  int64_t failure_count() const { return static_cast<int64_t>(failures_.size()); }
  // All failures, of a job that has ended; they are gone from here.
  std::vector<TaskFailure> TakeFailures();

  // As records and reports name the task's source; empty for a stage of the whole job.
  std::string SourceNameOf(const TaskKey& task) const;

  // The spec without its sources, which are packed.
  const v1::JobSpec& settings() const { return settings_; }
  v1::Source SourceAt(int32_t index) const { return packed_.Get(index); }
  // The spec whole, with the pins that are known.
  v1::JobSpec Spec() const;

 private:
  // What came of a shard that is compiled in parts.
  struct CompiledParts {
    int32_t open = 1;                            // tasks
    bool failed = false;                         // a part, and so the shard
    std::map<int32_t, BlobRef> compiled;         // by the first kernel
    std::map<int32_t, std::vector<BlobRef>> ir;  // likewise
  };
  // A source's shards, an array for each kind of blob, made when the first of it comes: a job may
  // have a million shards, most of which wait.
  struct Source {
    bool failed = false;
    int32_t extracts_open = 0;
    int64_t lost_files = 0;
    BlobRef tree;
    std::vector<BlobRef> files, kernels, linked, compiled, verdicts, signatures, shingles;
    std::vector<bool> lost;  // the stages that follow do not see the shard
    std::map<int32_t, std::map<SubShard, BlobRef>> split;  // the kernels of shards that are split
    std::map<int32_t, std::vector<BlobRef>> ir;            // of shards that have any
    std::map<int32_t, CompiledParts> compiled_parts;       // of shards that are split

    int32_t shards() const { return static_cast<int32_t>(files.size()); }
  };
  // What others get of a source that they use: as extracted.
  struct UsedShards {
    BlobRef tree;
    std::vector<BlobRef> kernels;
  };
  // Of all sources, made when the first thing is known of one: most of a large job's wait.
  class SourceStates {
   public:
    explicit SourceStates(size_t size = 0) : states_(size) {}
    size_t size() const { return states_.size(); }
    const Source& operator[](size_t index) const {
      static const auto* const kNothing = new Source;
      return states_[index] == nullptr ? *kNothing : *states_[index];
    }
    Source& Mutable(size_t index) {
      if (states_[index] == nullptr) states_[index] = std::make_unique<Source>();
      return *states_[index];
    }
    void Add(bool failed) {
      states_.emplace_back();
      if (failed) Mutable(size() - 1).failed = true;
    }

   private:
    std::vector<std::unique_ptr<Source>> states_;
  };
  using Tasks = std::vector<TaskKey>;

  // Succeed, by stage.
  absl::Status Discovered(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Pinned(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Fetched(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Extracted(const TaskKey& task, const v1::StageResult& result, Tasks& next);
  absl::Status Linked(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Compiled(const TaskKey& task, const v1::StageResult& result, Tasks& next);
  // Takes a part's outputs; returns whether it was the last, and all are there.
  bool CompiledPart(const TaskKey& task, const BlobRef& compiled, std::vector<BlobRef> ir);
  absl::Status Validated(const TaskKey& task, const v1::StageResult& result);
  absl::Status Signed(const TaskKey& task, const v1::StageResult& result);
  absl::Status JobLevel(const TaskKey& task, const v1::StageResult& result, Tasks& next);

  // The last search has ended: what was found takes its place among the sources.
  void SearchesOver(Tasks& next);
  // The first task of every source that is not a search.
  void BeginSources(Tasks& next);
  // The last extraction of the source has ended, one way or the other.
  void ExtractionOver(int32_t source, Tasks& next);
  // Its extraction is over, or nothing will come of the source: who uses it need not wait for it
  // any more.
  void Settle(int32_t source, Tasks& next);
  // Takes a task that failed out of what the barriers wait for.
  void NoLongerAwaited(const TaskKey& task, Tasks& next);
  // The shard's files are lost from here on.
  void LoseShard(const TaskKey& task);
  // The file or the kernel of the task is quarantined.
  void AddQuarantined(const TaskKey& task, const v1::StageResult& result);
  // Files that the fetch could not get.
  void AddUnfetched(int32_t source, const v1::StageResult& result);
  // What the dataset was to have and has not: pairs that the job names and that could not be made;
  // and, a failure each, gates that it misses.
  void AddShortfalls(const TaskKey& task, const v1::StageResult& result);
  // Adds the tasks of the job-wide stages whose barriers have opened.
  void PassBarriers(Tasks& next);
  v1::Failure& NewFailure(const TaskKey& task, absl::StatusCode code);
  void AddFailure(const TaskKey& task, const absl::Status& error);
  // Of the whole shard that the task is of.
  int32_t ShardItemsOf(const TaskKey& task) const;
  bool IsHoldout(int32_t source) const;
  bool Compiles() const { return settings_.has_compile(); }

  // ActionFor, by stage (plan_actions.cc).
  std::vector<BlobRef> KernelsOf(const Source& source, int32_t shard) const;
  void FillExtract(const TaskKey& task, v1::Action& action) const;
  void FillLink(int32_t source, v1::Action& action) const;
  void FillCompile(const TaskKey& task, v1::Action& action) const;
  void FillValidate(const TaskKey& task, v1::Action& action) const;
  void FillPair(const TaskKey& task, v1::Action& action) const;
  void FillResolve(v1::Action& action) const;
  void FillSplit(v1::Action& action) const;
  void FillManifest(v1::Action& action) const;
  void AddIr(v1::Action& action) const;
  // Calls `visit(source's index, source, shard's index)` for every shard that was linked, in order.
  template <typename Visit>
  void ForEachLinked(Visit visit) const;

  v1::JobSpec settings_;
  job::OptOutIndex opt_outs_;
  PackedSources packed_;  // take on their pins as these become known
  v1::JobState state_ = v1::JOB_STATE_RUNNING;
  SourceStates sources_;
  Uses<UsedShards> uses_;
  std::map<int32_t, std::vector<std::string>> found_;  // by search, until the last one has ended
  std::vector<BlobRef> pairs_;
  BlobRef clusters_;
  BlobRef splits_;
  BlobRef manifest_;
  std::map<TaskKey, v1::Failure> failures_;
  std::map<std::string, int64_t> counters_;

  // What the barriers wait for.
  int32_t searches_open_ = 0;
  int32_t sources_unlinked_ = 0;
  int64_t checks_open_ = 0;  // validate, with the compile before it, and sign
  int32_t pairs_open_ = 0;
  bool pairing_ = false;
  bool resolving_ = false;
};

template <typename Visit>
void JobPlan::ForEachLinked(Visit visit) const {
  for (size_t s = 0; s < sources_.size(); ++s) {
    for (int32_t k = 0; k < sources_[s].shards(); ++k) {
      if (!sources_[s].lost[k]) visit(static_cast<int32_t>(s), sources_[s], k);
    }
  }
}

// Partitions of the pair stage for that many kernels: a function of the data, not of the workers.
int32_t PairPartitions(int64_t kernels);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PLAN_H_
