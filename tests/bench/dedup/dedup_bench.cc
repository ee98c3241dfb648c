// dedup_bench: the measurements of tests/bench/dedup.py.

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/dsl/names.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/pair/duplicate_finder.h"
#include "services/deduplicator/core/sign/minhash.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/sign/sign.h"
#include "services/deduplicator/core/sign/tokenizer.h"
#include "services/deduplicator/server/deduplicator_stages.h"

namespace kernelmill::bench {
namespace {

using deduplicator::DuplicateFinder;
using deduplicator::Pairs;
using Sets = std::vector<std::vector<uint64_t>>;

constexpr int kRounds = 5;

// Returns processor time in seconds, since other processes may use the machine too.
double Now() {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

absl::StatusOr<v1::KernelShard> ReadKernels(const std::string& path) {
  std::ifstream in(path);
  v1::KernelShard shard;
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    if (record.is_discarded()) return absl::DataLossError(path + " is not JSON lines");
    v1::Kernel* kernel = shard.add_kernels();
    kernel->set_source(record.at("source").get<std::string>());
    kernel->set_dsl(record.at("dsl") == "cuda" ? dsl::kCuda : dsl::kTriton);
  }
  if (shard.kernels().empty()) return absl::NotFoundError(path + " holds no kernels");
  return shard;
}

absl::Status WriteSets(const Sets& sets, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  for (const std::vector<uint64_t>& set : sets) {
    const auto size = static_cast<uint32_t>(set.size());
    out.write(reinterpret_cast<const char*>(&size), sizeof(size));
    out.write(reinterpret_cast<const char*>(set.data()), set.size() * sizeof(uint64_t));
  }
  out.close();
  return out.fail() ? absl::UnavailableError("cannot write " + path) : absl::OkStatus();
}

// Makes the summary of a set, as the stage sign does.
void Summarize(const std::vector<uint64_t>& set, v1::TokenSets* sets) {
  sets->add_hashes(deduplicator::SetHash(set));
  sets->add_sizes(static_cast<uint32_t>(set.size()));
  const deduplicator::MinHashValues values = deduplicator::MinHash(set);
  sets->mutable_minhash()->append(reinterpret_cast<const char*>(values.data()), sizeof(values));
}

// The seconds of each part, in the fastest of several rounds.
struct Times {
  double sign = 1e9, candidates = 1e9, verify = 1e9;
};

absl::StatusOr<Pairs> FindPairs(const Sets& sets, double threshold, Times* times) {
  const double start = Now();
  v1::TokenSets summaries;
  for (const std::vector<uint64_t>& set : sets) Summarize(set, &summaries);
  const double is_signed = Now();
  DuplicateFinder finder(threshold, 0, 1, {.memory_bytes = ~size_t{0}});
  finder.Observe(summaries);
  finder.EndObserving();
  const double has_candidates = Now();
  for (const uint32_t number : finder.needed()) RETURN_IF_ERROR(finder.Load(sets[number]));
  Pairs pairs;
  RETURN_IF_ERROR(finder.Find(&pairs));
  times->sign = std::min(times->sign, is_signed - start);
  times->candidates = std::min(times->candidates, has_candidates - is_signed);
  times->verify = std::min(times->verify, Now() - has_candidates);
  return pairs;
}

std::set<std::pair<uint32_t, uint32_t>> BruteForce(const Sets& sets, double threshold) {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t a = 0; a < sets.size(); ++a) {
    for (uint32_t b = a + 1; b < sets.size(); ++b) {
      if (!deduplicator::SizesMayReach(sets[a].size(), sets[b].size(), threshold)) continue;
      if (deduplicator::Similarity(deduplicator::Compare(sets[a], sets[b])) >= threshold) {
        pairs.emplace(a, b);
      }
    }
  }
  return pairs;
}

struct Recall {
  size_t all = 0, found = 0, invented = 0;
};

// Equal sets are only paired with the first of them; the other pairs follow.
Recall Measure(const Pairs& pairs, const Sets& sets, double threshold) {
  std::set<std::pair<uint32_t, uint32_t>> found;
  for (const v1::Pair& pair : pairs) found.emplace(pair.a(), pair.b());
  std::map<std::vector<uint64_t>, uint32_t> firsts;
  std::vector<uint32_t> first(sets.size());
  for (uint32_t i = 0; i < sets.size(); ++i)
    first[i] = firsts.try_emplace(sets[i], i).first->second;
  Recall recall;
  for (const auto& [a, b] : BruteForce(sets, threshold)) {
    ++recall.all;
    const uint32_t x = first[a], y = first[b];
    recall.found += x == y || found.count({std::min(x, y), std::max(x, y)}) > 0;
  }
  for (const auto& [a, b] : found) {
    const auto overlap = deduplicator::Compare(sets[a], sets[b]);
    if (deduplicator::Similarity(overlap) < threshold) ++recall.invented;
  }
  return recall;
}

}  // namespace

