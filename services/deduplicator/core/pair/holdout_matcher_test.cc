#include "services/deduplicator/core/pair/holdout_matcher.h"

#include <gtest/gtest.h>

#include <numeric>
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
using Numbers = std::vector<uint64_t>;

struct Texts {
  Numbers near;
  Numbers runs;
  Numbers structural = {};
  Numbers module = {};
  Numbers launcher = {};
};

v1::KernelShingles Kernel(const Texts& texts) {
  v1::KernelShingles kernel;
  kernel.mutable_near()->Add(texts.near.begin(), texts.near.end());
  kernel.mutable_runs()->Add(texts.runs.begin(), texts.runs.end());
  kernel.mutable_structural()->Add(texts.structural.begin(), texts.structural.end());
  kernel.mutable_module_runs()->Add(texts.module.begin(), texts.module.end());
  kernel.mutable_launcher_runs()->Add(texts.launcher.begin(), texts.launcher.end());
  return kernel;
}

Numbers Range(uint64_t first, size_t count) {
  Numbers range(count);
  std::iota(range.begin(), range.end(), first);
  return range;
}

v1::PairSet Match(HoldoutMatcher* matcher, const Texts& texts) {
  v1::PairSet pairs;
  EXPECT_THAT(matcher->Match(7, Kernel(texts), &pairs), IsOk());
  for (const v1::HoldoutMatch& match : pairs.holdouts()) EXPECT_EQ(match.kernel(), 7u);
  return pairs;
}

// "9: 2 of 3, 1 of 4; " a match: shingles in common with kernel 9, and its runs.
std::string Sources(HoldoutMatcher* matcher, const Texts& texts) {
  std::string text;
  const v1::PairSet pairs = Match(matcher, texts);
  for (const v1::HoldoutMatch& match : pairs.holdouts()) {
    absl::StrAppend(&text, match.holdout(), ": ", match.common(), " of ", match.total(), ", ",
                    match.runs_common(), " of ", match.runs_holdout(), "; ");
  }
  return text;
}

// "launcher in source 9: 70 of 80, 90 covered of 100; "
std::string Runs(HoldoutMatcher* matcher, const Texts& texts) {
  const auto name = [](v1::Sensitive::Text text) {
    return v1::Sensitive::Text_Name(text).substr(5);
  };
  std::string all;
  const v1::PairSet pairs = Match(matcher, texts);
  for (const v1::HoldoutMatch& match : pairs.holdouts()) {
    absl::StrAppend(&all, name(match.text()), " in ", name(match.holdout_text()), " ",
                    match.holdout(), ": ", match.runs_common(), " of ", match.runs_holdout());
    if (match.runs_text() > 0) {
      absl::StrAppend(&all, ", ", match.runs_covered(), " covered of ", match.runs_text());
    }
    absl::StrAppend(&all, "; ");
  }
  return all;
}

TEST(HoldoutMatcher, NamesWhatIsSimilarOrHasARunInCommon) {
  HoldoutMatcher matcher(0.5);
  ASSERT_THAT(matcher.Add(8, Kernel({{1, 2, 3, 4}, {20, 21, 22}})), IsOk());
  ASSERT_THAT(matcher.Add(9, Kernel({{3, 4, 5, 6}, {30, 20}})), IsOk());
  EXPECT_EQ(Sources(&matcher, {{1, 2}, {}}), "8: 2 of 4, 0 of 3; ");
  EXPECT_EQ(Sources(&matcher, {{1}, {}}), "");
  EXPECT_EQ(Sources(&matcher, {{1}, {20}}), "8: 1 of 4, 1 of 3; 9: 0 of 5, 1 of 2; ");
  // Nothing is left of the one before, and a repeated run counts once.
  EXPECT_EQ(Sources(&matcher, {{3, 4, 5, 6}, {30, 30}}), "9: 4 of 4, 1 of 2; ");
  EXPECT_EQ(Sources(&matcher, {{}, {}}), "");
}

TEST(HoldoutMatcher, CopiesOfAHoldoutAreOneMatch) {
  HoldoutMatcher matcher(0.5);
  for (const uint32_t number : {3, 4, 5}) {
    ASSERT_THAT(matcher.Add(number, Kernel({{1, 2}, {20, 21}})), IsOk());
  }
  ASSERT_THAT(matcher.Add(6, Kernel({{1, 2}, {21, 20}})), IsOk());  // other tokens
  const v1::PairSet pairs = Match(&matcher, {{1, 2}, {20, 21}});
  ASSERT_EQ(pairs.holdouts_size(), 2);
  EXPECT_EQ(pairs.holdouts(0).holdout(), 3u);
  EXPECT_EQ(pairs.holdouts(0).copies(), 3);
  EXPECT_TRUE(pairs.holdouts(0).same_tokens());
  EXPECT_EQ(pairs.holdouts(1).copies(), 1);
  EXPECT_FALSE(pairs.holdouts(1).same_tokens());
}

TEST(HoldoutMatcher, StructureIsComparedWhereItIsLongEnough) {
  HoldoutMatcher matcher(0.5);
  ASSERT_THAT(matcher.Add(8, Kernel({{1}, {}, Range(100, 80)})), IsOk());
  const v1::PairSet pairs = Match(&matcher, {{2}, {}, Range(110, 80)});
  ASSERT_EQ(pairs.holdouts_size(), 1);
  EXPECT_EQ(pairs.holdouts(0).structural_common(), 70u);
  EXPECT_EQ(pairs.holdouts(0).structural_total(), 90u);
  EXPECT_EQ(Match(&matcher, {{2}, {}, Range(100, 63)}).holdouts_size(), 0);
}

