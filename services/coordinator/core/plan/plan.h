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

// A NamedDigest without its name, in a third of the memory: a job may have a million.
struct BlobRef {
  std::array<char, 32> hash{};
  int64_t size = 0;
  int64_t items = 0;
};

v1::NamedDigest ToNamedDigest(const BlobRef& ref, absl::string_view name);

// Converts an output. INVALID_ARGUMENT: its name is not `name`, or its digest or number of items is
// invalid.
absl::StatusOr<BlobRef> ToBlobRef(const v1::NamedDigest& digest, absl::string_view name);

// Converts the only output of a stage. INVALID_ARGUMENT: as above, or there is not exactly one.
absl::StatusOr<BlobRef> OnlyOutput(const v1::StageResult& result, absl::string_view name);

// A failure in a report, and the task that failed.
struct TaskFailure {
  TaskKey task;
  v1::Failure failure;
};

// The number of failures in a job's status.
inline constexpr int kFailuresInStatus = 100;

// The task graph of one job, as a pure state machine: it takes outcomes of tasks and returns the
// tasks that become possible. No I/O, no clock. Not thread-safe.
//
// clang-format off
//   once per job:    all discover; each is replaced by the sources that it found
//   for each source: [pin] -> fetch -> extract(k) -> link -> [reference] -> [history] -> [compile(k)] -> validate(k)
//                                                                        -> sign(k)
//                                                                        -> [compile(k) of the history's kernels]
//                    link also waits for the extractions of the sources that it uses (uses.h)
//                    a source of evidence is fetched, and no more
//   once per job:    all sign, validate and compile -> pair(p) -> resolve -> [split] -> [run(p)] -> manifest
//                    the results of all run(p) become sources of evidence, as if the job had named them
// clang-format on
//
// The tasks and their actions depend only on the spec and the results, not on the order in which
// results arrive: inputs are in the order of (source, shard). Feeding the same outcomes again, in
// any order in which the tasks are possible, rebuilds the same state; Job::Replay relies on that.
//
// The stage table (FailureCost) says what a failure costs.
class JobPlan {
 public:
  // `spec` must have its defaults filled in (job::WithDefaults).
  explicit JobPlan(v1::JobSpec spec);

  // Returns the first tasks. Call it once, first.
  std::vector<TaskKey> Start();

  // Takes the result of a task, once, and returns the next tasks. INVALID_ARGUMENT: the result is
  // not what the stage promises; nothing has changed, and the caller should fail the task.
  absl::StatusOr<std::vector<TaskKey>> Succeed(const TaskKey& task, const v1::StageResult& result);

  // Takes the final failure of a task and returns the next tasks.
  std::vector<TaskKey> Fail(const TaskKey& task, const absl::Status& error);

  // Replaces a task that crashes its workers, and returns the replacements: its halves, or its
  // single file or kernel as quarantined. Empty: it cannot be split; nothing has changed, and the
  // caller should fail the task.
  std::vector<TaskKey> Split(const TaskKey& task);

  // Returns how many files an extraction has, or kernels a compilation.
  int32_t CountItems(const TaskKey& task) const;

  // Ends the job now.
  void Cancel() { state_ = v1::JOB_STATE_CANCELLED; }

  // Returns the action that a worker runs for the task.
  v1::Action ActionFor(const TaskKey& task) const;

  // RUNNING, DONE, FAILED or CANCELLED. After the end no outcome may be fed.
  v1::JobState state() const { return state_; }

  // Writes the first failures (in the order of the data flow), their number, the counters, and the
  // dataset if DONE.
  void FillStatus(v1::JobStatus& status) const;
  // Returns at most `limit` failures after `after` (null: from the first), in the order of the data
  // flow.
  std::vector<TaskFailure> Failures(const TaskKey* after, size_t limit) const;
  // Without what only matches nothing (IsUnmatched), which is listed and is no failure.
  int64_t failure_count() const;
  // Moves all failures out of a job that has ended.
  std::vector<TaskFailure> TakeFailures();

  // Returns the name of the task's source in records and reports; empty for a job-wide stage.
  std::string GetSourceName(const TaskKey& task) const;

