#include "services/deduplicator/core/pair/duplicate_finder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using Sets = std::vector<std::vector<uint64_t>>;
using PairMap = std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>>;

// Kernels with their sets, in shards of three.
struct Job {
  std::vector<v1::TokenSets> shards;
  Sets sets;
};

// As sign makes them, or with MinHash values that agree with all others made so.
Job MakeJob(const Sets& sets, bool clashing = false) {
  Job job;
  job.sets = sets;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (i % 3 == 0) job.shards.emplace_back();
    v1::TokenSets& shard = job.shards.back();
    shard.add_hashes(SetHash(sets[i]));
    shard.add_sizes(static_cast<uint32_t>(sets[i].size()));
    const MinHashValues values = clashing ? MinHashValues{} : MinHash(sets[i]);
    shard.mutable_minhash()->append(reinterpret_cast<const char*>(values.data()), sizeof(values));
  }
  return job;
}

// A finder, taken through both passes.
struct Search {
  Search(double threshold, int partition, int partitions)
      : finder(threshold, partition, partitions) {}

  PairMap Find(const Job& job) {
    for (const v1::TokenSets& shard : job.shards) finder.Observe(shard);
    finder.EndObserving();
    for (const uint32_t number : finder.needed()) {
      EXPECT_THAT(finder.Load(job.sets[number]), IsOk());
    }
    Pairs found;
    EXPECT_THAT(finder.Find(&found), IsOk());
    PairMap pairs;
    for (const v1::Pair& pair : found) {
      EXPECT_LT(pair.a(), pair.b());
      if (!pairs.empty()) EXPECT_LT(pairs.rbegin()->first, std::make_pair(pair.a(), pair.b()));
      pairs[{pair.a(), pair.b()}] = {pair.common(), pair.total()};
    }
    return pairs;
  }

  DuplicateFinder finder;
};

PairMap Find(const Job& job, double threshold, int partitions = 1) {
  PairMap all;
  for (int p = 0; p < partitions; ++p) {
    const PairMap pairs = Search(threshold, p, partitions).Find(job);
    all.insert(pairs.begin(), pairs.end());
  }
  return all;
}

PairMap BruteForce(const Sets& sets, double threshold) {
  PairMap pairs;
  for (uint32_t a = 0; a < sets.size(); ++a) {
    const std::set<uint64_t> x(sets[a].begin(), sets[a].end());
    for (uint32_t b = a + 1; b < sets.size(); ++b) {
      uint32_t common = 0;
      for (const uint64_t shingle : sets[b]) common += x.count(shingle);
      const auto total = static_cast<uint32_t>(x.size() + sets[b].size()) - common;
      if (common >= threshold * total) pairs[{a, b}] = {common, total};
    }
  }
  return pairs;
}

// Families of kernels: a body of random statements, and copies with more and more statements
// changed.
Sets Families(int families, int copies) {
  std::mt19937 random(7);
  const auto statement = [&] {
    return absl::StrCat("    v", random() % 50, " = tl.load(p", random() % 9, " + v", random() % 50,
                        " * ", random() % 100, ", mask=v", random() % 50, " < n", random() % 7,
                        ")");
  };
  Sets sets;
  for (int family = 0; family < families; ++family) {
    std::vector<std::string> lines = {absl::StrCat("def kernel_", family, "(p, n):")};
    const int size = 10 + static_cast<int>(random() % 60);
    for (int i = 0; i < size; ++i) lines.push_back(statement());
    for (int copy = 0; copy < copies; ++copy) {
      sets.push_back(
          Shingles(TokenHashes(Tokenize(absl::StrJoin(lines, "\n"), Language::kPython))));
      const int changes = 1 + static_cast<int>(random() % 3);
      for (int i = 0; i < changes; ++i) lines[1 + random() % size] = statement();
    }
  }
  return sets;
}

