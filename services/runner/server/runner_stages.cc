// The basic idea: an execution is an observation, and nothing is observed twice. So a case runs
// only if neither the job's evidence nor the action cache has its result for this device and
// toolchain. Each new result goes into the cache as soon as it is known: a worker that is killed
// loses only what was running.
#include "services/runner/server/runner_stages.h"

#include <prometheus/counter.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/cas/result_origin.h"
#include "common/dsl/names.h"
#include "common/manifest/ledger.h"
#include "common/metrics/metrics.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/runner/core/case_index.h"
#include "services/runner/core/result_source.h"

namespace kernelmill::runner {
namespace {

constexpr int kKeyVersion = 1;  // raised when the meaning of a kept result changes

// The results of single cases, in the action cache. Errors are logged: a result that is not kept is
// observed again.
class ResultCache {
 public:
  ResultCache(const Runner& runner, worker::StageId stage, cas::BlobStore& store)
      : runner_(runner), info_(worker::GetStageInfo(stage)), store_(store) {}

  // Returns the result's line; empty if the cache lacks it.
  std::string Find(const std::string& case_id) {
    const absl::StatusOr<cas::ActionResult> kept = store_.GetActionResult(MakeKey(case_id));
    if (!kept.ok()) return "";
    const std::string& line = kept->stdout_raw();
    const bool fits = GetResultCase(line, runner_.device(), runner_.toolchain()) == case_id;
    return fits ? line : "";
  }

  void Keep(const std::string& case_id, const std::string& line) {
    cas::ActionResult result;
    cas::SetStage(absl::StrCat(info_.name, "/result"), info_.version, &result);
    result.set_stdout_raw(line);
    const absl::Status kept = store_.PutActionResult(MakeKey(case_id), result);
    if (!kept.ok()) LogWarning("cannot keep a result", {{"error", kept.ToString()}});
  }

 private:
  cas::Digest MakeKey(const std::string& case_id) const {
    v1::RunResultKey key;
    key.set_case_id(case_id);
    key.set_device(runner_.device());
    key.set_toolchain(runner_.toolchain());
    key.set_version(kKeyVersion);
    return cas::ComputeDigest(cas::SerializeDeterministically(key));
  }

  const Runner& runner_;
  const worker::StageInfo& info_;
  cas::BlobStore& store_;
};

// A task: chooses the cases that run, and has the results of all.
class Run {
 public:
  Run(Runner& runner, worker::StageId stage, const v1::Action& action, cas::BlobStore& store)
      : runner_(runner),
        action_(action),
        store_(store),
        cache_(runner, stage, store),
        cases_(runner.device(), runner.toolchain()),
        evidence_(worker::InputsNamed(action, "evidence")) {}

  absl::StatusOr<v1::StageResult> Go(const std::stop_token& stop) {
    for (size_t i = 0; i < evidence_.size(); ++i) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::FileShard>(store_, evidence_[i]));
      cases_.AddShard(i, shard);
    }
    cases_.Finish();
    RETURN_IF_ERROR(ChooseKernels());
    if (!waiting_.empty()) RETURN_IF_ERROR(Execute(stop));
    return MakeResult();
  }

 private:
  // Looks at the kept kernels of the task's partition.
  absl::Status ChooseKernels() {
    ASSIGN_OR_RETURN(const cas::Digest digest, worker::InputNamed(action_, "clusters"));
    ASSIGN_OR_RETURN(const auto clusters, cas::GetMessage<v1::Clusters>(store_, digest));
    uint32_t first = 0;
    for (const cas::Digest& input : worker::InputsNamed(action_, "kernels")) {
      ASSIGN_OR_RETURN(auto shard, cas::GetMessage<v1::KernelShard>(store_, input));
      for (int i = 0; i < shard.kernels_size(); ++i) {
        const v1::Decision* const decision =
            manifest::DecisionOn(clusters, first + static_cast<uint32_t>(i));
        if (decision == nullptr) return absl::DataLossError("the clusters lack a kernel");
        if (decision->fate() == v1::FATE_KEPT) RETURN_IF_ERROR(ChooseCases(shard.kernels(i)));
      }
      first += static_cast<uint32_t>(shard.kernels_size());
    }
    return absl::OkStatus();
  }

  // Chooses the cases that run. Kernels with one text are one kernel.
  absl::Status ChooseCases(const v1::Kernel& kernel) {
    if (kernel.dsl() != dsl::kTriton || kernel.role() != v1::KERNEL_ROLE_KERNEL) {
      return absl::OkStatus();
    }
    const v1::RunParams& params = action_.params().run();
    KernelName name = NameKernel(kernel);
    const std::vector<Case>* const cases = cases_.Find(name);
    if (cases == nullptr || !seen_.insert(name).second) return absl::OkStatus();
    if (GetPartition(name.first, params.partitions()) != params.partition()) {
      return absl::OkStatus();
    }
    bool runs = false;
    for (const Case& one : *cases) {
      if (cases_.IsKnown(one.id)) {
        ++counts_["known"];
      } else if (std::string kept = cache_.Find(one.id); !kept.empty()) {
        ++counts_["known"];
        results_[one.id] = std::move(kept);
      } else if (!std::all_of(one.tensors.begin(), one.tensors.end(),
                              [&](const auto& tensor) { return cases_.HasTensor(tensor); })) {
        ++counts_["without_tensor"];
      } else {
        RETURN_IF_ERROR(AddWaiting(one));
        runs = true;
      }
    }
    return runs ? execution_->AddKernel(kernel) : absl::OkStatus();
  }

