// The basic idea: each task runs in a process of its own, so that its processor time and its peak
// of memory are its own. The process leaves its blobs and results in files of the folder.

#include "tests/bench/dedup/growth.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/sign/tokenizer.h"
#include "services/deduplicator/server/deduplicator_stages.h"
#include "tests/bench/dedup/made_kernels.h"

namespace kernelmill::bench {
namespace {

constexpr int kShard = 64;
constexpr int64_t kShardsOfTask = 128;  // that a process signs

// A store that keeps blobs in files, so that the process's memory is the stage's. Without actions.
// Not thread-safe.
class FileBlobStore final : public cas::BlobStore {
 public:
  explicit FileBlobStore(std::string folder) : folder_(std::move(folder)) {}

  // Opens the file that blobs are put into from now on.
  void Open(int file) {
    Note(file);
    end_ = 0;
    added_.clear();
  }
  // Lists the blobs put since, one a line; Add() takes the list in another process.
  std::string Added() const { return added_; }
  void Add(int file, std::istream& added) {
    Note(file);
    std::string hash;
    int64_t offset, size;
    while (added >> hash >> offset >> size) places_[hash] = {current_, offset, size};
  }

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override {
    std::vector<cas::Digest> missing;
    for (const cas::Digest& digest : digests) {
      if (places_.count(digest.hash()) == 0) missing.push_back(digest);
    }
    return missing;
  }