TEST(DuplicateFinder, FindsWhatBruteForceFinds) {
  const Sets sets = Families(60, 8);
  const PairMap found = Find(MakeJob(sets), 0.7);
  const PairMap expected = BruteForce(sets, 0.7);
  for (const auto& [pair, overlap] : found) {
    const auto at = expected.find(pair);
    ASSERT_NE(at, expected.end()) << pair.first << " " << pair.second;
    EXPECT_EQ(overlap, at->second);
  }
  int close = 0, close_found = 0;
  for (const auto& [pair, overlap] : expected) {
    if (overlap.first < 0.8 * overlap.second) continue;
    ++close;
    close_found += found.count(pair);
  }
  EXPECT_GT(close, 300);
  EXPECT_GE(close_found, 0.99 * close);
  EXPECT_GT(expected.size(), close + 100u);  // the threshold was put to the test as well
}

TEST(DuplicateFinder, TheUnionDoesNotDependOnThePartitions) {
  const Job job = MakeJob(Families(30, 8));
  const PairMap one = Find(job, 0.6);
  EXPECT_GT(one.size(), 100u);
  // Fewer than there are bands, as many, and more.
  for (const int partitions : {3, 32, 33, 100}) EXPECT_EQ(Find(job, 0.6, partitions), one);
}

TEST(DuplicateFinder, APartitionHoldsAShare) {
  const Job job = MakeJob(Families(30, 8));
  Search whole(0.7, 0, 1), part(0.7, 1, 8);
  whole.Find(job);
  EXPECT_GT(part.Find(job).size(), 0u);
  EXPECT_LT(part.finder.candidates(), whole.finder.candidates());
}

TEST(DuplicateFinder, OnlySetsThatAreComparedAreNeeded) {
  Sets sets = Families(10, 1);  // like no other
  for (const std::vector<uint64_t>& set : Families(1, 2)) sets.push_back(set);
  Search search(0.7, 0, 1);
  search.Find(MakeJob(sets));
  EXPECT_LE(search.finder.needed().size(), 3u);
  EXPECT_TRUE(search.finder.NeedsAny(9, 3));
  EXPECT_FALSE(search.finder.NeedsAny(1, 8));
}

TEST(DuplicateFinder, AShardThatIsSkippedStillCounts) {
  const Sets sets = Families(1, 3);
  Search search(0.5, 0, 1);
  search.finder.SkipShard(100);
  const PairMap pairs = search.Find(MakeJob(Sets(2, sets[0])));
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs.begin()->first, (std::pair<uint32_t, uint32_t>(100, 101)));
}

TEST(DuplicateFinder, ABucketMateThatIsNotSimilarIsNoPair) {
  EXPECT_TRUE(Find(MakeJob({{1, 2, 3}, {3, 4, 5}}, true), 0.7).empty());
}

TEST(DuplicateFinder, TheThresholdItselfIsReached) {
  std::vector<uint64_t> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<uint64_t> seven(ten.begin(), ten.begin() + 7);
  EXPECT_EQ(Find(MakeJob({ten, seven}, true), 0.7).size(), 1u);
  ten.push_back(11);
  EXPECT_EQ(Find(MakeJob({ten, seven}, true), 0.7).size(), 0u);
}

TEST(DuplicateFinder, EqualSetsArePairedWithTheFirstAlone) {
  const Job job = MakeJob(Sets(10000, {1, 2, 3}), true);
  Search search(0.7, 0, 1);
  const PairMap pairs = search.Find(job);
  EXPECT_EQ(search.finder.candidates(), 0);
  ASSERT_EQ(pairs.size(), 9999u);
  for (const auto& [pair, overlap] : pairs) {
    EXPECT_EQ(pair.first, 0u);
    EXPECT_EQ(overlap.first, 3u);
  }
  EXPECT_EQ(Find(job, 0.7, 4).size(), 9999u);
}

// Kernels that are all like each other, in one bucket of every band.
Sets Variants(uint64_t count) {
  Sets sets;
  for (uint64_t i = 0; i < count; ++i) sets.push_back({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100 + i});
  return sets;
}

