// dedup_bench: the measurements of tests/bench/dedup.py.

#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/pair/duplicate_finder.h"
#include "services/deduplicator/core/sign/minhash.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/sign/sign.h"
#include "tests/bench/dedup/growth.h"
#include "tests/bench/dedup/join.h"

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
    kernel->set_name(record.value("name", ""));
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

// The seconds of each part, in the fastest of several rounds. `text`: from texts to sets.
struct Times {
  double text = 1e9, sign = 1e9, candidates = 1e9, verify = 1e9, cluster = 1e9;
};

// Makes the sets of one kind, which is all that the peers compare. The stage sign makes others too.
Sets MakeSets(const v1::KernelShard& kernels, Times* times) {
  const double start = Now();
  Sets sets;
  for (const v1::Kernel& kernel : kernels.kernels()) {
    const auto tokens = deduplicator::Tokenize(kernel.source(), dsl::GetSyntax(kernel.dsl()));
    sets.push_back(deduplicator::Shingles(deduplicator::TokenHashes(tokens)));
  }
  times->text = std::min(times->text, Now() - start);
  return sets;
}

// Joins pairs to clusters. Returns how many clusters have two kernels or more.
size_t CountClusters(const Pairs& pairs, size_t kernels, Times* times) {
  const double start = Now();
  std::vector<uint32_t> parents(kernels);
  std::iota(parents.begin(), parents.end(), 0);
  const auto find = [&parents](uint32_t at) {
    while (parents[at] != at) at = parents[at] = parents[parents[at]];
    return at;
  };
  for (const v1::Pair& pair : pairs) {
    const auto [low, high] = std::minmax(find(pair.a()), find(pair.b()));
    parents[high] = low;
  }
  std::vector<uint32_t> sizes(kernels);
  for (uint32_t i = 0; i < kernels; ++i) ++sizes[find(i)];
  times->cluster = std::min(times->cluster, Now() - start);
  return std::count_if(sizes.begin(), sizes.end(), [](uint32_t size) { return size > 1; });
}

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
  size_t clusters = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (MakeSets(kernels, &times) != sets) return absl::InternalError("sign makes other sets");
    ASSIGN_OR_RETURN(pairs, FindPairs(sets, threshold, &times));
    clusters = CountClusters(pairs, sets.size(), &times);
  }
  const Recall close = Measure(pairs, sets, 0.8);
  const Recall all = Measure(pairs, sets, threshold);
  std::cout << nlohmann::json{{"kernels", sets.size()},
                              {"sign_s", times.sign},
                              {"candidates_s", times.candidates},
                              {"verify_s", times.verify},
                              {"sign_text_s", sign_text},
                              {"pairs", pairs.size()},
                              {"text_s", times.text},
                              {"cluster_s", times.cluster},
                              {"clusters", clusters},
                              {"pairs_at_0.8", close.all},
                              {"found_at_0.8", close.found},
                              {"pairs_at_threshold", all.all},
                              {"found_at_threshold", all.found},
                              {"invented", all.invented}}
            << "\n";
  return absl::OkStatus();
}

}  // namespace kernelmill::bench

int main(int argc, char** argv) {
  CLI::App app("Measures the deduplicator.", "dedup_bench");
  std::string records, shingles;
  double threshold = 0.7;
  kernelmill::bench::GrowthOptions options;
  CLI::App* compare = app.add_subcommand("compare", "time and recall over real kernels");
  compare->add_option("records", records)->required();
  compare->add_option("shingles", shingles)->required();
  compare->add_option("--threshold", threshold);
  CLI::App* growth = app.add_subcommand("growth", "time and memory by number of kernels");
  growth->add_option("kernels", options.kernels)->required();
  growth->add_option("folder", options.folder)->required();
  growth->add_option("--records", records, "kernels that the made ones are changed copies of");
  growth->add_flag("--signed", options.is_signed, "the folder has the results of sign");
  growth->add_option("--processes", options.processes, "processes that sign and pair");
  CLI::App* join = app.add_subcommand("join", "the joins of split by number of kernels");
  int64_t probes = 20'000;
  join->add_option("kernels", options.kernels)->required();
  join->add_option("--records", records, "kernels that the made ones are changed copies of");
  join->add_option("--probes", probes, "kernels to probe with");
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  const auto run_growth = [&]() -> absl::Status {
    kernelmill::v1::KernelShard kernels;
    if (!records.empty()) {
      ASSIGN_OR_RETURN(kernels, kernelmill::bench::ReadKernels(records));
    }
    if (join->parsed()) return kernelmill::bench::Join(options.kernels, probes, kernels);
    return kernelmill::bench::Growth(options, kernels);
  };
  const absl::Status status =
      compare->parsed() ? kernelmill::bench::Compare(records, shingles, threshold) : run_growth();
  if (status.ok()) return 0;
  std::fprintf(stderr, "dedup_bench: %s\n", absl::StrCat(status.message()).c_str());
  return 1;
}