// Reads the "source" and "dsl" of each line of `records` (kernels.jsonl), writes their shingle sets
// to `shingles` (each a 32-bit count and 64-bit hashes, little-endian) for others to start from,
// and prints as JSON: how long sign and pair take from the sets on, and from the text on; and the
// pairs found against all there are, by brute force.
absl::Status Compare(const std::string& records, const std::string& shingles, double threshold) {
  ASSIGN_OR_RETURN(const v1::KernelShard kernels, ReadKernels(records));
  const double from_text = Now();
  const deduplicator::SignedShard shard = deduplicator::SignShard(kernels);
  const double sign_text = Now() - from_text;
  Sets sets;
  for (const v1::KernelShingles& kernel : shard.shingles.kernels()) {
    sets.emplace_back(kernel.near().begin(), kernel.near().end());
  }
  RETURN_IF_ERROR(WriteSets(sets, shingles));
  Times times;
  Pairs pairs;
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(pairs, FindPairs(sets, threshold, &times));
  }
  const Recall close = Measure(pairs, sets, 0.8);
  const Recall all = Measure(pairs, sets, threshold);
  std::cout << nlohmann::json{{"kernels", sets.size()},           {"sign_s", times.sign},
                              {"candidates_s", times.candidates}, {"verify_s", times.verify},
                              {"sign_text_s", sign_text},         {"pairs", pairs.size()},
                              {"pairs_at_0.8", close.all},        {"found_at_0.8", close.found},
                              {"pairs_at_threshold", all.all},    {"found_at_threshold", all.found},
                              {"invented", all.invented}}
            << "\n";
  return absl::OkStatus();
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kShard = 64;
// The kernels come in tens: seven are unique, and three are copies of one of them with a few
// changed statements.
constexpr int64_t kFamily = 10;
constexpr int64_t kCopies = 3;

// A store that keeps blobs in a file, so that the process's memory is the stage's. Without actions.
// Not thread-safe.
class FileBlobStore final : public cas::BlobStore {
 public:
  // Opens the store, and replaces the file.
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

// Makes a statement of about twelve tokens: one of a few shapes, with its own names, functions and
// constants.
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

// The statements that kernels are made of: made ones, or lines of real kernels as often as these
// have them.
class Vocabulary {
 public:
  // Made statements.
  Vocabulary() = default;

  static absl::StatusOr<Vocabulary> Read(const std::string& records) {
    ASSIGN_OR_RETURN(const v1::KernelShard kernels, ReadKernels(records));
    Vocabulary vocabulary;
    for (const v1::Kernel& kernel : kernels.kernels()) {
      for (const absl::string_view line : absl::StrSplit(kernel.source(), '\n')) {
        const absl::string_view code = absl::StripAsciiWhitespace(line);
        // A line that opens a block would be without its block.
        if (code.empty() || absl::EndsWith(code, ":")) continue;
        vocabulary.lines_.push_back(absl::StrCat("    ", code, "\n"));
      }
    }
    if (vocabulary.lines_.empty()) return absl::NotFoundError(records + " holds no lines");
    return vocabulary;
  }

  std::string Draw(uint64_t* state) const {
    if (lines_.empty()) return Statement(state);
    return lines_[Next(state) % lines_.size()];
  }