  absl::Status Put(const std::vector<cas::Blob>& blobs) override {
    for (const cas::Blob& blob : blobs) {
      const auto size = static_cast<int64_t>(blob.bytes.size());
      if (pwrite(current_, blob.bytes.data(), blob.bytes.size(), end_) != size) {
        return absl::UnavailableError("cannot write");
      }
      places_[blob.digest.hash()] = {current_, end_, size};
      absl::StrAppend(&added_, blob.digest.hash(), " ", end_, " ", size, "\n");
      end_ += size;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override {
    std::vector<std::string> blobs;
    for (const cas::Digest& digest : digests) {
      const auto found = places_.find(digest.hash());
      if (found == places_.end()) return absl::NotFoundError(digest.hash());
      const Place& place = found->second;
      std::string& bytes = blobs.emplace_back(place.size, '\0');
      if (pread(place.file, bytes.data(), bytes.size(), place.offset) != place.size) {
        return absl::DataLossError(digest.hash());
      }
    }
    return blobs;
  }

  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override {
    return absl::NotFoundError(action.hash());
  }
  absl::Status PutActionResult(const cas::Digest&, const cas::ActionResult&) override {
    return absl::OkStatus();
  }

 private:
  struct Place {
    int file;
    int64_t offset;
    int64_t size;
  };

  void Note(int file) {
    current_ =
        open(absl::StrCat(folder_, "/blobs.", file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }

  const std::string folder_;
  int current_ = -1;
  int64_t end_ = 0;
  std::string added_;
  absl::flat_hash_map<std::string, Place> places_;
};

double ProcessorSeconds() {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The time of all tasks of a stage, and the most memory of one.
struct Cost {
  double processor_seconds = 0;
  double longest = 0;
  int64_t peak_mib = 0;
};

// Runs tasks of stages in processes of their own.
class Runner {
 public:
  // Does the work of one task; its results are the caller's after the process.
  using Task = std::function<absl::Status(Runner& runner, std::vector<v1::StageResult>* results)>;

  explicit Runner(const GrowthOptions& options)
      : options_(options),
        store_(options.folder),
        stages_(deduplicator::NewDeduplicatorStages({.folder = options.folder})) {}

  // Runs the tasks, as many at a time as there may be processes. Returns the results of each. Takes
  // those of `first` tasks from the folder.
  absl::StatusOr<std::vector<std::vector<v1::StageResult>>> Run(const std::string& stage,
                                                                const std::vector<Task>& tasks,
                                                                size_t first = 0) {
    std::vector<std::vector<v1::StageResult>> results(tasks.size());
    int running = 0;
    size_t next = first;
    while (next < tasks.size() || running > 0) {
      if (next < tasks.size() && running < options_.processes) {
        if (fork() == 0) _exit(RunTask(file_ + static_cast<int>(next), tasks[next]));
        ++next;
        ++running;
        continue;
      }
      int status = 0;
      struct rusage usage;
      wait4(-1, &status, 0, &usage);
      if (status != 0) return absl::InternalError(absl::StrCat("a task of ", stage, " failed"));
      costs_[stage].peak_mib = std::max<int64_t>(costs_[stage].peak_mib, usage.ru_maxrss / 1024);
      --running;
    }
    for (size_t task = 0; task < tasks.size(); ++task) {
      RETURN_IF_ERROR(Collect(stage, file_ + static_cast<int>(task), &results[task]));
    }
    file_ += static_cast<int>(tasks.size());
    return results;
  }

  absl::StatusOr<v1::StageResult> RunStage(const v1::Action& action) {
    for (const auto& stage : stages_) {
      if (stage->info().name != action.stage()) continue;
      const double begin = ProcessorSeconds();
      absl::StatusOr<v1::StageResult> result = stage->Run(action, store_);
      seconds_ += ProcessorSeconds() - begin;
      return result;
    }
    return absl::NotFoundError(action.stage());
  }

  FileBlobStore& store() { return store_; }
  const std::map<std::string, Cost>& costs() const { return costs_; }

 private:
  std::string ResultsFile(int file) const {
    return absl::StrCat(options_.folder, "/results.", file);
  }

  // Returns the exit status of the task's process.
  int RunTask(int file, const Task& task) {
    store_.Open(file);
    std::vector<v1::StageResult> results;
    const absl::Status status = task(*this, &results);
    if (!status.ok()) {
      std::cerr << absl::StrCat(status.message(), "\n");
      return 1;
    }
    std::ofstream out(ResultsFile(file), std::ios::binary);
    out << absl::StrCat(seconds_, " ", results.size(), "\n");
    for (const v1::StageResult& result : results) {
      const std::string bytes = result.SerializeAsString();
      out << absl::StrCat(bytes.size(), "\n") << bytes;
    }
    out << store_.Added();
    out.close();
    return out.fail() ? 1 : 0;
  }

  absl::Status Collect(const std::string& stage, int file, std::vector<v1::StageResult>* results) {
    std::ifstream in(ResultsFile(file), std::ios::binary);
    double seconds;
    size_t count;
    in >> seconds >> count;
    costs_[stage].processor_seconds += seconds;
    costs_[stage].longest = std::max(costs_[stage].longest, seconds);
    for (size_t i = 0; i < count; ++i) {
      size_t size;
      in >> size;
      in.get();
      std::string bytes(size, '\0');
      in.read(bytes.data(), static_cast<std::streamsize>(size));
      if (!results->emplace_back().ParseFromString(bytes)) return absl::DataLossError(stage);
    }
    store_.Add(file, in);
    return absl::OkStatus();
  }

  const GrowthOptions& options_;
  FileBlobStore store_;
  std::vector<std::unique_ptr<worker::Stage>> stages_;
  int file_ = 0;  // the number of the next task
  double seconds_ = 0;
  std::map<std::string, Cost> costs_;
};

void AddInput(v1::Action* action, const std::string& name, const cas::Digest& digest) {
  v1::NamedDigest* input = action->add_inputs();
  input->set_name(name);
  *input->mutable_digest() = digest;
}

// Returns the number of partitions that the coordinator would use.
int CountPartitions(int64_t kernels) {
  return static_cast<int>(
      std::max(std::clamp<int64_t>(kernels / 2000, 1, 4), std::min<int64_t>(kernels / 262144, 64)));
}

// Signs the shards [first, end), and puts verdicts that accept all. The results are those of the
// shards, each followed by one whose output are its verdicts.
absl::Status SignShards(const MadeKernels& made, int64_t kernels, int64_t first, int64_t end,
                        Runner& runner, std::vector<v1::StageResult>* results) {
  for (int64_t s = first; s < end; ++s) {
    v1::KernelShard shard;
    v1::VerdictShard verdicts;
    for (int64_t i = s * kShard; i < std::min((s + 1) * kShard, kernels); ++i) {
      v1::Kernel* kernel = shard.add_kernels();
      *kernel = made.Make(i);
      kernel->set_path(absl::StrCat("kernels/", s, ".py"));
      kernel->set_first_line(static_cast<int>(i % kShard) * 40 + 1);
      verdicts.add_verdicts()->set_accepted(true);
    }
    v1::Action sign;
    sign.set_stage("sign");
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(runner.store(), shard));
    AddInput(&sign, "kernels", digest);
    ASSIGN_OR_RETURN(v1::StageResult result, runner.RunStage(sign));
    ASSIGN_OR_RETURN(const cas::Digest verdict, cas::PutMessage(runner.store(), verdicts));
    worker::AddOutput(result, "verdicts", verdict, verdicts.verdicts_size());
    results->push_back(std::move(result));
  }
  return absl::OkStatus();
}

struct Actions {
  v1::Action pair, resolve, split;
};

Actions MakeActions(int64_t kernels) {
  Actions actions;
  actions.pair.set_stage("pair");
  actions.resolve.set_stage("resolve");
  actions.split.set_stage("split");
  v1::SplitParams& split = *actions.split.mutable_params()->mutable_split();
  split.set_threshold(0.7);
  split.mutable_splits()->set_validation(0.05);
  split.mutable_splits()->set_test(0.05);
  v1::PairParams& pair = *actions.pair.mutable_params()->mutable_pair();
  pair.set_threshold(0.7);
  pair.set_structural_threshold(0.9);
  pair.set_holdout_threshold(0.5);
  pair.set_partitions(CountPartitions(kernels));
  v1::DedupPolicy& policy = *actions.resolve.mutable_params()->mutable_resolve()->mutable_dedup();
  policy.set_threshold(0.7);
  policy.set_structural(true);
  policy.set_structural_threshold(0.9);
  return actions;
}

absl::Status SignAll(const GrowthOptions& options, const MadeKernels& made, Runner* runner,
                     Actions* actions) {
  const int64_t kernels = options.kernels;
  const int64_t shards = (kernels + kShard - 1) / kShard;
  std::vector<Runner::Task> tasks;
  for (int64_t first = 0; first < shards; first += kShardsOfTask) {
    const int64_t end = std::min(first + kShardsOfTask, shards);
    tasks.push_back([&made, kernels, first, end](Runner& task, auto* results) {
      return SignShards(made, kernels, first, end, task, results);
    });
  }
  const size_t done = options.is_signed ? tasks.size() : 0;
  ASSIGN_OR_RETURN(const auto results, runner->Run("sign", tasks, done));
  int64_t shard = 0;
  for (const std::vector<v1::StageResult>& task : results) {
    for (const v1::StageResult& result : task) {
      const cas::Digest& signatures = result.outputs(0).digest();
      const cas::Digest& shingles = result.outputs(1).digest();
      AddInput(&actions->pair, "signatures", signatures);
      AddInput(&actions->pair, "shingles", shingles);
      AddInput(&actions->resolve, "signatures", signatures);
      AddInput(&actions->resolve, "verdicts", result.outputs(2).digest());
      AddInput(&actions->split, "signatures", signatures);
      AddInput(&actions->split, "shingles", shingles);
      actions->pair.mutable_params()->mutable_pair()->add_holdouts(false);
      actions->resolve.mutable_params()->mutable_resolve()->add_shards();
      actions->split.mutable_params()->mutable_split()->add_shards()->set_repository(
          absl::StrCat(shard++ * kShard));
    }
  }
  return absl::OkStatus();
}

// Adds the counters of a stage's tasks: the sum of each.
void Count(const std::vector<std::vector<v1::StageResult>>& results, nlohmann::json* json) {
  for (const std::vector<v1::StageResult>& task : results) {
    for (const v1::StageResult& result : task) {
      for (const v1::Counter& counter : result.counters()) {
        (*json)[counter.name()] = json->value(counter.name(), int64_t{0}) + counter.value();
      }
    }
  }
}

Runner::Task MakeTask(const v1::Action& action) {
  return [action](Runner& runner, std::vector<v1::StageResult>* results) -> absl::Status {
    ASSIGN_OR_RETURN(v1::StageResult result, runner.RunStage(action));
    results->push_back(std::move(result));
    return absl::OkStatus();
  };
}

double TokensPerKernel(const MadeKernels& made) {
  constexpr int64_t kSample = 1000;
  size_t tokens = 0;
  for (int64_t i = 0; i < kSample; ++i) {
    tokens += deduplicator::Tokenize(made.Make(i).source(), deduplicator::Language::kPython).size();
  }
  return static_cast<double>(tokens) / kSample;
}

}  // namespace

absl::Status Growth(const GrowthOptions& options, const v1::KernelShard& real) {
  const MadeKernels made(real);
  Runner runner(options);
  Actions actions = MakeActions(options.kernels);
  RETURN_IF_ERROR(SignAll(options, made, &runner, &actions));
  v1::PairParams& params = *actions.pair.mutable_params()->mutable_pair();
  std::vector<Runner::Task> tasks;
  for (int p = 0; p < params.partitions(); ++p) {
    params.set_partition(p);
    tasks.push_back(MakeTask(actions.pair));
  }
  ASSIGN_OR_RETURN(const auto pairs, runner.Run("pair", tasks));
  for (const std::vector<v1::StageResult>& task : pairs) {
    AddInput(&actions.resolve, "pairs", task[0].outputs(0).digest());
    AddInput(&actions.split, "pairs", task[0].outputs(0).digest());
  }
  ASSIGN_OR_RETURN(const auto resolved, runner.Run("resolve", {MakeTask(actions.resolve)}));
  AddInput(&actions.split, "clusters", resolved[0][0].outputs(0).digest());
  ASSIGN_OR_RETURN(const auto divided, runner.Run("split", {MakeTask(actions.split)}));
  nlohmann::json json = {{"kernels", options.kernels},
                         {"partitions", params.partitions()},
                         {"tokens", TokensPerKernel(made)},
                         {"splits", divided[0][0].outputs(0).digest().hash()}};
  for (const auto& results : {pairs, resolved, divided}) Count(results, &json);
  for (const auto& [stage, cost] : runner.costs()) {
    json["processor_seconds"][stage] = cost.processor_seconds;
    json["longest"][stage] = cost.longest;
    json["peak_mib"][stage] = cost.peak_mib;
  }
  std::cout << json << "\n";
  return absl::OkStatus();
}

}  // namespace kernelmill::bench
