#include "services/deduplicator/core/pair.h"

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
#include "services/deduplicator/core/sign.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using Signatures = std::vector<v1::Signature>;
using Pairs = std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>>;

v1::PairParams Params(double threshold, int partition = 0, int partitions = 1) {
  v1::PairParams params;
  params.set_threshold(threshold);
  params.set_partition(partition);
  params.set_partitions(partitions);
  return params;
}

v1::PairSet FindWith(const Signatures& signatures, PairFinder* finder) {
  for (const v1::Signature& signature : signatures) {
    EXPECT_THAT(finder->Observe(signature), IsOk());
  }
  finder->EndObserving();
  for (uint32_t i = 0; i < signatures.size(); ++i) {
    if (finder->NeedsAny(i, 1)) {
      finder->Load(signatures[i]);
    } else {
      finder->Skip(1);
    }
  }
  absl::StatusOr<v1::PairSet> pairs = finder->Find();
  EXPECT_THAT(pairs, IsOk());
  return *std::move(pairs);
}

Pairs ToMap(const v1::PairSet& set) {
  Pairs pairs;
  for (const v1::Pair& pair : set.pairs()) {
    EXPECT_LT(pair.a(), pair.b());
    if (!pairs.empty()) EXPECT_LT(pairs.rbegin()->first, std::make_pair(pair.a(), pair.b()));
    pairs[{pair.a(), pair.b()}] = {pair.common(), pair.total()};
  }
  return pairs;
}

Pairs Find(const Signatures& signatures, double threshold, int partitions = 1) {
  Pairs all;
  for (int p = 0; p < partitions; ++p) {
    PairFinder finder(Params(threshold, p, partitions));
    const Pairs pairs = ToMap(FindWith(signatures, &finder));
    all.insert(pairs.begin(), pairs.end());
  }
  return all;
}

Pairs BruteForce(const Signatures& signatures, double threshold) {
  Pairs pairs;
  for (uint32_t a = 0; a < signatures.size(); ++a) {
    const std::set<uint64_t> x(signatures[a].shingles().begin(), signatures[a].shingles().end());
    for (uint32_t b = a + 1; b < signatures.size(); ++b) {
      uint32_t common = 0;
      for (const uint64_t shingle : signatures[b].shingles()) common += x.count(shingle);
      const uint32_t total =
          static_cast<uint32_t>(x.size()) + signatures[b].shingles_size() - common;
      if (common >= threshold * total) pairs[{a, b}] = {common, total};
    }
  }
  return pairs;
}

// Families of kernels: a body of random statements, and copies with more and more statements
// changed.
Signatures Families(int families, int copies) {
  std::mt19937 random(7);
  const auto statement = [&] {
    return absl::StrCat("    v", random() % 50, " = tl.load(p", random() % 9, " + v", random() % 50,
                        " * ", random() % 100, ", mask=v", random() % 50, " < n", random() % 7,
                        ")");
  };
  Signatures signatures;
  for (int family = 0; family < families; ++family) {
    std::vector<std::string> lines = {absl::StrCat("def kernel_", family, "(p, n):")};
    const int size = 10 + static_cast<int>(random() % 60);
    for (int i = 0; i < size; ++i) lines.push_back(statement());
    for (int copy = 0; copy < copies; ++copy) {
      v1::Kernel kernel;
      kernel.set_source(absl::StrJoin(lines, "\n"));
      signatures.push_back(Sign(kernel));
      const int changes = 1 + static_cast<int>(random() % 3);
      for (int i = 0; i < changes; ++i) lines[1 + random() % size] = statement();
    }
  }
  return signatures;
}