 private:
  std::vector<std::string> lines_;
};

// Makes a kernel of 400 to 600 tokens. All have the same prologue, as real ones do.
std::string KernelText(const Vocabulary& vocabulary, int64_t number) {
  const int64_t place = number % kFamily;
  const int64_t changed = place < kCopies ? place + 1 : 0;  // the changed statements of a copy
  uint64_t shared = static_cast<uint64_t>(changed > 0 ? number - place + kCopies : number) * 2 + 1;
  uint64_t own = static_cast<uint64_t>(number) * 2;
  std::string text = absl::StrCat("@triton.jit\ndef kernel_", number,
                                  "(p0, p1, n, BLOCK: tl.constexpr):\n"
                                  "    pid = tl.program_id(0)\n"
                                  "    offsets = pid * BLOCK + tl.arange(0, BLOCK)\n"
                                  "    mask = offsets < n\n");
  const int statements = 22 + static_cast<int>(Next(&shared) % 16);
  for (int i = 0; i < statements; ++i) {
    const std::string statement = vocabulary.Draw(&shared);
    const bool is_changed = i % (statements / 4) == 3 && i / (statements / 4) < changed;
    text += is_changed ? vocabulary.Draw(&own) : statement;
  }
  return text + "    tl.store(p1 + offsets, v1, mask=mask)\n";
}

double TokensPerKernel(const Vocabulary& vocabulary) {
  constexpr int64_t kSample = 1000;
  size_t tokens = 0;
  for (int64_t i = 0; i < kSample; ++i) {
    tokens +=
        deduplicator::Tokenize(KernelText(vocabulary, i), deduplicator::Language::kPython).size();
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

// Returns the number of partitions that the coordinator would use.
int CountPartitions(int64_t kernels) {
  return static_cast<int>(
      std::max(std::clamp<int64_t>(kernels / 2000, 1, 4), std::min<int64_t>(kernels / 262144, 64)));
}

absl::Status SignAll(int64_t kernels, const Vocabulary& vocabulary, Run* run, v1::Action* pair,
                     v1::Action* resolve, v1::Action* split) {
  for (int64_t first = 0; first < kernels; first += kShard) {
    v1::KernelShard shard;
    v1::VerdictShard verdicts;
    for (int64_t i = first; i < std::min(first + kShard, kernels); ++i) {
      v1::Kernel* kernel = shard.add_kernels();
      kernel->set_source(KernelText(vocabulary, i));
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

// Signs, pairs and resolves `kernels` synthetic kernels by the stages themselves over a store in
// `folder`, and prints as JSON what each stage took and the peak of memory.
absl::Status Growth(int64_t kernels, const std::string& folder, const Vocabulary& vocabulary) {
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
  RETURN_IF_ERROR(SignAll(kernels, vocabulary, &run, &pair, &resolve, &split));
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
      {"pairs", pairs},           {"tokens", TokensPerKernel(vocabulary)},
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

int main(int argc, char** argv) {
  CLI::App app("Measures the deduplicator.", "dedup_bench");
  std::string records, shingles, folder;
  double threshold = 0.7;
  int64_t kernels = 10000;
  CLI::App* compare = app.add_subcommand("compare", "time and recall over real kernels");
  compare->add_option("records", records)->required();
  compare->add_option("shingles", shingles)->required();
  compare->add_option("--threshold", threshold);
  CLI::App* growth = app.add_subcommand("growth", "time and memory by number of kernels");
  growth->add_option("kernels", kernels)->required();
  growth->add_option("folder", folder)->required();
  growth->add_option("--records", records, "kernels whose lines the made ones consist of");
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  const auto run_growth = [&]() -> absl::Status {
    kernelmill::bench::Vocabulary vocabulary;
    if (!records.empty()) {
      ASSIGN_OR_RETURN(vocabulary, kernelmill::bench::Vocabulary::Read(records));
    }
    return kernelmill::bench::Growth(kernels, folder, vocabulary);
  };
  const absl::Status status =
      compare->parsed() ? kernelmill::bench::Compare(records, shingles, threshold) : run_growth();
  if (status.ok()) return 0;
  std::fprintf(stderr, "dedup_bench: %s\n", absl::StrCat(status.message()).c_str());
  return 1;
}
