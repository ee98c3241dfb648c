#include "services/deduplicator/core/pair/holdout_matcher.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::KernelShingles Kernel(const std::vector<uint64_t>& near, const std::vector<uint64_t>& runs) {
  v1::KernelShingles kernel;
  kernel.mutable_near()->Add(near.begin(), near.end());
  kernel.mutable_runs()->Add(runs.begin(), runs.end());
  return kernel;
}

// "9: 2 of 3, 1 of 4" a match: shingles in common with kernel 9, and its runs.
std::string Match(HoldoutMatcher* matcher, const v1::KernelShingles& kernel) {
  google::protobuf::RepeatedPtrField<v1::HoldoutMatch> matches;
  EXPECT_THAT(matcher->Match(7, kernel, &matches), IsOk());
  std::string text;
  for (const v1::HoldoutMatch& match : matches) {
    EXPECT_EQ(match.kernel(), 7u);
    absl::StrAppend(&text, match.holdout(), ": ", match.common(), " of ", match.total(), ", ",
                    match.runs_common(), " of ", match.runs_holdout(), "; ");
  }
  return text;
}

TEST(HoldoutMatcher, NamesWhatIsSimilarOrHasARunInCommon) {
  HoldoutMatcher matcher(0.5);
  ASSERT_THAT(matcher.Add(8, Kernel({1, 2, 3, 4}, {20, 21, 22})), IsOk());
  ASSERT_THAT(matcher.Add(9, Kernel({3, 4, 5, 6}, {30, 20})), IsOk());
  EXPECT_EQ(Match(&matcher, Kernel({1, 2}, {})), "8: 2 of 4, 0 of 3; ");
  EXPECT_EQ(Match(&matcher, Kernel({1}, {})), "");
  EXPECT_EQ(Match(&matcher, Kernel({1}, {20})), "8: 1 of 4, 1 of 3; 9: 0 of 5, 1 of 2; ");
  // Nothing is left of the one before, and a repeated run counts once.
  EXPECT_EQ(Match(&matcher, Kernel({3, 4, 5, 6}, {30, 30})), "9: 4 of 4, 1 of 2; ");
  EXPECT_EQ(Match(&matcher, Kernel({}, {})), "");
}

TEST(HoldoutMatcher, NamesTheGravestOfMany) {
  HoldoutMatcher matcher(0.5);
  for (uint32_t i = 0; i < 20; ++i) {
    std::vector<uint64_t> near = {1, 2};
    for (uint64_t k = 0; k < i % 10; ++k) near.push_back(100 + 10 * i + k);
    ASSERT_THAT(matcher.Add(100 + i, Kernel(near, {5})), IsOk());
  }
  // Every one has all of its runs in common; so the earliest are named.
  EXPECT_EQ(Match(&matcher, Kernel({1, 2}, {5})).substr(0, 21), "100: 2 of 2, 1 of 1; ");
  google::protobuf::RepeatedPtrField<v1::HoldoutMatch> matches;
  ASSERT_THAT(matcher.Match(0, Kernel({1, 2}, {5}), &matches), IsOk());
  EXPECT_EQ(matches.size(), static_cast<int>(kMaxMatches));
}

TEST(HoldoutMatcher, FindsEverySimilarityAtTheThreshold) {
  std::mt19937 random(3);
  const auto some = [&] {
    std::vector<uint64_t> set;
    for (uint64_t i = 0; i < 40; ++i) {
      if (random() % 2 == 0) set.push_back(i);
    }
    return set;
  };
  for (int round = 0; round < 200; ++round) {
    const std::vector<uint64_t> a = some(), b = some();
    HoldoutMatcher matcher(0.5);
    ASSERT_THAT(matcher.Add(1, Kernel(a, {})), IsOk());
    const bool similar = Similarity(Compare(absl::MakeConstSpan(a), absl::MakeConstSpan(b))) >= 0.5;
    EXPECT_EQ(!Match(&matcher, Kernel(b, {})).empty(), similar);
  }
}

TEST(HoldoutMatcher, AMalformedSetIsRefused) {
  HoldoutMatcher matcher(0.5);
  EXPECT_THAT(matcher.Add(1, Kernel({2, 1}, {})), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::deduplicator
