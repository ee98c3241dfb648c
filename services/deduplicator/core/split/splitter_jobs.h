#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SPLITTER_JOBS_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SPLITTER_JOBS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/split/splitter.h"

namespace kernelmill::deduplicator {

inline constexpr v1::Split kNone = v1::SPLIT_UNSPECIFIED;
inline constexpr v1::Split kTrain = v1::SPLIT_TRAIN;
inline constexpr v1::Split kValidation = v1::SPLIT_VALIDATION;
inline constexpr v1::Split kTest = v1::SPLIT_TEST;

struct TestKernel {
  std::string name;  // in the results
  std::vector<uint64_t> shingles;
  v1::Fate fate = v1::FATE_KEPT;
  std::string leader = "";          // of a duplicate
  uint64_t renamed = 0;             // 0: its own
  bool file = false;                // a whole file, of all the kernels that its source has after it
  std::vector<uint64_t> runs = {};  // of 13 tokens
  std::vector<uint64_t> module_runs = {};  // that its source has not
};

inline v1::KernelShingles ShinglesOf(const TestKernel& kernel) {
  v1::KernelShingles shingles;
  shingles.mutable_near()->Add(kernel.shingles.begin(), kernel.shingles.end());
  shingles.mutable_runs()->Add(kernel.runs.begin(), kernel.runs.end());
  shingles.mutable_module_runs()->Add(kernel.module_runs.begin(), kernel.module_runs.end());
  return shingles;
}

struct TestSource {
  std::string repository;
  std::vector<TestKernel> kernels;
};

using Job = std::vector<TestSource>;
using Sides = std::map<std::string, v1::Split>;

inline std::vector<uint64_t> Range(uint64_t first, uint64_t count) {
  std::vector<uint64_t> set(count);
  std::iota(set.begin(), set.end(), first);
  for (uint64_t& number : set) number *= 0x9e3779b97f4a7c15;
  std::sort(set.begin(), set.end());
  return set;
}

inline v1::SignatureShard Signatures(const TestSource& source, uint32_t first) {
  v1::SignatureShard shard;
  for (const TestKernel& kernel : source.kernels) {
    const uint32_t number = first + static_cast<uint32_t>(shard.renamed_size());
    std::string text = absl::StrCat(number);
    text.resize(32);
    shard.mutable_sha256()->append(text);
    shard.mutable_pair_sha1()->append(text.substr(0, 20));
    for (v1::TokenSets* sets : {shard.mutable_near(), shard.mutable_structural()}) {
      sets->add_hashes(number);
      sets->add_sizes(static_cast<uint32_t>(kernel.shingles.size()));
      sets->mutable_minhash()->append(256, '\0');
    }
    shard.add_words_common(0);
    shard.add_words_total(1);
    shard.add_paths("a.py");
    shard.add_first_lines(kernel.file ? 0 : 1);
    shard.add_names(1);
    shard.add_renamed(kernel.renamed == 0 ? 1'000'000 + number : kernel.renamed);
  }
  return shard;
}

inline v1::Clusters ClustersOf(const Job& job) {
  std::map<std::string, uint32_t> numbers;
  for (const TestSource& source : job) {
    for (const TestKernel& kernel : source.kernels) {
      numbers.emplace(kernel.name, static_cast<uint32_t>(numbers.size()));
    }
  }
  v1::Clusters clusters;
  for (const TestSource& source : job) {
    for (const TestKernel& kernel : source.kernels) {
      v1::Decision* decision = clusters.add_decisions();
      decision->set_fate(kernel.fate);
      decision->set_leader(numbers.at(kernel.leader.empty() ? kernel.name : kernel.leader));
    }
  }
  return clusters;
}

inline v1::SplitPolicy Named() {
  v1::SplitPolicy policy;
  for (const char* name : {"test1", "test2", "test3"}) policy.add_test_repositories(name);
  for (const char* name : {"val1", "val2"}) policy.add_validation_repositories(name);
  return policy;
}

struct Result {
  Sides sides;
  int64_t joined = 0;
  int passes = 0;
};

// Takes a splitter through all its steps.
inline Result Divide(const Job& job, const v1::SplitPolicy& policy = Named(),
                     double threshold = 0.7, const v1::PairSet& pairs = v1::PairSet(),
                     int64_t budget = 1 << 24) {
  const v1::Clusters clusters = ClustersOf(job);
  Splitter splitter(policy, threshold, clusters, budget);
  std::vector<const TestKernel*> kernels;
  for (size_t s = 0; s < job.size(); ++s) {
    v1::ShardOrigin origin;
    origin.set_repository(job[s].repository);
    origin.set_source(static_cast<int>(s));
    EXPECT_THAT(
        splitter.AddShard(Signatures(job[s], static_cast<uint32_t>(kernels.size())), origin),
        testing::IsOk());
    for (const TestKernel& kernel : job[s].kernels) kernels.push_back(&kernel);
  }
  EXPECT_THAT(splitter.AddPairs(pairs), testing::IsOk());
  EXPECT_THAT(splitter.EndAdding(), testing::IsOk());
  while (splitter.BeginPass()) {
    for (uint32_t n = 0; n < kernels.size(); ++n) {
      if (splitter.Loads(n))
        EXPECT_THAT(splitter.Load(n, ShinglesOf(*kernels[n])), testing::IsOk());
    }
    splitter.EndLoading();
    for (uint32_t n = 0; n < kernels.size(); ++n) {
      if (splitter.Probes(n))
        EXPECT_THAT(splitter.Probe(n, ShinglesOf(*kernels[n])), testing::IsOk());
    }
  }
  const v1::Splits splits = splitter.Take();
  Result result;
  for (uint32_t n = 0; n < kernels.size(); ++n) {
    result.sides[kernels[n]->name] = splits.splits(static_cast<int>(n));
  }
  result.joined = splitter.joined();
  result.passes = splitter.passes();
  return result;
}

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SPLITTER_JOBS_H_