  // The spec without its sources.
  const v1::JobSpec& settings() const { return settings_; }
  v1::Source SourceAt(int32_t index) const { return packed_.Get(index); }
  // Returns the whole spec, with the known pins.
  v1::JobSpec Spec() const;

 private:
  // The results of a shard that is compiled in parts.
  struct CompiledParts {
    int32_t open = 1;                            // unfinished tasks
    bool failed = false;                         // a part failed, and with it the shard
    std::map<int32_t, BlobRef> compiled;         // by the first kernel of the part
    std::map<int32_t, std::vector<BlobRef>> ir;  // likewise
  };
  // The state of a source: an array of shards for each kind of blob, allocated with the first blob
  // of that kind. A job may have a million shards, most of them waiting.
  struct Source {
    bool failed = false;
    int32_t extracts_open = 0;
    int64_t lost_files = 0;
    BlobRef tree;
    std::vector<BlobRef> files, kernels, linked, references, compiled, verdicts, signatures,
        shingles;
    std::vector<bool> lost;                                // shards that later stages do not see
    std::map<int32_t, std::map<SubShard, BlobRef>> split;  // the kernels of split shards
    std::map<int32_t, std::vector<BlobRef>> ir;            // by shard, if there are any
    std::map<int32_t, CompiledParts> compiled_parts;       // of split shards
    std::vector<BlobRef> history, versions, changes;       // of a source with a history
    std::vector<BlobRef> version_kernels;                  // likewise; see CompileInput

    int32_t shards() const { return static_cast<int32_t>(files.size()); }
  };
  // The shards that the users of a source get: as extracted.
  struct UsedShards {
    BlobRef tree;
    std::vector<BlobRef> kernels;
  };
  // The states of all sources, each allocated with its first change: most sources of a large job
  // wait.
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

