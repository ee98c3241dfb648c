#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/sign/tokenizer.h"
#include "services/deduplicator/server/deduplicator_stages.h"
#include "tests/bench/dedup/commands.h"

namespace kernelmill::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kShard = 64;
// Of ten kernels that follow each other seven are like no other, and three are copies of one of
// them with a few statements changed.
constexpr int64_t kFamily = 10;
constexpr int64_t kCopies = 3;

// Blobs one after another in a file, so that what a stage keeps in memory is the stage's own. Not
// thread-safe; knows no actions.
class FileBlobStore final : public cas::BlobStore {
 public:
  // Replaces the file.
  explicit FileBlobStore(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  ~FileBlobStore() override {
    if (file_ >= 0) close(file_);
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
      if (pwrite(file_, blob.bytes.data(), blob.bytes.size(), end_) != size) {
        return absl::UnavailableError("cannot write");
      }
      places_[blob.digest.hash()] = {end_, size};
      end_ += size;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override {
    std::vector<std::string> blobs;
    for (const cas::Digest& digest : digests) {
      const auto place = places_.find(digest.hash());
      if (place == places_.end()) return absl::NotFoundError(digest.hash());
      std::string& bytes = blobs.emplace_back(place->second.second, '\0');
      if (pread(file_, bytes.data(), bytes.size(), place->second.first) != place->second.second) {
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
  const int file_;
  int64_t end_ = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> places_;  // by hash: offset and size
};

uint64_t Next(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A statement of a kernel, some twelve tokens: of a few shapes, over names, functions and constants
// of its own.
std::string Statement(uint64_t* state) {
  const uint64_t r = Next(state);
  const auto pick = [r](int shift, uint64_t of) { return (r >> shift) % of; };
  switch (pick(60, 3)) {
    case 0:
      return absl::StrCat("    v", pick(0, 64), " = tl.load(p", pick(8, 8), " + v", pick(16, 64),
                          " * ", pick(24, 512), ", mask=m", pick(40, 4), ", cache=ops.policy_",
                          pick(30, 400), ")\n");
    case 1:
      return absl::StrCat("    v", pick(0, 64), " = ops.apply_", pick(8, 400), "(v", pick(16, 64),
                          ") + v", pick(24, 64), " - ", pick(32, 1024), "\n");
    default:
      return absl::StrCat("    v", pick(0, 64), " = ops.mix_", pick(40, 400), "(v", pick(8, 64),
                          ", v", pick(16, 64), ") * v", pick(24, 64), "\n");
  }
}

// 400 to 600 tokens. The same prologue in all of them, as in real ones.
std::string KernelText(int64_t number) {
  const int64_t place = number % kFamily;
  const int64_t changed = place < kCopies ? place + 1 : 0;  // statements; of the copies
  uint64_t shared = static_cast<uint64_t>(changed > 0 ? number - place + kCopies : number) * 2 + 1;
  uint64_t own = static_cast<uint64_t>(number) * 2;
  std::string text = absl::StrCat("@triton.jit\ndef kernel_", number,
                                  "(p0, p1, n, BLOCK: tl.constexpr):\n"
                                  "    pid = tl.program_id(0)\n"
                                  "    offsets = pid * BLOCK + tl.arange(0, BLOCK)\n"
                                  "    mask = offsets < n\n");
  const int statements = 22 + static_cast<int>(Next(&shared) % 16);
  for (int i = 0; i < statements; ++i) {
    const std::string statement = Statement(&shared);
    const bool is_changed = i % (statements / 4) == 3 && i / (statements / 4) < changed;
    text += is_changed ? Statement(&own) : statement;
  }
  return text + "    tl.store(p1 + offsets, v1, mask=mask)\n";
}

double TokensPerKernel() {
  constexpr int64_t kSample = 1000;
  size_t tokens = 0;
  for (int64_t i = 0; i < kSample; ++i) {
    tokens += deduplicator::Tokenize(KernelText(i), deduplicator::Language::kPython).size();
  }
  return static_cast<double>(tokens) / kSample;
}

double ProcessorSeconds() {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Run {
 public:
  explicit Run(const std::string& folder)
      : store_(absl::StrCat(folder, "/blobs")),
        stages_(deduplicator::NewDeduplicatorStages({.folder = folder})) {}

  absl::StatusOr<v1::StageResult> Stage(const v1::Action& action) {
    for (const auto& stage : stages_) {
      if (stage->info().name != action.stage()) continue;
      const Clock::time_point start = Clock::now();
      const double processor = ProcessorSeconds();
      absl::StatusOr<v1::StageResult> result = stage->Run(action, store_);
      seconds_[action.stage()] += std::chrono::duration<double>(Clock::now() - start).count();
      processor_seconds_[action.stage()] += ProcessorSeconds() - processor;
      return result;
    }
    return absl::NotFoundError(action.stage());
  }

  FileBlobStore& store() { return store_; }
  const std::map<std::string, double>& seconds() const { return seconds_; }
  const std::map<std::string, double>& processor_seconds() const { return processor_seconds_; }

 private:
  FileBlobStore store_;
  std::vector<std::unique_ptr<worker::Stage>> stages_;
  std::map<std::string, double> seconds_;
  std::map<std::string, double> processor_seconds_;
};

void AddInput(v1::Action* action, const std::string& name, const cas::Digest& digest) {
  v1::NamedDigest* input = action->add_inputs();
  input->set_name(name);
  *input->mutable_digest() = digest;
}

// The partitions that the coordinator would make.
int CountPartitions(int64_t kernels) {
  return static_cast<int>(
      std::max(std::clamp<int64_t>(kernels / 2000, 1, 4), std::min<int64_t>(kernels / 262144, 64)));
}

absl::Status SignAll(int64_t kernels, Run* run, v1::Action* pair, v1::Action* resolve,
                     v1::Action* split) {
  for (int64_t first = 0; first < kernels; first += kShard) {
    v1::KernelShard shard;
    v1::VerdictShard verdicts;
    for (int64_t i = first; i < std::min(first + kShard, kernels); ++i) {
      v1::Kernel* kernel = shard.add_kernels();
      kernel->set_source(KernelText(i));
      kernel->set_path(absl::StrCat("kernels/", i / kShard, ".py"));
      kernel->set_first_line(static_cast<int>(i % kShard) * 40 + 1);
      verdicts.add_verdicts()->set_accepted(true);
    }
    v1::Action sign;
    sign.set_stage("sign");
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(run->store(), shard));
    AddInput(&sign, "kernels", digest);
    ASSIGN_OR_RETURN(const v1::StageResult result, run->Stage(sign));
    AddInput(pair, "signatures", result.outputs(0).digest());
    AddInput(pair, "shingles", result.outputs(1).digest());
    AddInput(resolve, "signatures", result.outputs(0).digest());
    AddInput(split, "signatures", result.outputs(0).digest());
    AddInput(split, "shingles", result.outputs(1).digest());
    ASSIGN_OR_RETURN(const cas::Digest verdict, cas::PutMessage(run->store(), verdicts));
    AddInput(resolve, "verdicts", verdict);
    pair->mutable_params()->mutable_pair()->add_holdouts(false);
    resolve->mutable_params()->mutable_resolve()->add_shards();
    split->mutable_params()->mutable_split()->add_shards()->set_repository(absl::StrCat(first));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Growth(int64_t kernels, const std::string& folder) {
  Run run(folder);
  v1::Action pair, resolve, split;
  pair.set_stage("pair");
  resolve.set_stage("resolve");
  split.set_stage("split");
  split.mutable_params()->mutable_split()->set_threshold(0.7);
  split.mutable_params()->mutable_split()->mutable_splits()->set_validation(0.05);
  split.mutable_params()->mutable_split()->mutable_splits()->set_test(0.05);
  v1::PairParams& params = *pair.mutable_params()->mutable_pair();
  params.set_threshold(0.7);
  params.set_structural_threshold(0.9);
  params.set_holdout_threshold(0.5);
  params.set_partitions(CountPartitions(kernels));
  v1::DedupPolicy& policy = *resolve.mutable_params()->mutable_resolve()->mutable_dedup();
  policy.set_threshold(0.7);
  policy.set_structural(true);
  policy.set_structural_threshold(0.9);
  RETURN_IF_ERROR(SignAll(kernels, &run, &pair, &resolve, &split));
  int64_t pairs = 0;
  for (int p = 0; p < params.partitions(); ++p) {
    params.set_partition(p);
    ASSIGN_OR_RETURN(const v1::StageResult result, run.Stage(pair));
    pairs += result.outputs(0).items();
    AddInput(&resolve, "pairs", result.outputs(0).digest());
    AddInput(&split, "pairs", result.outputs(0).digest());
  }
  ASSIGN_OR_RETURN(const v1::StageResult result, run.Stage(resolve));
  AddInput(&split, "clusters", result.outputs(0).digest());
  ASSIGN_OR_RETURN(const v1::StageResult divided, run.Stage(split));
  nlohmann::json json = {
      {"kernels", kernels},       {"partitions", params.partitions()},
      {"pairs", pairs},           {"tokens", TokensPerKernel()},
      {"seconds", run.seconds()}, {"processor_seconds", run.processor_seconds()}};
  for (const v1::StageResult& told : {result, divided}) {
    for (const v1::Counter& counter : told.counters()) json[counter.name()] = counter.value();
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  json["peak_mib"] = usage.ru_maxrss / 1024;
  std::cout << json << "\n";
  return absl::OkStatus();
}

}  // namespace kernelmill::bench