TEST(HoldoutMatcher, HowMuchOfATextIsHoldoutsIsSaidOfTheOneThatHasMost) {
  HoldoutMatcher matcher(0.5);
  ASSERT_THAT(matcher.Add(8, Kernel({{1}, Range(100, 20)})), IsOk());
  ASSERT_THAT(matcher.Add(9, Kernel({{2}, Range(110, 30)})), IsOk());
  EXPECT_EQ(Runs(&matcher, {{3}, Range(100, 70)}),
            "SOURCE in SOURCE 8: 20 of 20; SOURCE in SOURCE 9: 30 of 30, 40 covered of 70; ");
  // Anybody's few lines may be half of a holdout's.
  EXPECT_EQ(Runs(&matcher, {{3}, Range(100, 63)}),
            "SOURCE in SOURCE 8: 20 of 20; SOURCE in SOURCE 9: 30 of 30; ");
}

TEST(HoldoutMatcher, AHoldoutWithinAModuleIsFound) {
  HoldoutMatcher matcher(0.5);
  ASSERT_THAT(matcher.Add(8, Kernel({{1}, Range(100, 64)})), IsOk());
  ASSERT_THAT(matcher.Add(9, Kernel({{2}, Range(500, 20)})), IsOk());
  EXPECT_EQ(Runs(&matcher, {{3}, Range(900, 30), {}, Range(100, 70)}),
            "MODULE in SOURCE 8: 64 of 64, 64 covered of 100; ");
  // A generic helper is no match by itself, but counts for what is covered.
  EXPECT_EQ(Runs(&matcher, {{3}, Range(900, 30), {}, Range(500, 20)}), "");
  EXPECT_EQ(Runs(&matcher, {{3}, Range(900, 60), {}, Range(500, 20)}),
            "MODULE in SOURCE 9: 20 of 0, 20 covered of 80; ");
  // Runs that the kernel itself shares are no match of the module.
  EXPECT_EQ(Runs(&matcher, {{3}, Range(100, 10), {}, Range(900, 10)}),
            "SOURCE in SOURCE 8: 10 of 64; ");
}

TEST(HoldoutMatcher, LaunchersAreTextsToo) {
  HoldoutMatcher matcher(0.5);
  ASSERT_THAT(matcher.Add(8, Kernel({{1}, {}, {}, {}, Range(100, 64)})), IsOk());
  ASSERT_THAT(matcher.Add(9, Kernel({{2}, {}, {}, {}, Range(300, 63)})), IsOk());  // too short
  EXPECT_EQ(Runs(&matcher, {{3}, {}, {}, {}, Range(132, 64)}),
            "LAUNCHER in LAUNCHER 8: 32 of 64, 32 covered of 64; ");
  EXPECT_EQ(Runs(&matcher, {{3}, {}, {}, {}, Range(300, 64)}), "");
  EXPECT_EQ(Runs(&matcher, {{3}, Range(100, 2)}), "SOURCE in LAUNCHER 8: 2 of 64; ");
}

TEST(HoldoutMatcher, NamesTheGravestByEachMeasureAndCountsTheOthers) {
  HoldoutMatcher matcher(0.5);
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_THAT(matcher.Add(100 + i, Kernel({{1, 2, 1000 + i}, {5, 2000 + i, 3000 + i}})), IsOk());
  }
  ASSERT_THAT(matcher.Add(200, Kernel({{9, 10, 11}, {5}})), IsOk());
  const v1::PairSet pairs = Match(&matcher, {{1, 2}, {5}});
  // Eight by their shingles, eight by their runs.
  EXPECT_EQ(pairs.holdouts_size(), 16);
  EXPECT_EQ(pairs.holdouts(15).holdout(), 200u);
  ASSERT_EQ(pairs.further_size(), 1);
  EXPECT_EQ(pairs.further(0).matches(), 25);
  EXPECT_DOUBLE_EQ(pairs.further(0).score(), 2.0 / 3);
}

TEST(HoldoutMatcher, FindsEverySimilarityAtTheThreshold) {
  std::mt19937 random(3);
  const auto some = [&] {
    Numbers set;
    for (uint64_t i = 0; i < 40; ++i) {
      if (random() % 2 == 0) set.push_back(i);
    }
    return set;
  };
  for (int round = 0; round < 200; ++round) {
    const Numbers a = some(), b = some();
    HoldoutMatcher matcher(0.5);
    ASSERT_THAT(matcher.Add(1, Kernel({a, {}})), IsOk());
    const bool similar = Similarity(Compare(absl::MakeConstSpan(a), absl::MakeConstSpan(b))) >= 0.5;
    EXPECT_EQ(!Sources(&matcher, {b, {}}).empty(), similar);
  }
}

TEST(HoldoutMatcher, AMalformedSetIsRefused) {
  HoldoutMatcher matcher(0.5);
  for (const Texts& texts : {Texts{{2, 1}, {}}, Texts{{}, {}, {2, 1}}, Texts{{}, {}, {}, {2, 1}},
                             Texts{{}, {}, {}, {}, {2, 1}}}) {
    EXPECT_THAT(matcher.Add(1, Kernel(texts)), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace kernelmill::deduplicator