TEST(PairFinder, FindsWhatBruteForceFinds) {
  const Signatures signatures = Families(60, 8);
  const Pairs found = Find(signatures, 0.7);
  const Pairs expected = BruteForce(signatures, 0.7);
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

TEST(PairFinder, TheUnionDoesNotDependOnThePartitions) {
  const Signatures signatures = Families(30, 8);
  const Pairs one = Find(signatures, 0.6);
  EXPECT_GT(one.size(), 100u);
  EXPECT_EQ(Find(signatures, 0.6, 3), one);
  EXPECT_EQ(Find(signatures, 0.6, 8), one);
}

TEST(PairFinder, APartitionHoldsAShare) {
  const Signatures signatures = Families(30, 8);
  PairFinder whole(Params(0.7)), part(Params(0.7, 1, 8));
  FindWith(signatures, &whole);
  const v1::PairSet pairs = FindWith(signatures, &part);
  EXPECT_GT(pairs.pairs_size(), 0);
  EXPECT_LT(part.candidates(), whole.candidates());
}

// A signature whose values agree with every other made here.
v1::Signature Clashing(const std::vector<uint64_t>& shingles) {
  v1::Signature signature;
  signature.set_sha256(std::string(32, 'a'));
  signature.set_pair_sha1(std::string(20, 'a'));
  signature.mutable_shingles()->Add(shingles.begin(), shingles.end());
  signature.mutable_minhash()->Resize(128, 1);
  return signature;
}

TEST(PairFinder, ABucketMateThatIsNotSimilarIsNoPair) {
  EXPECT_TRUE(Find({Clashing({1, 2, 3}), Clashing({3, 4, 5})}, 0.7).empty());
}

TEST(PairFinder, TheThresholdItselfIsReached) {
  std::vector<uint64_t> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<uint64_t> seven(ten.begin(), ten.begin() + 7);
  EXPECT_EQ(Find({Clashing(ten), Clashing(seven)}, 0.7).size(), 1u);
  ten.push_back(11);
  EXPECT_EQ(Find({Clashing(ten), Clashing(seven)}, 0.7).size(), 0u);
}

TEST(PairFinder, EqualSetsAreComparedWithTheFirstAlone) {
  const Signatures signatures(10000, Clashing({1, 2, 3}));
  PairFinder finder(Params(0.7));
  const v1::PairSet pairs = FindWith(signatures, &finder);
  EXPECT_EQ(finder.candidates(), 9999);
  ASSERT_EQ(pairs.pairs_size(), 9999);
  for (const v1::Pair& pair : pairs.pairs()) EXPECT_EQ(pair.a(), 0u);
  EXPECT_EQ(Find(signatures, 0.7, 4).size(), 9999u);
}

TEST(PairFinder, AHugeBucketCostsLinearTime) {
  Signatures signatures;
  for (uint64_t i = 0; i < 2100; ++i) {
    signatures.push_back(Clashing({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100 + i}));
  }
  PairFinder finder(Params(0.7));
  const Pairs pairs = ToMap(FindWith(signatures, &finder));
  EXPECT_GT(finder.large_buckets(), 0);
  EXPECT_LE(finder.candidates(), 2100 * 512);
  // Everyone is still compared with the first.
  for (uint32_t i = 1; i < 2100; ++i) EXPECT_EQ(pairs.count({0, i}), 1u) << i;
  EXPECT_EQ(Find(signatures, 0.7, 2), pairs);
}

TEST(PairFinder, KernelsWithoutTokensAreLikeNothing) {
  EXPECT_TRUE(Find({Clashing({}), Clashing({})}, 0.7).empty());
}

TEST(PairFinder, AMalformedSignatureIsRefused) {
  PairFinder finder(Params(0.7));
  v1::Signature short_hash = Clashing({1});
  short_hash.mutable_minhash()->RemoveLast();
  EXPECT_THAT(finder.Observe(short_hash), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(finder.Observe(Clashing({2, 1})), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(finder.Observe(Clashing({1, 1})), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PairFinder, ASecondPassThatIsShortIsNoticed) {
  PairFinder finder(Params(0.7));
  for (int i = 0; i < 2; ++i) ASSERT_THAT(finder.Observe(Clashing({1})), IsOk());
  finder.EndObserving();
  finder.Load(Clashing({1}));
  EXPECT_THAT(finder.Find(), StatusIs(absl::StatusCode::kFailedPrecondition));
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
