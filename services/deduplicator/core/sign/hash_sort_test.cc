#include "services/deduplicator/core/sign/hash_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace kernelmill::deduplicator {
namespace {

using Item = std::pair<uint64_t, uint32_t>;

// `count` items with keys from `key`, numbered.
template <typename Key>
std::vector<Item> Items(size_t count, Key key) {
  std::vector<Item> items;
  for (size_t i = 0; i < count; ++i) items.emplace_back(key(i), static_cast<uint32_t>(i));
  return items;
}

// As a stable sort by key alone would have them.
void ExpectSorted(std::vector<Item> items) {
  std::vector<Item> expected = items;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Item& x, const Item& y) { return x.first < y.first; });
  SortByHash(absl::MakeSpan(items), [](const Item& item) { return item.first; });
  EXPECT_EQ(items, expected);
}

TEST(SortByHash, SortsHashes) {
  std::mt19937_64 random(1);
  for (const size_t count : {0, 1, 2, 24, 25, 400, 5000, 300'000}) {
    ExpectSorted(Items(count, [&](size_t) { return random(); }));
  }
}

TEST(SortByHash, EqualKeysKeepTheirOrder) {
  std::mt19937_64 random(2);
  ExpectSorted(Items(5000, [&](size_t) { return (random() % 7) << 61; }));
  ExpectSorted(Items(5000, [](size_t) { return ~uint64_t{0}; }));
}

TEST(SortByHash, SortsKeysThatAreNoHashes) {
  ExpectSorted(Items(5000, [](size_t i) { return 5000 - i; }));
  ExpectSorted(Items(5000, [](size_t i) { return (i * 7919) % 5000 + (uint64_t{1} << 63); }));
}

}  // namespace
}  // namespace kernelmill::deduplicator
