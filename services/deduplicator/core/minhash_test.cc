#include "services/deduplicator/core/minhash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"

namespace kernelmill::deduplicator {
namespace {

// `count` hashes, the `stream`'s numbers from `first` on.
std::vector<uint64_t> Hashes(int stream, int first, int count) {
  std::vector<uint64_t> hashes;
  for (int i = first; i < first + count; ++i) {
    hashes.push_back(StableHash64(absl::StrCat(stream, ":", i)));
  }
  return hashes;
}

double Agreement(const MinHashValues& a, const MinHashValues& b) {
  int equal = 0;
  for (int i = 0; i < kPermutations; ++i) equal += a[i] == b[i];
  return static_cast<double>(equal) / kPermutations;
}

TEST(MinHash, IsTheLeastOfEachPermutation) {
  // Of one value each permutation gives one number, and of a union that of either.
  const MinHashValues a = MinHash(Hashes(1, 0, 1));
  const MinHashValues b = MinHash(Hashes(1, 1, 1));
  const MinHashValues both = MinHash(Hashes(1, 0, 2));
  int of_a = 0;
  for (int i = 0; i < kPermutations; ++i) {
    EXPECT_TRUE(both[i] == a[i] || both[i] == b[i]);
    of_a += both[i] == a[i];
  }
  EXPECT_GT(of_a, 32);
  EXPECT_LT(of_a, 96);
}

TEST(MinHash, OrderAndRepeatsDoNotCount) {
  std::vector<uint64_t> hashes = Hashes(1, 0, 50);
  const MinHashValues values = MinHash(hashes);
  std::reverse(hashes.begin(), hashes.end());
  hashes.push_back(hashes.front());
  EXPECT_EQ(MinHash(hashes), values);
}

TEST(MinHash, OfNothingIsAllOnes) {
  for (const uint16_t value : MinHash({})) EXPECT_EQ(value, 0xffffu);
}

TEST(MinHash, KnownAnswer) {
  // Worked out in Python. A part of stored data: other values are another version of sign.
  const MinHashValues values = MinHash(std::vector<uint64_t>{0, 1, 0x100000002});
  EXPECT_EQ(values[0], 14747u);
  EXPECT_EQ(values[1], 18762u);
  EXPECT_EQ(values[127], 35334u);
}

// Over many pairs of sets the agreement must be the similarity on average (no bias), and spread as
// 128 independent draws spread (no permutation repeats another).
class MinHashEstimate : public ::testing::TestWithParam<int> {};

TEST_P(MinHashEstimate, IsUnbiasedWithBinomialSpread) {
  constexpr int kPairs = 1000;
  constexpr int kUnion = 300;
  const int common = GetParam();
  const double j = static_cast<double>(common) / kUnion;
  const int own = (kUnion - common) / 2;
  double sum = 0, squares = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    const double error = Agreement(MinHash(Hashes(pair, 0, own + common)),
                                   MinHash(Hashes(pair, own, common + own))) -
                         j;
    sum += error;
    squares += error * error;
  }
  const double variance = j * (1 - j) / kPermutations;
  EXPECT_LT(std::abs(sum / kPairs), 4 * std::sqrt(variance / kPairs)) << "bias";
  EXPECT_NEAR(squares / kPairs / variance, 1, 0.2) << "spread";
}

INSTANTIATE_TEST_SUITE_P(Similarities, MinHashEstimate,
                         ::testing::Values(30, 90, 150, 210, 240, 290));

}  // namespace
}  // namespace kernelmill::deduplicator
