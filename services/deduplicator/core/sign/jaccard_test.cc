#include "services/deduplicator/core/sign/jaccard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

namespace kernelmill::deduplicator {
namespace {

using Set = std::vector<uint64_t>;

// `size` numbers below `range`, sorted, each once or not at all.
Set RandomSet(size_t size, uint64_t range, std::mt19937_64* random) {
  Set set;
  for (size_t i = 0; i < size; ++i) set.push_back((*random)() % range);
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

uint32_t CountCommon(const Set& a, const Set& b) {
  Set common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return static_cast<uint32_t>(common.size());
}

// Sets of all sizes from none, that have much or little in common.
template <typename Check>
void ForRandomSets(Check check) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 3000; ++round) {
    const uint64_t range = 1 + random() % 700;
    check(RandomSet(random() % 300, range, &random), RandomSet(random() % 300, range, &random));
  }
}

TEST(Compare, CountsWhatIsInBothAndInEither) {
  ForRandomSets([](const Set& a, const Set& b) {
    const Overlap overlap = Compare(a, b);
    const uint32_t common = CountCommon(a, b);
    ASSERT_EQ(overlap.common, common);
    ASSERT_EQ(overlap.total, a.size() + b.size() - common);
  });
}

TEST(Compare, ReadsHashesAsUnsigned) {
  const Set a = {1, 2, 3, 4, 5, uint64_t{1} << 63, ~uint64_t{0} - 1, ~uint64_t{0}};
  const Set b = {2, 4, 6, 8, uint64_t{1} << 63, (uint64_t{1} << 63) + 1, 7ull << 61, ~uint64_t{0}};
  EXPECT_EQ(Compare(a, b).common, 4u);
}

TEST(CompareAtLeast, IsExactFromTheThresholdOn) {
  ForRandomSets([](const Set& a, const Set& b) {
    const Overlap exact = Compare(a, b);
    for (const double threshold : {0.1, 0.3, 0.5, 0.9}) {
      const Overlap overlap = CompareAtLeast(a, b, threshold);
      const bool reaches = Similarity(exact) >= threshold;
      ASSERT_EQ(Similarity(overlap) >= threshold, reaches);
      if (reaches) ASSERT_EQ(overlap.common, exact.common);
      if (reaches) ASSERT_EQ(overlap.total, exact.total);
    }
  });
}

}  // namespace
}  // namespace kernelmill::deduplicator
