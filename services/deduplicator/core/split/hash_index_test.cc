#include "services/deduplicator/core/split/hash_index.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace kernelmill::deduplicator {
namespace {

using Entries = std::multimap<uint64_t, uint32_t>;

HashIndex MakeIndex(const Entries& entries, size_t expected) {
  HashIndex index(expected);
  for (int round = 0; round < 2; ++round) {
    for (const auto& [key, number] : entries) index.Add(key, number);
    index.EndRound();
  }
  return index;
}

std::vector<uint32_t> Find(const HashIndex& index, uint64_t key) {
  std::vector<uint32_t> found;
  if (index.MayHave(key)) index.ForEach(key, [&](uint32_t i) { found.push_back(i); });
  return found;
}

Entries RandomEntries(size_t count) {
  std::mt19937_64 random(1);
  Entries entries;
  while (entries.size() < count) {
    const uint64_t key = random();
    for (uint64_t i = 0; i <= random() % 3; ++i) entries.emplace(key, entries.size());
  }
  return entries;
}

TEST(HashIndex, FindsTheNumbersOfAKeyInTheirOrder) {
  const Entries entries = RandomEntries(5000);
  for (const size_t expected : {0, 100, 5000, 100'000}) {
    const HashIndex index = MakeIndex(entries, expected);
    EXPECT_EQ(index.size(), entries.size());
    for (auto at = entries.begin(); at != entries.end();) {
      const auto end = entries.upper_bound(at->first);
      std::vector<uint32_t> numbers;
      for (const uint64_t key = at->first; at != end; ++at) {
        numbers.push_back(at->second);
        ASSERT_TRUE(index.MayHave(key));
      }
      ASSERT_EQ(Find(index, std::prev(end)->first), numbers) << expected;
    }
  }
}

TEST(HashIndex, FindsNothingForOtherKeys) {
  const HashIndex index = MakeIndex(RandomEntries(5000), 5000);
  std::mt19937_64 random(2);
  int may_have = 0;
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t key = random();
    may_have += index.MayHave(key);
    EXPECT_TRUE(Find(index, key).empty());
  }
  EXPECT_LT(may_have, 200) << "most look-ups read one word";
}

TEST(HashIndex, MayBeEmpty) {
  EXPECT_TRUE(Find(HashIndex(), 1).empty());
  EXPECT_TRUE(Find(MakeIndex({}, 0), ~uint64_t{0}).empty());
}

}  // namespace
}  // namespace kernelmill::deduplicator