TEST(DuplicateFinder, AHugeBucketCostsLinearTime) {
  for (const uint64_t kernels : {2100, 8400}) {
    const Job job = MakeJob(Variants(kernels), true);
    Search search(0.7, 0, 1);
    const PairMap pairs = search.Find(job);
    EXPECT_GT(search.finder.large_buckets(), 0);
    EXPECT_LE(search.finder.candidates(), static_cast<int64_t>(kernels) * 3 * 256);
    EXPECT_LE(pairs.size(), kernels * 24);
    // Everyone is still compared with the first.
    for (uint32_t i = 1; i < kernels; ++i) EXPECT_EQ(pairs.count({0, i}), 1u) << i;
    EXPECT_EQ(Find(job, 0.7, 2), pairs);
  }
}

// Families whose first band agrees with that of all the others: one bucket of 3,000.
TEST(DuplicateFinder, AHugeBucketOfOneBandHidesNoNearDuplicate) {
  const Sets sets = Families(600, 5);
  Job job = MakeJob(sets);
  const size_t band = BandsFor(0.7).rows() * sizeof(uint16_t);
  for (v1::TokenSets& shard : job.shards) {
    std::string& values = *shard.mutable_minhash();
    for (size_t at = 0; at < values.size(); at += sizeof(MinHashValues)) {
      values.replace(at, band, band, '\0');
    }
  }
  Search search(0.7, 0, 1);
  const PairMap found = search.Find(job);
  EXPECT_EQ(search.finder.large_buckets(), 1);
  EXPECT_LE(search.finder.candidates(), 3000 * 3 * 256 + 100'000);
  int close = 0, close_found = 0;
  for (size_t family = 0; family < sets.size(); family += 5) {
    const Sets members(sets.begin() + family, sets.begin() + family + 5);
    for (const auto& [pair, overlap] : BruteForce(members, 0.8)) {
      ++close;
      close_found += found.count({pair.first + family, pair.second + family});
    }
  }
  EXPECT_GT(close, 2000);
  EXPECT_GE(close_found, 0.99 * close);
}

TEST(DuplicateFinder, KernelsWithoutTokensAreLikeNothing) {
  EXPECT_TRUE(Find(MakeJob({{}, {}}), 0.7).empty());
}

TEST(DuplicateFinder, AMalformedSetIsRefused) {
  Search search(0.7, 0, 1);
  for (const std::vector<uint64_t>& bad : Sets{{2, 1}, {1, 1}}) {
    EXPECT_THAT(search.finder.Load(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(DuplicateFinder, SetsThatAreMissingAreNoticed) {
  Search search(0.7, 0, 1);
  for (const v1::TokenSets& shard : MakeJob({{1, 2, 3, 4}, {1, 2, 3, 4, 5}}, true).shards) {
    search.finder.Observe(shard);
  }
  search.finder.EndObserving();
  Pairs pairs;
  EXPECT_THAT(search.finder.Find(&pairs), StatusIs(absl::StatusCode::kFailedPrecondition));
}

v1::PairParams Params(double threshold, int partition = 0, int partitions = 1) {
  v1::PairParams params;
  params.set_threshold(threshold);
  params.set_partition(partition);
  params.set_partitions(partitions);
  return params;
}

TEST(PairParams, AreChecked) {
  EXPECT_THAT(CheckPairParams(Params(0.7, 3, 4)), IsOk());
  EXPECT_THAT(CheckPairParams(Params(1)), IsOk());
  for (const auto& [threshold, partition, partitions] :
       std::vector<std::tuple<double, int, int>>{{0, 0, 1},
                                                 {1.01, 0, 1},
                                                 {0.0 / 0.0, 0, 1},
                                                 {0.7, 1, 1},
                                                 {0.7, -1, 1},
                                                 {0.7, 0, 0},
                                                 {0.7, 0, 1 << 20}}) {
    EXPECT_THAT(CheckPairParams(Params(threshold, partition, partitions)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << threshold << " " << partition << " " << partitions;
  }
}

}  // namespace
}  // namespace kernelmill::deduplicator