  absl::Status AddWaiting(const Case& one) {
    if (execution_ == nullptr) {
      ASSIGN_OR_RETURN(execution_, runner_.NewExecution());
    }
    waiting_.insert(one.id);
    tensors_.insert(one.tensors.begin(), one.tensors.end());
    return execution_->AddCase(one.line);
  }

  // Hands the tensors on, a shard at a time: together they may be larger than the memory.
  absl::Status AddTensors() {
    for (const size_t i : cases_.FindShards(tensors_)) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::FileShard>(store_, evidence_[i]));
      for (const v1::SourceFile& file : shard.files()) {
        const std::string name(BaseName(file.path()));
        if (!IsTensor(name) || tensors_.erase(name) == 0) continue;
        RETURN_IF_ERROR(execution_->AddTensor(name, file.content()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Execute(const std::stop_token& stop) {
    RETURN_IF_ERROR(AddTensors());
    const auto on_result = [this](absl::string_view line) {
      const std::string id = GetResultCase(line, runner_.device(), runner_.toolchain());
      if (waiting_.erase(id) == 0) return;  // not asked for
      cache_.Keep(id, std::string(line));
      const auto row = nlohmann::json::parse(line);
      const std::string outcome = row.value("outcome", "");
      ++counts_[outcome];
      metrics::Counter(metrics::kRunCases, {{"device", runner_.device()}, {"outcome", outcome}})
          .Increment();
      results_[id] = std::string(line);
    };
    RETURN_IF_ERROR(execution_->Run(on_result, stop));
    counts_["invalid"] = static_cast<int64_t>(waiting_.size());
    return absl::OkStatus();
  }

  absl::StatusOr<v1::StageResult> MakeResult() {
    v1::StageResult result;
    for (const auto& [outcome, count] : counts_) {
      worker::AddCounter(result, absl::StrCat("run.", runner_.device(), ".", outcome), count);
    }
    if (results_.empty()) return result;
    std::vector<std::string> lines;
    for (auto& [id, line] : results_) lines.push_back(std::move(line));
    ASSIGN_OR_RETURN(const ResultSource source,
                     MakeResultSource(runner_.device(), std::move(lines)));
    ASSIGN_OR_RETURN(const cas::Digest tree, cas::PutMessage(store_, source.tree));
    ASSIGN_OR_RETURN(const cas::Digest shard, cas::PutMessage(store_, source.shard));
    worker::AddOutput(result, "tree", tree, source.tree.files_size());
    worker::AddOutput(result, "files", shard, source.shard.files_size());
    result.mutable_pinned()->set_sha256(source.sha256);
    return result;
  }

  Runner& runner_;
  const v1::Action& action_;
  cas::BlobStore& store_;
  ResultCache cache_;
  CaseIndex cases_;
  const std::vector<cas::Digest> evidence_;
  absl::flat_hash_set<KernelName> seen_;
  std::unique_ptr<Execution> execution_;                   // null: nothing runs
  absl::flat_hash_set<std::string> waiting_;               // ids of cases
  absl::flat_hash_set<std::string> tensors_;               // of these
  absl::flat_hash_map<std::string, std::string> results_;  // lines, by the case's id
  std::map<std::string, int64_t> counts_;
};

class RunStage : public worker::Stage {
 public:
  RunStage(Runner& runner, worker::StageId id) : runner_(runner), id_(id) {}
  worker::StageId id() const override { return id_; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    return RunUntil(action, store, {});
  }

  absl::StatusOr<v1::StageResult> RunUntil(const v1::Action& action, cas::BlobStore& store,
                                           const std::stop_token& stop) override {
    const v1::RunParams& params = action.params().run();
    if (params.device() != runner_.device() || params.partition() < 0 ||
        params.partition() >= params.partitions()) {
      return absl::InvalidArgumentError(
          absl::StrCat("run: the action must be for ", runner_.device(), ", not '", params.device(),
                       "', and for one of its ", params.partitions(), " partitions"));
    }
    return runner::Run(runner_, id_, action, store).Go(stop);
  }

 private:
  Runner& runner_;
  const worker::StageId id_;
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewRunnerStages(Runner& runner) {
  metrics::Prefill(metrics::kRunCases,
                   {{"device", {runner.device()}},
                    {"outcome", {"exact", "close", "different", "error", "unknown"}}});
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<RunStage>(runner, worker::FindRunStage(runner.device())->id));
  return stages;
}

}  // namespace kernelmill::runner
