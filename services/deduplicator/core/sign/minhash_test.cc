#include "services/deduplicator/core/sign/minhash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
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
  // A permutation gives one number for one value, and for a union the number of one of the two.
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
  // Computed in Python. The values are part of stored data: a change needs a new version of sign.
  const MinHashValues values =
      MinHash(std::vector<uint64_t>{0, 1, 0x100000002, 0xfe0000000000beef});
  EXPECT_EQ(values[0], 0u);
  EXPECT_EQ(values[1], 18762u);
  EXPECT_EQ(values[64], 46083u);
  EXPECT_EQ(values[126], 17022u);
  EXPECT_EQ(values[127], 48879u);
}

// In sets that leave few orders without a shingle of their own, and in those that leave most.
TEST(MinHash, AnOrdersOwnShinglesComeFirst) {
  const std::vector<uint64_t> all = Hashes(1, 0, 400);
  std::array<MinHashValues, 400> alone;
  for (size_t i = 0; i < all.size(); ++i) alone[i] = MinHash({&all[i], 1});
  for (const size_t count : {3, 40, 90, 200, 400}) {
    const MinHashValues values = MinHash({all.data(), count});
    for (int order = 0; order < kPermutations; ++order) {
      size_t own = 0, any = 0;
      for (size_t i = 0; i < count; ++i) {
        const bool is_own = all[i] >> 57 == static_cast<uint64_t>(order);
        own += is_own;
        any += alone[i][order] == values[order] && is_own;
      }
      if (own > 0) EXPECT_GE(any, 1u) << count << " " << order;
    }
  }
}

// Over many pairs of sets the agreement must be the similarity on average (no bias), and spread no
// more than 128 independent draws do (no order repeats another).
class MinHashEstimate : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(MinHashEstimate, IsUnbiasedAndSpreadsNoMoreThanBinomially) {
  constexpr int kPairs = 1000;
  const auto [in_either, share] = GetParam();
  const int common = in_either * share / 100;
  const int own = (in_either - common) / 2;
  const double j = static_cast<double>(common) / (common + 2 * own);
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
  EXPECT_LT(squares / kPairs / variance, 1.15) << "spread";
}

INSTANTIATE_TEST_SUITE_P(Similarities, MinHashEstimate,
                         ::testing::Combine(::testing::Values(40, 300),
                                            ::testing::Values(10, 30, 50, 70, 80, 95)));

}  // namespace

namespace {

TEST(Bands, RowsFollowTheThreshold) {
  const struct {
    double threshold;
    int rows;
  } cases[] = {{0.01, 1}, {0.1, 1}, {0.3, 2}, {0.5, 2},   {0.6, 2},
               {0.65, 4}, {0.7, 4}, {0.9, 8}, {0.96, 16}, {1.0, 16}};
  for (const auto& test : cases) {
    const Bands bands = BandsFor(test.threshold);
    EXPECT_EQ(bands.rows(), test.rows) << test.threshold;
    EXPECT_EQ(bands.rows() * bands.count(), 128) << test.threshold;
  }
}

TEST(Bands, RowsOfManyFollowTheirNumberAndTheMissed) {
  const struct {
    double threshold;
    int rows;
  } cases[] = {{0.01, 1}, {0.1, 1}, {0.3, 1}, {0.5, 2}, {0.6, 3}, {0.7, 5}, {0.9, 14}, {1.0, 16}};
  for (const auto& test : cases) {
    EXPECT_EQ(ManyBandsFor(test.threshold, 80, 2e-4).rows(), test.rows) << test.threshold;
  }
  EXPECT_LT(ManyBandsFor(0.7, 40, 2e-4).rows(), 5) << "fewer bands";
  EXPECT_LT(ManyBandsFor(0.7, 80, 1e-6).rows(), 5) << "fewer missed";
}

// Counts how many of 80 bands have a bucket in common.
int CountCommon(const Bands& bands, const MinHashValues& x, const MinHashValues& y) {
  int common = 0;
  for (int band = 0; band < bands.count(); ++band) {
    common += bands.GetBucket(band, x) == bands.GetBucket(band, y);
  }
  return common;
}

TEST(Bands, EachValueIsInAsManyBandsAsAnyOther) {
  const Bands bands = ManyBandsFor(0.7, 80, 2e-4);
  MinHashValues values{};
  for (int i = 0; i < kPermutations; ++i) {
    MinHashValues other = values;
    other[i] = 1;
    const int changed = bands.count() - CountCommon(bands, values, other);
    EXPECT_GE(changed, 2) << i;
    EXPECT_LE(changed, 4) << i;
  }
}

// Nearly all pairs that agree in seven values of ten share a bucket.
TEST(Bands, PairsAtTheThresholdShareABucket) {
  const Bands bands = ManyBandsFor(0.7, 80, 2e-4);
  std::mt19937 random(1);
  int missed = 0;
  for (int i = 0; i < 20'000; ++i) {
    MinHashValues x{}, y{};
    for (uint16_t& value : y) value = random() % 10 < 7 ? 0 : 1;
    missed += CountCommon(bands, x, y) == 0;
  }
  EXPECT_LE(missed, 10);
}

TEST(Bands, TheSameValuesInAnotherBandAreAnotherBucket) {
  const Bands bands = ManyBandsFor(0.7, 80, 2e-4);
  EXPECT_EQ(bands.GetBucket(3, {}), bands.GetBucket(3, {}));
  EXPECT_NE(bands.GetBucket(3, {}), bands.GetBucket(4, {}));
}

TEST(CountAgreeing, CountsTheValuesThatAreEqual) {
  MinHashValues x{};
  for (int i = 0; i < kPermutations; ++i) x[i] = static_cast<uint16_t>(7 * i);
  MinHashValues y = x;
  for (int agreeing = kPermutations; agreeing >= 0; --agreeing) {
    EXPECT_EQ(CountAgreeing(MakeSketch(x), MakeSketch(y)), agreeing);
    if (agreeing > 0) y[agreeing - 1] ^= 1;
  }
}

TEST(MakeSketch, KeepsTheLowerHalf) {
  MinHashValues values{};
  values[3] = 0xabcd;
  EXPECT_EQ(MakeSketch(values)[3], 0xcd);
  EXPECT_EQ(MakeSketch(values)[4], 0);
}

}  // namespace

}  // namespace kernelmill::deduplicator
