#include "services/deduplicator/core/split/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/split/splitter_jobs.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

TEST(Splitter, ARepositorysKernelsAreOfItsSplit) {
  const Result result = Divide({{"other", {{"a", Range(0, 20)}}},
                                {"test1", {{"b", Range(100, 20)}, {"c", Range(200, 20)}}},
                                {"val1", {{"d", Range(300, 20)}}}});
  EXPECT_EQ(result.sides, (Sides{{"a", kTrain}, {"b", kTest}, {"c", kTest}, {"d", kValidation}}));
  EXPECT_EQ(result.joined, 0);
}

TEST(Splitter, AWholeFileIsOnTheSideOfTheKernelsThatStandInIt) {
  const auto file = [](const std::string& name, uint64_t first) {
    TestKernel whole{name, Range(first, 20)};
    whole.file = true;
    return whole;
  };
  const Result result =
      Divide({{"other", {{"a", Range(0, 100)}}},
              {"test1", {file("f", 5000), {"b", Range(10, 100)}, {"c", Range(900, 20)}}},
              {"test2", {file("g", 6000), {"d", Range(700, 20)}}}});
  EXPECT_EQ(result.sides, (Sides{{"a", kTrain},
                                 {"f", kTrain},
                                 {"b", kTrain},  // like train's
                                 {"c", kTrain},  // beside it in a file that is train's
                                 {"g", kTest},
                                 {"d", kTest}}));
}

TEST(Splitter, WhatStandsInAModuleOfAnotherSplitIsOfTrain) {
  const auto kernel = [](const std::string& name, std::vector<uint64_t> runs,
                         std::vector<uint64_t> module_runs = {}) {
    static uint64_t next = 0;
    return TestKernel{.name = name,
                      .shingles = Range(next += 1000, 20),
                      .runs = std::move(runs),
                      .module_runs = std::move(module_runs)};
  };
  const Result result = Divide(
      {{"other", {kernel("train's", {1, 2, 3}, {7, 8, 9, 20, 21})}},
       {"test1",
        {kernel("helper of train's", {8, 9}), kernel("in part", {9, 10}),
         kernel("has that helper", {30}, {8, 9}), kernel("has train's", {31}, {1, 2, 3, 4}),
         kernel("helper", {40, 41}), kernel("has helper", {50, 51}, {40, 41, 42}),
         kernel("inner", {70, 71}), kernel("outer", {72, 73}, {70, 71}),
         kernel("of validation's", {80, 81})}},
       {"val1", {kernel("has outer", {60}, {72, 73}), kernel("has another", {61}, {80, 81, 82})}}});
  EXPECT_EQ(result.sides, (Sides{{"train's", kTrain},
                                 {"helper of train's", kTrain},
                                 {"in part", kTest},
                                 {"has that helper", kTest},
                                 {"has train's", kTest},
                                 {"helper", kTest},
                                 {"has helper", kTest},
                                 {"inner", kTrain},  // in a module that comes to train
                                 {"outer", kTrain},
                                 {"has outer", kValidation},
                                 {"of validation's", kTrain},
                                 {"has another", kValidation}}));
}

TEST(Splitter, OnlyKeptKernelsOfNoHoldoutHaveASplit) {
  const Result result = Divide({{"test1",
                                 {{"kept", Range(0, 20)},
                                  {"copy", Range(0, 20), v1::FATE_DUPLICATE, "kept"},
                                  {"bad", Range(50, 20), v1::FATE_REJECTED},
                                  {"benchmark's", Range(70, 20), v1::FATE_CONTAMINATED}}},
                                {"other", {{"held", Range(90, 20), v1::FATE_HOLDOUT}}}});
  EXPECT_EQ(result.sides, (Sides{{"kept", kTest},
                                 {"copy", kNone},
                                 {"bad", kNone},
                                 {"benchmark's", kNone},
                                 {"held", kNone}}));
}

TEST(Splitter, WhatIsLikeAnotherSplitsKernelIsOfTrain) {
  const Result result = Divide({{"other", {{"a", Range(0, 100)}}},
                                {"test1", {{"b", Range(10, 100)}, {"c", Range(500, 100)}}},
                                {"val1", {{"d", Range(510, 100)}, {"e", Range(900, 100)}}}});
  EXPECT_EQ(result.sides, (Sides{{"a", kTrain},
                                 {"b", kTrain},
                                 {"c", kTrain},  // test's and validation's are one group
                                 {"d", kTrain},
                                 {"e", kValidation}}));
  EXPECT_EQ(result.joined, 3);
}

TEST(Splitter, TwoTestRepositoriesMayBeAlike) {
  EXPECT_EQ(Divide({{"test1", {{"a", Range(0, 100)}}}, {"test2", {{"b", Range(10, 100)}}}}).sides,
            (Sides{{"a", kTest}, {"b", kTest}}));
}

TEST(Splitter, LikenessIsPassedOn) {
  // c is like b, b is like a; c is not like a.
  EXPECT_EQ(Divide({{"test1", {{"c", Range(20, 100)}, {"b", Range(10, 100)}}},
                    {"other", {{"a", Range(0, 100)}}}},
                   Named(), 0.8)
                .sides,
            (Sides{{"a", kTrain}, {"b", kTrain}, {"c", kTrain}}));
}

