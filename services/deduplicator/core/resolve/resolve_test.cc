#include "services/deduplicator/core/resolve/resolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/resolve/resolve_job.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::StatusIs;

TEST(Resolver, AChainIsNotClosed) {
  Job job;
  const uint32_t a = job.Add(), b = job.Add(), c = job.Add();
  job.Near(a, b);
  job.Near(b, c);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, a), "kept");
  EXPECT_EQ(Fate(clusters, b), "near of 0");
  EXPECT_EQ(Fate(clusters, c), "kept");
  EXPECT_DOUBLE_EQ(clusters.decisions(1).similarity(), 0.8);
}

TEST(Resolver, TheStrictestKindIsNamed) {
  Job job;
  job.Add({.sha = 'x', .pair = 'p'});
  job.Add({.sha = 'x', .pair = 'p'});
  job.Add({.pair = 'p'});
  job.Add();
  for (const uint32_t other : {1, 2, 3}) job.Equal(0, other);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "exact of 0");
  EXPECT_EQ(Fate(clusters, 2), "pair of 0");
  EXPECT_EQ(Fate(clusters, 3), "near of 0");
  EXPECT_EQ(clusters.decisions(3).similarity(), 1);
}

TEST(Resolver, TheOriginalRanksBeforeItsCopies) {
  Job job;
  job.Add({.sha = 'x', .vendored = "third_party/lib", .target = "generic"});
  job.Add({.sha = 'x', .target = "ascend"});
  job.Add({.sha = 'x', .score = 0.9, .adapted = true});
  job.Add({.sha = 'x', .score = 0.9, .kind = "test"});
  job.Add({.sha = 'x', .target = "generic", .kind = "operation"});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 4), "kept");
  for (const uint32_t other : {0, 1, 2, 3}) EXPECT_EQ(Fate(clusters, other), "exact of 4");
  Job two;
  two.Add({.sha = 'x', .vendored = "third_party/lib"});
  two.Add({.sha = 'x', .target = "ascend", .adapted = true});
  EXPECT_EQ(Fate(two.Resolve(), 0), "exact of 1");
}

TEST(Resolver, ARenamedCopyIsADuplicate) {
  Job job;
  job.Add({.renamed = 5});
  job.Add({.renamed = 5});
  job.Add({.pair = 'p', .renamed = 6});
  job.Add({.pair = 'p', .renamed = 6});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "renamed of 0");
  EXPECT_EQ(Fate(clusters, 3), "pair of 2");
}

TEST(Resolver, AVersionInAnotherTreeIsADuplicate) {
  Job job;
  job.Add();
  job.Add({.source = 1});
  job.Add();  // of the same tree: its author told them apart
  job.Version(0, 1);
  job.Version(0, 2);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "version of 0");
  EXPECT_DOUBLE_EQ(clusters.decisions(1).similarity(), 0.6);
  EXPECT_EQ(Fate(clusters, 2), "kept");
}

TEST(Resolver, AVersionOfACopyIsOneOfTheOriginal) {
  Job job;
  job.Add({.source = 0});
  job.Add({.source = 1});
  job.Add({.source = 2});
  job.Equal(0, 1);
  job.Version(1, 2);
  EXPECT_EQ(Fate(job.Resolve(), 1), "near of 0");
  EXPECT_EQ(Fate(job.Resolve(), 2), "version of 0");
}

// Each kernel is better than the one before it by the next thing that counts, and worse by all that
// count less.
TEST(Resolver, RankIsLicenceTierSourceQualityPathLine) {
  Job job;
  job.Add({.sha = 'x', .tier = 1, .confidence = 0.5, .score = 0.2});
  job.Add({.sha = 'x', .tier = 2, .confidence = 0.9, .score = 0.2});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.9, .path = "a", .source = 3});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.1, .path = "a", .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "c", .line = 1, .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "b", .line = 9, .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "b", .line = 8, .source = 1});
  job.Add({.sha = 'x', .confidence = 0.9, .score = 0.2, .path = "b", .line = 8, .source = 1});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 6), "kept");
  for (const uint32_t other : {0, 1, 2, 3, 4, 5, 7}) {
    EXPECT_EQ(Fate(clusters, other), "exact of 6") << other;
  }
}

TEST(Resolver, OfEqualKernelsTheOneThatCompilesIsKept) {
  Job job;
  job.Add({.sha = 'x', .score = 0.9, .compiles = v1::RuleResult::OUTCOME_FAIL});
  job.Add({.sha = 'x', .score = 0.9, .compiles = v1::RuleResult::OUTCOME_EXEMPT});
  job.Add({.sha = 'x', .source = 5, .compiles = v1::RuleResult::OUTCOME_PASS});
  job.Add({.sha = 'x', .tier = 2, .score = 1, .compiles = v1::RuleResult::OUTCOME_PASS});
  EXPECT_EQ(Fate(job.Resolve(), 2), "kept");
  Job unknown;
  unknown.Add({.sha = 'x', .score = 0.9, .compiles = v1::RuleResult::OUTCOME_FAIL});
  unknown.Add({.sha = 'x', .source = 5});
  EXPECT_EQ(Fate(unknown.Resolve(), 1), "kept") << "what nothing is known of may compile";
}

