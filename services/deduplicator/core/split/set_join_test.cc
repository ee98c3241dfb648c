#include "services/deduplicator/core/split/set_join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using Set = std::vector<uint64_t>;
using Sets = std::vector<Set>;
using Found = std::set<std::pair<size_t, uint32_t>>;  // (probe, indexed)

// Spread evenly, as shingles are.
uint64_t Hash(uint64_t number) {
  number = (number ^ number >> 31) * 0x7fb5d329728ea185;
  number = (number ^ number >> 27) * 0x81dadef4bc2dd44d;
  return number ^ number >> 33;
}

Set ToSet(const std::set<uint64_t>& numbers) {
  Set set;
  for (const uint64_t number : numbers) set.push_back(Hash(number));
  std::sort(set.begin(), set.end());
  return set;
}

// Numbers [first, first + count).
Set Range(uint64_t first, uint64_t count) {
  std::set<uint64_t> numbers;
  for (uint64_t i = 0; i < count; ++i) numbers.insert(first + i);
  return ToSet(numbers);
}

// Sets of up to `most` hashes, many of them made of an earlier one by some changes; small numbers
// are in many sets, as the idioms of a language are in many kernels.
Sets RandomSets(int count, size_t most, std::mt19937& random) {
  std::geometric_distribution<uint64_t> number(0.003);
  std::vector<std::set<uint64_t>> made;
  Sets sets;
  for (int i = 0; i < count; ++i) {
    std::set<uint64_t> set;
    if (i > 0 && random() % 3 != 0) set = made[random() % made.size()];
    const size_t changes = set.empty() ? most : random() % (set.size() / 2 + 2);
    const size_t size = random() % (most + 1);
    for (size_t c = 0; c < changes; ++c) {
      if (random() % 2 == 0 && !set.empty())
        set.erase(std::next(set.begin(), random() % set.size()));
      if (set.size() < size) set.insert(number(random) + (random() % 4 == 0 ? 10'000 : 0));
    }
    made.push_back(set);
    sets.push_back(ToSet(set));
  }
  return sets;
}

void Build(const Sets& sets, SetJoin* join) {
  for (const Set& set : sets) ASSERT_THAT(join->Add(set), IsOk());
  ASSERT_THAT(join->Build(), IsOk());
}

Found Join(const Sets& indexed, const Sets& probes, double threshold,
           const SpillOptions& spill = {}) {
  SetJoin join(threshold, spill);
  Build(indexed, &join);
  Found found;
  for (size_t i = 0; i < probes.size(); ++i) {
    EXPECT_THAT(
        join.Probe(
            probes[i], [](uint32_t) { return true; },
            [&](uint32_t index) { EXPECT_TRUE(found.emplace(i, index).second) << "found twice"; }),
        IsOk());
  }
  return found;
}

// Probes with every set, and returns how many are compared.
int64_t CountCandidates(const Sets& indexed, const Sets& probes) {
  SetJoin join(0.7);
  Build(indexed, &join);
  for (const Set& set : probes) {
    EXPECT_THAT(join.Probe(
                    set, [](uint32_t) { return true; }, [](uint32_t) {}),
                IsOk());
  }
  return join.candidates();
}

Found BruteForce(const Sets& indexed, const Sets& probes, double threshold) {
  Found found;
  for (size_t i = 0; i < probes.size(); ++i) {
    for (uint32_t k = 0; k < indexed.size(); ++k) {
      if (Similarity(Compare(probes[i], indexed[k])) >= threshold) found.emplace(i, k);
    }
  }
  return found;
}

class SetJoinAt : public ::testing::TestWithParam<double> {};

TEST_P(SetJoinAt, FindsWhatBruteForceFinds) {
  std::mt19937 random(2026);
  size_t pairs = 0;
  for (int round = 0; round < 60; ++round) {
    const Sets sets = RandomSets(150, 1 + round * 2, random);
    const Sets indexed(sets.begin(), sets.begin() + 40);
    const Found expected = BruteForce(indexed, sets, GetParam());
    ASSERT_EQ(Join(indexed, sets, GetParam()), expected) << "round " << round;
    pairs += expected.size();
  }
  EXPECT_GT(pairs, 60u * 40u) << "more than each set with itself";
}

// Sets of every size up to 40 with every number of hashes in common: among them the pairs that are
// just at the threshold, and those that are one hash short of it.
TEST_P(SetJoinAt, TheEdgeIsWhereSimilaritySaysIt) {
  for (uint64_t size = 1; size <= 40; ++size) {
    Sets indexed, probes;
    for (uint64_t first = 0; first <= size; ++first) indexed.push_back(Range(first, size));
    for (uint64_t other = 1; other <= 40; ++other) probes.push_back(Range(0, other));
    ASSERT_EQ(Join(indexed, probes, GetParam()), BruteForce(indexed, probes, GetParam())) << size;
  }
}

TEST_P(SetJoinAt, LeastCommonIsTheLeastThatReachesTheThreshold) {
  for (uint32_t size = 1; size <= 3000; ++size) {
    const uint32_t least = LeastCommon(size, GetParam());
    ASSERT_GE(Similarity({least, size}), GetParam()) << size;
    if (least > 1) ASSERT_LT(Similarity({least - 1, size}), GetParam()) << size;
  }
}

// 0.7 as a double is below seven tenths, and 0.9 and 0.1 above.
INSTANTIATE_TEST_SUITE_P(Thresholds, SetJoinAt, ::testing::Values(0.1, 0.5, 0.7, 0.9, 1.0),
                         [](const auto& info) {
                           return absl::StrCat("Percent", static_cast<int>(info.param * 100));
                         });

TEST(SetJoin, HashesThatShareACountAreOneOrderStill) {
  std::mt19937 random(7);
  Sets sets = RandomSets(200, 60, random);
  for (Set& set : sets) {
    for (uint64_t& hash : set) hash &= ~uint64_t{0xffff};  // one count for all
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  const Sets indexed(sets.begin(), sets.begin() + 60);
  EXPECT_EQ(Join(indexed, sets, 0.6), BruteForce(indexed, sets, 0.6));
}

TEST(SetJoin, EmptySetsAreLikeNone) {
  EXPECT_EQ(Join({{}, Range(0, 3)}, {{}, Range(0, 3)}, 0.5), (Found{{1, 1}}));
  EXPECT_EQ(Join({}, {{}, Range(0, 3)}, 0.5), Found{});
}

TEST(SetJoin, ComparesFewOfThePairs) {
  std::mt19937 random(11);
  const Sets sets = RandomSets(600, 120, random);
  EXPECT_LT(CountCandidates(sets, sets), 600 * 600 / 10);
}

// Every hash is in many sets, as with a million kernels of one language.
TEST(SetJoin, SetsThatShareCommonHashesAreNotCompared) {
  std::mt19937 random(3);
  Sets sets;
  for (int i = 0; i < 1000; ++i) {
    std::set<uint64_t> set;
    while (set.size() < 200) set.insert(random() % 2000);
    sets.push_back(ToSet(set));
  }
  EXPECT_LT(CountCandidates(sets, sets), 1000 + 10) << "each set with itself, and few more";
}

// Each hash is in some eighty sets, so that MinHash alone brings sets together.
TEST(SetJoin, FindsSetsOfCommonHashesAlone) {
  std::mt19937 random(9);
  Sets sets;
  for (int i = 0; i < 400; ++i) {
    std::set<uint64_t> set;
    while (set.size() < 200) set.insert(random() % 2000);
    sets.push_back(ToSet(set));
    const size_t changes = random() % 45;  // at 35 of 200, the two are at the threshold
    for (size_t c = 0; c < changes; ++c) {
      set.erase(std::next(set.begin(), random() % set.size()));
      while (set.size() < 200) set.insert(random() % 2000);
    }
    sets.push_back(ToSet(set));
  }
  EXPECT_EQ(Join(sets, sets, 0.7), BruteForce(sets, sets, 0.7));
}

TEST(SetJoin, SetsMaySpill) {
  std::mt19937 random(5);
  const Sets sets = RandomSets(150, 60, random);
  EXPECT_EQ(Join(sets, sets, 0.7, {.memory_bytes = 1000}), BruteForce(sets, sets, 0.7));
}

TEST(SetJoin, WhatIsNotWantedIsNotCompared) {
  SetJoin join(0.5);
  Build({Range(0, 10), Range(0, 11)}, &join);
  std::vector<uint32_t> found;
  ASSERT_THAT(join.Probe(
                  Range(0, 10), [](uint32_t index) { return index == 1; },
                  [&](uint32_t index) { found.push_back(index); }),
              IsOk());
  EXPECT_EQ(found, std::vector<uint32_t>{1});
  EXPECT_EQ(join.candidates(), 1);
}

}  // namespace
}  // namespace kernelmill::deduplicator