  // Succeed() by stage.
  absl::Status Discovered(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Pinned(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Fetched(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Extracted(const TaskKey& task, const v1::StageResult& result, Tasks& next);
  absl::Status Linked(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status Referenced(int32_t source, const v1::StageResult& result, Tasks& next);
  absl::Status HistoryFound(int32_t source, const v1::StageResult& result, Tasks& next);
  // Begins what comes after the references of a linked source: its history, or else the checks.
  void BeginHistory(int32_t source, Tasks& next);
  // Begins the checks of a linked source's shards.
  void BeginChecks(int32_t source, Tasks& next);
  // Returns the shards that are not lost.
  static std::vector<int32_t> GetAlive(const Source& source);
  // Returns the kernels of a compilation. The shards of a source go on with those of its history:
  // the first of these follows the last of the source's own.
  static const BlobRef& CompileInput(const Source& source, int32_t shard);
  static bool IsOfHistory(const Source& source, int32_t shard) { return shard >= source.shards(); }
  absl::Status Compiled(const TaskKey& task, const v1::StageResult& result, Tasks& next);
  // Takes the end of a shard's compilation; of a history nothing follows it.
  void CompilationOver(const TaskKey& task, Tasks& next);
  // Takes a part's outputs. Returns whether it was the last one and no part failed.
  bool CompiledPart(const TaskKey& task, const BlobRef& compiled, std::vector<BlobRef> ir);
  absl::Status Validated(const TaskKey& task, const v1::StageResult& result);
  absl::Status Signed(const TaskKey& task, const v1::StageResult& result);
  absl::Status JobLevel(const TaskKey& task, const v1::StageResult& result, Tasks& next);
  // Begins to run the kept kernels, or else the manifest.
  void BeginRuns(Tasks& next);
  // Takes the results of a partition. After the last one the manifest begins.
  absl::Status Ran(const TaskKey& task, const v1::StageResult& result, Tasks& next);
  // Replaces the job's run policy by the evidence that it gave.
  void RunsOver();

  // Replaces the searches by what they found, after the last search has ended.
  void SearchesOver(Tasks& next);
  // Adds the first task of every source.
  void BeginSources(Tasks& next);
  // Handles the end of the source's last extraction, with success or failure.
  void ExtractionOver(int32_t source, Tasks& next);
  // Releases the links that wait for this source: its extraction is over, or the source failed.
  void Settle(int32_t source, Tasks& next);
  // Removes a failed task from the counts of the barriers.
  void NoLongerAwaited(const TaskKey& task, Tasks& next);
  // Marks the task's shard as lost.
  void LoseShard(const TaskKey& task);
  // Adds the failure of a quarantined file or kernel.
  void AddQuarantined(const TaskKey& task, const v1::StageResult& result);
  // Adds the failure of files that could not be fetched.
  void AddUnfetched(int32_t source, const v1::StageResult& result);
  // Adds the failures of a dataset that lacks something: one for all requested pairs that could not
  // be made, and one for each missed gate.
  void AddShortfalls(const TaskKey& task, const v1::StageResult& result);
  // Adds the tasks of job-wide stages whose barriers are open.
  void PassBarriers(Tasks& next);
  v1::Failure& NewFailure(const TaskKey& task, absl::StatusCode code);
  void AddFailure(const TaskKey& task, const absl::Status& error);
  // Returns the number of items of the task's whole shard.
  int32_t CountShardItems(const TaskKey& task) const;
  bool IsHoldout(int32_t source) const;
  bool Compiles() const { return settings_.has_compile(); }

  // ActionFor() by stage (plan_actions.cc).
  std::vector<BlobRef> GetKernels(const Source& source, int32_t shard) const;
  void FillExtract(const TaskKey& task, v1::Action& action) const;
  void FillLink(int32_t source, v1::Action& action) const;
  void FillReference(int32_t source, v1::Action& action) const;
  void FillHistory(int32_t source, v1::Action& action) const;
  void FillCompile(const TaskKey& task, v1::Action& action) const;
  void FillValidate(const TaskKey& task, v1::Action& action) const;
  void FillPair(const TaskKey& task, v1::Action& action) const;
  void FillResolve(v1::Action& action) const;
  void FillSplit(v1::Action& action) const;
  void FillRun(const TaskKey& task, v1::Action& action) const;
  void FillManifest(v1::Action& action) const;
  void AddIr(v1::Action& action) const;
  void AddVersions(v1::Action& action) const;
  // Returns the results of a shard: one blob, or one for each part in the order of the kernels;
  // none if its compilation failed.
  static std::vector<BlobRef> GetCompiled(const Source& source, int32_t shard);
  // Calls `visit(source index, source, shard index)` for every shard that is not lost, in order.
  template <typename Visit>
  void ForEachShard(Visit visit) const;
  // The same without evidence, which has no kernels.
  template <typename Visit>
  void ForEachLinked(Visit visit) const;

  v1::JobSpec settings_;
  job::OptOutIndex opt_outs_;
  PackedSources packed_;  // with the pins that are known
  v1::JobState state_ = v1::JOB_STATE_RUNNING;
  SourceStates sources_;
  Uses<UsedShards> uses_;
  std::map<int32_t, std::vector<std::string>> found_;  // by search, until the last search has ended
  // The results of a partition of run: a source of evidence, if there are any.
  struct RunResults {
    v1::Source source;
    BlobRef tree, files;
  };
  std::map<int32_t, RunResults> ran_;  // by partition, until the last one has ended
  std::vector<BlobRef> pairs_;
  BlobRef clusters_;
  BlobRef splits_;
  BlobRef manifest_;
  std::map<TaskKey, v1::Failure> failures_;
  std::map<std::string, int64_t> counters_;

  // Counts that the barriers wait for.
  int32_t searches_open_ = 0;
  int32_t sources_unlinked_ = 0;
  int64_t checks_open_ = 0;  // sign, and validate with its compile
  int32_t pairs_open_ = 0;
  int32_t runs_open_ = 0;
  bool pairing_ = false;
  bool resolving_ = false;
};

template <typename Visit>
void JobPlan::ForEachShard(Visit visit) const {
  for (size_t s = 0; s < sources_.size(); ++s) {
    for (int32_t k = 0; k < sources_[s].shards(); ++k) {
      if (!sources_[s].lost[k]) visit(static_cast<int32_t>(s), sources_[s], k);
    }
  }
}

template <typename Visit>
void JobPlan::ForEachLinked(Visit visit) const {
  ForEachShard([&](int32_t s, const Source& source, int32_t k) {
    if (!packed_.IsEvidence(s)) visit(s, source, k);
  });
}

// Returns the number of partitions of the pair stage; it depends on the data, not on the workers.
int32_t PairPartitions(int64_t kernels);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PLAN_H_