TEST(Resolver, StructuralDuplicatesGoWhereThePolicyAsksForIt) {
  Job job;
  for (int i = 0; i < 5; ++i) job.Add();
  job.Structural(0, 1, 20, 20);
  job.Structural(0, 2);
  job.Structural(0, 3, 17, 20);  // not that alike
  job.Structural(0, 4);
  job.Near(0, 4);
  v1::Clusters clusters = job.Resolve();
  for (const uint32_t kernel : {0, 1, 2, 3}) EXPECT_EQ(Fate(clusters, kernel), "kept");
  job.policy.set_structural(true);
  clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "structural of 0");
  EXPECT_EQ(Fate(clusters, 2), "structural of 0");
  EXPECT_DOUBLE_EQ(clusters.decisions(2).similarity(), 0.95);
  EXPECT_EQ(Fate(clusters, 3), "kept");
  EXPECT_EQ(Fate(clusters, 4), "near of 0");  // the stricter kind
}

TEST(Resolver, AStructuralChainIsNotClosed) {
  Job job;
  job.policy.set_structural(true);
  for (int i = 0; i < 3; ++i) job.Add();
  job.Structural(0, 1);
  job.Structural(1, 2);
  EXPECT_EQ(Fate(job.Resolve(), 1), "structural of 0");
  EXPECT_EQ(Fate(job.Resolve(), 2), "kept");
}

TEST(Resolver, APromptThatGivesItsCompletionAwayIsFlagged) {
  Job job;
  job.Add({.words_common = 8});
  job.Add({.words_common = 7});
  const v1::Clusters clusters = job.Resolve();
  EXPECT_DOUBLE_EQ(clusters.decisions(0).word_overlap(), 0.8);
  EXPECT_EQ(Fate(clusters, 0), "kept");
  EXPECT_EQ(clusters.decisions(1).word_overlap(), 0);
}

TEST(Resolver, JoinsTheFirstLeaderNotTheMostSimilar) {
  Job job;
  for (int i = 0; i < 3; ++i) job.Add();
  job.Near(0, 2, 7, 10);
  job.Near(1, 2, 9, 10);
  EXPECT_EQ(Fate(job.Resolve(), 2), "near of 0");
}

TEST(Resolver, ACopyOfARejectedKernelSurvives) {
  Job job;
  job.Add({.sha = 'x', .rejection = "license:GPL-3.0-only"});
  job.Add({.sha = 'x'});
  job.Add();
  job.Equal(0, 1);
  job.Near(0, 2);
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 0), "rejected license:GPL-3.0-only");
  EXPECT_EQ(Fate(clusters, 1), "kept");
  EXPECT_EQ(Fate(clusters, 2), "near of 1");  // which it was never compared with by itself
}

TEST(Resolver, AGroupOfEqualSetsNeedsNoFirstToStandForIt) {
  Job job;
  job.Add({.rejection = "quality:parse"});
  for (int i = 1; i < 4; ++i) {
    job.Add();
    job.Equal(0, i);
  }
  const v1::Clusters clusters = job.Resolve();
  EXPECT_EQ(Fate(clusters, 1), "kept");
  EXPECT_EQ(Fate(clusters, 2), "near of 1");
  EXPECT_EQ(Fate(clusters, 3), "near of 1");
}

TEST(Resolver, PairsBelowTheThresholdDoNotCount) {
  Job job;
  job.Add();
  job.Add();
  job.Near(0, 1, 69, 100);
  EXPECT_EQ(Fate(job.Resolve(), 1), "kept");
}

TEST(Resolver, TheOrderOfPairsAndTheirRepeatsDoNotCount) {
  Job job;
  for (int i = 0; i < 8; ++i) job.Add({.tier = 1 + i % 3});
  for (uint32_t a = 0; a < 8; ++a) {
    for (uint32_t b = a + 1; b < 8; b += 1 + a % 2) job.Near(a, b, 7 + (a + b) % 4, 10);
  }
  const std::string expected = job.Resolve().SerializeAsString();
  std::vector<v1::Pair> pairs = job.pairs();
  std::reverse(pairs.begin(), pairs.end());
  EXPECT_EQ(job.ResolveWith(pairs).SerializeAsString(), expected);
  pairs.insert(pairs.end(), job.pairs().begin(), job.pairs().end());
  EXPECT_EQ(job.ResolveWith(pairs).SerializeAsString(), expected);
}

TEST(Resolver, AConfidenceThatIsNoNumberRanksLast) {
  Job job;
  job.Add({.sha = 'x', .confidence = std::numeric_limits<double>::quiet_NaN()});
  job.Add({.sha = 'x', .confidence = 0.1});
  EXPECT_EQ(Fate(job.Resolve(), 0), "exact of 1");
}

TEST(Resolver, RefusesWhatDoesNotFitTogether) {
  Resolver resolver(DefaultPolicy());
  v1::VerdictShard verdict;
  verdict.add_verdicts();
  EXPECT_THAT(resolver.AddShard({}, &verdict, {}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(resolver.AddShard({}, nullptr, {}), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet pairs;
  pairs.add_pairs()->set_b(1);
  EXPECT_THAT(resolver.AddPairs(pairs), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet holdouts;
  holdouts.add_holdouts();
  EXPECT_THAT(resolver.AddPairs(holdouts), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet further;
  further.add_further();
  EXPECT_THAT(resolver.AddPairs(further), StatusIs(absl::StatusCode::kInvalidArgument));
  v1::PairSet versions;
  versions.add_versions()->set_b(1);
  EXPECT_THAT(resolver.AddPairs(versions), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::deduplicator