TEST(Splitter, ADuplicatesRepositoryCounts) {
  const Result result = Divide({{"test1", {{"a", Range(0, 20)}, {"b", Range(100, 20)}}},
                                {"other", {{"copy", Range(400, 20), v1::FATE_DUPLICATE, "a"}}},
                                {"test2", {{"another", Range(800, 20), v1::FATE_DUPLICATE, "b"}}}});
  EXPECT_EQ(result.sides.at("a"), kTrain);
  EXPECT_EQ(result.sides.at("b"), kTest);
}

TEST(Splitter, WhatIsLikeADuplicateOfTrainIsOfTrain) {
  const Result result =
      Divide({{"other", {{"a", Range(0, 100)}, {"copy", Range(10, 100), v1::FATE_DUPLICATE, "a"}}},
              {"test1", {{"b", Range(20, 100)}}}},
             Named(), 0.8);
  EXPECT_EQ(result.sides.at("b"), kTrain);
}

TEST(Splitter, ARejectedCopyDoesNotCount) {
  const Result result = Divide(
      {{"other", {{"copy", Range(0, 20), v1::FATE_REJECTED}}}, {"test1", {{"a", Range(0, 20)}}}});
  EXPECT_EQ(result.sides.at("a"), kTest);
}

TEST(Splitter, VersionsAndRenamedClonesAreOfOneSplit) {
  const Job job = {{"other", {{"a", Range(0, 20), v1::FATE_KEPT, "", 7}, {"b", Range(50, 20)}}},
                   {"test1", {{"c", Range(100, 20), v1::FATE_KEPT, "", 7}, {"d", Range(150, 20)}}},
                   {"test2", {{"e", Range(200, 20)}, {"f", Range(250, 20)}}}};
  v1::PairSet pairs;
  const auto add = [](uint32_t a, uint32_t b, v1::Pair* pair) {
    pair->set_a(a);
    pair->set_b(b);
  };
  add(1, 3, pairs.add_versions());
  add(1, 4, pairs.add_structural());
  EXPECT_EQ(Divide(job, Named(), 0.7, pairs).sides, (Sides{{"a", kTrain},
                                                           {"b", kTrain},
                                                           {"c", kTrain},
                                                           {"d", kTrain},
                                                           {"e", kTrain},
                                                           {"f", kTest}}));
  // One tree's kernels of one name are two kernels: f does not follow e.
  add(4, 5, pairs.add_versions());
  EXPECT_EQ(Divide(job, Named(), 0.7, pairs).sides.at("f"), kTest);
}

// A new source's kernel may be the better original, and what was kept its duplicate: what was of
// train by that one stays there.
TEST(Splitter, AKernelThatGaveWayKeepsItsLikesInTrain) {
  Job job = {{"other", {{"a", Range(0, 100)}}}, {"test1", {{"b", Range(10, 100)}}}};
  EXPECT_EQ(Divide(job, Named(), 0.8).sides.at("b"), kTrain);
  job.push_back({"test2", {{"original", Range(900, 100)}}});
  job[0].kernels[0].fate = v1::FATE_DUPLICATE;
  job[0].kernels[0].leader = "original";
  EXPECT_EQ(Divide(job, Named(), 0.8).sides.at("b"), kTrain);
}

TEST(Splitter, RefusesWhatDoesNotFitTogether) {
  const Job job = {{"test1", {{"a", Range(0, 3)}}}, {"other", {{"b", Range(9, 3)}}}};
  const v1::Clusters clusters = ClustersOf(job);
  v1::ShardOrigin origin;
  origin.set_repository("test1");
  const v1::SignatureShard shard = Signatures(job[0], 0);
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument);

  Splitter few(Named(), 0.7, clusters);
  ASSERT_THAT(few.AddShard(shard, origin), IsOk());
  EXPECT_THAT(few.EndAdding(), refused) << "more decisions than kernels";

  Splitter splitter(Named(), 0.7, clusters);
  ASSERT_THAT(splitter.AddShard(shard, origin), IsOk());
  ASSERT_THAT(splitter.AddShard(Signatures(job[1], 1), {}), IsOk());
  EXPECT_THAT(splitter.AddShard(shard, origin), refused) << "more kernels than decisions";
  v1::PairSet pairs;
  pairs.add_pairs()->set_b(2);
  EXPECT_THAT(splitter.AddPairs(pairs), refused);
  ASSERT_THAT(splitter.EndAdding(), IsOk());
  ASSERT_TRUE(splitter.BeginPass());
  EXPECT_THAT(splitter.Load(0, ShinglesOf({.name = "", .shingles = {1, 2}})), refused)
      << "of another size";
  EXPECT_THAT(splitter.Load(0, ShinglesOf({.name = "", .shingles = {3, 2, 1}})), refused)
      << "not sorted";
  EXPECT_THAT(splitter.Probe(1, ShinglesOf({.name = "", .shingles = {2, 2, 2}})), refused)
      << "not a set";

  v1::Clusters leaderless = clusters;
  leaderless.mutable_decisions(0)->set_fate(v1::FATE_DUPLICATE);
  leaderless.mutable_decisions(0)->set_leader(std::numeric_limits<uint32_t>::max());
  Splitter lost(Named(), 0.7, leaderless);
  ASSERT_THAT(lost.AddShard(shard, origin), IsOk());
  ASSERT_THAT(lost.AddShard(Signatures(job[1], 1), {}), IsOk());
  EXPECT_THAT(lost.EndAdding(), refused);
}

}  // namespace
}  // namespace kernelmill::deduplicator
