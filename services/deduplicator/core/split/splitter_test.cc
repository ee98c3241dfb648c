#include "services/deduplicator/core/split/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/deduplicator/core/sign/jaccard.h"

namespace kernelmill::deduplicator {

inline constexpr v1::Split kNone = v1::SPLIT_UNSPECIFIED;
inline constexpr v1::Split kTrain = v1::SPLIT_TRAIN;
inline constexpr v1::Split kValidation = v1::SPLIT_VALIDATION;
inline constexpr v1::Split kTest = v1::SPLIT_TEST;

struct TestKernel {
  std::string name;  // in the results
  std::vector<uint64_t> shingles;
  v1::Fate fate = v1::FATE_KEPT;
  std::string leader = "";          // for a duplicate
  uint64_t renamed = 0;             // 0: its own
  bool file = false;                // a whole file, of all the kernels that its source has after it
  std::vector<uint64_t> runs = {};  // of 13 tokens
  std::vector<uint64_t> module_runs = {};  // that its source has not
};

inline v1::KernelShingles MakeShingles(const TestKernel& kernel) {
  v1::KernelShingles shingles;
  shingles.mutable_near()->Add(kernel.shingles.begin(), kernel.shingles.end());
  shingles.mutable_runs()->Add(kernel.runs.begin(), kernel.runs.end());
  shingles.mutable_module_runs()->Add(kernel.module_runs.begin(), kernel.module_runs.end());
  return shingles;
}

struct TestSource {
  std::string repository;
  std::vector<TestKernel> kernels;
};

using Job = std::vector<TestSource>;
using Sides = std::map<std::string, v1::Split>;

inline std::vector<uint64_t> Range(uint64_t first, uint64_t count) {
  std::vector<uint64_t> set(count);
  std::iota(set.begin(), set.end(), first);
  for (uint64_t& number : set) number *= 0x9e3779b97f4a7c15;
  std::sort(set.begin(), set.end());
  return set;
}

inline v1::SignatureShard Signatures(const TestSource& source, uint32_t first) {
  v1::SignatureShard shard;
  for (const TestKernel& kernel : source.kernels) {
    const uint32_t number = first + static_cast<uint32_t>(shard.renamed_size());
    std::string text = absl::StrCat(number);
    text.resize(32);
    shard.mutable_sha256()->append(text);
    shard.mutable_pair_sha1()->append(text.substr(0, 20));
    for (v1::TokenSets* sets : {shard.mutable_near(), shard.mutable_structural()}) {
      sets->add_hashes(number);
      sets->add_sizes(static_cast<uint32_t>(kernel.shingles.size()));
      sets->mutable_minhash()->append(256, '\0');
    }
    shard.add_words_common(0);
    shard.add_words_total(1);
    shard.add_paths("a.py");
    shard.add_first_lines(kernel.file ? 0 : 1);
    shard.add_names(1);
    shard.add_computations(0);
    shard.add_renamed(kernel.renamed == 0 ? 1'000'000 + number : kernel.renamed);
  }
  return shard;
}

inline v1::Clusters MakeClusters(const Job& job) {
  std::map<std::string, uint32_t> numbers;
  for (const TestSource& source : job) {
    for (const TestKernel& kernel : source.kernels) {
      numbers.emplace(kernel.name, static_cast<uint32_t>(numbers.size()));
    }
  }
  v1::Clusters clusters;
  for (const TestSource& source : job) {
    for (const TestKernel& kernel : source.kernels) {
      v1::Decision* decision = clusters.add_decisions();
      decision->set_fate(kernel.fate);
      decision->set_leader(numbers.at(kernel.leader.empty() ? kernel.name : kernel.leader));
    }
  }
  return clusters;
}

inline v1::SplitPolicy Named() {
  v1::SplitPolicy policy;
  for (const char* name : {"test1", "test2", "test3"}) policy.add_test_repositories(name);
  for (const char* name : {"val1", "val2"}) policy.add_validation_repositories(name);
  return policy;
}

struct Result {
  Sides sides;
  int64_t joined = 0;
  int passes = 0;
};

// Takes a splitter through all its steps.
inline Result Divide(const Job& job, const v1::SplitPolicy& policy = Named(),
                     double threshold = 0.7, const v1::PairSet& pairs = v1::PairSet(),
                     int64_t budget = 1 << 24) {
  const v1::Clusters clusters = MakeClusters(job);
  Splitter splitter(policy, threshold, clusters, budget);
  std::vector<const TestKernel*> kernels;
  for (size_t s = 0; s < job.size(); ++s) {
    v1::ShardOrigin origin;
    origin.set_repository(job[s].repository);
    origin.set_source(static_cast<int>(s));
    EXPECT_THAT(
        splitter.AddShard(Signatures(job[s], static_cast<uint32_t>(kernels.size())), origin),
        testing::IsOk());
    for (const TestKernel& kernel : job[s].kernels) kernels.push_back(&kernel);
  }
  EXPECT_THAT(splitter.AddPairs(pairs), testing::IsOk());
  EXPECT_THAT(splitter.EndAdding(), testing::IsOk());
  while (splitter.BeginPass()) {
    for (uint32_t n = 0; n < kernels.size(); ++n) {
      if (splitter.Loads(n))
        EXPECT_THAT(splitter.Load(n, MakeShingles(*kernels[n])), testing::IsOk());
    }
    EXPECT_THAT(splitter.EndLoading(), testing::IsOk());
    for (uint32_t n = 0; n < kernels.size(); ++n) {
      if (splitter.Probes(n))
        EXPECT_THAT(splitter.Probe(n, MakeShingles(*kernels[n])), testing::IsOk());
    }
  }
  const v1::Splits splits = splitter.Take();
  Result result;
  for (uint32_t n = 0; n < kernels.size(); ++n) {
    result.sides[kernels[n]->name] = splits.splits(static_cast<int>(n));
  }
  result.joined = splitter.joined();
  result.passes = splitter.passes();
  return result;
}

namespace {

v1::SplitPolicy Policy(double validation, double test, const std::string& seed = "") {
  v1::SplitPolicy policy;
  policy.set_validation(validation);
  policy.set_test(test);
  policy.set_seed(seed);
  return policy;
}

std::map<std::string, v1::Split> GetSides(const v1::SplitPolicy& policy, int repositories) {
  const RepositorySides sides(policy);
  std::map<std::string, v1::Split> found;
  for (int i = 0; i < repositories; ++i) {
    const std::string name = absl::StrCat("https://example.org/owner/r", i);
    found[name] = sides.GetSide(name, name);
  }
  return found;
}

TEST(RepositorySides, SharesAreThoseOfThePolicy) {
  int test = 0;
  int validation = 0;
  for (const auto& [name, side] : GetSides(Policy(0.05, 0.2), 10'000)) {
    test += side == v1::SPLIT_TEST;
    validation += side == v1::SPLIT_VALIDATION;
  }
  EXPECT_NEAR(test, 2000, 150);
  EXPECT_NEAR(validation, 500, 100);
}

TEST(RepositorySides, ARaisedShareOnlyTakesRepositoriesFromTrain) {
  const auto before = GetSides(Policy(0.1, 0.1), 2000);
  const auto after = GetSides(Policy(0.3, 0.25), 2000);
  int moved = 0;
  for (const auto& [name, side] : before) {
    if (side == after.at(name)) continue;
    EXPECT_EQ(side, v1::SPLIT_TRAIN) << name;
    ++moved;
  }
  EXPECT_GT(moved, 400);
}

TEST(RepositorySides, AnotherSeedMakesAnotherChoice) {
  const auto one = GetSides(Policy(0.1, 0.1, "1"), 2000);
  EXPECT_EQ(one, GetSides(Policy(0.1, 0.1, "1"), 2000));
  EXPECT_NE(one, GetSides(Policy(0.1, 0.1, "2"), 2000));
}

// These are in datasets: a change here moves their rows.
TEST(RepositorySides, KnownAnswers) {
  // As Python says: int.from_bytes(sha256(b"\0" + key).digest()[:7]) / 2**56.
  const auto side = [](double test, const char* name) {
    return RepositorySides(Policy(0, test)).GetSide(name, "");
  };
  EXPECT_EQ(side(0.196302, "fla-core==0.6.0"), v1::SPLIT_TEST);
  EXPECT_EQ(side(0.196301, "fla-core==0.6.0"), v1::SPLIT_TRAIN);
  EXPECT_EQ(side(0.334338, "https://github.com/linkedin/Liger-Kernel"), v1::SPLIT_TEST);
  EXPECT_EQ(side(0.334337, "https://github.com/linkedin/Liger-Kernel"), v1::SPLIT_TRAIN);
}

TEST(RepositorySides, ANamedRepositoryIsOfItsSplitHoweverItIsWritten) {
  v1::SplitPolicy policy = Policy(0, 0);
  policy.add_test_repositories("github.com/A/b");
  policy.add_validation_repositories("mirror");
  const RepositorySides sides(policy);
  EXPECT_EQ(sides.GetSide("https://github.com/a/B.git", ""), v1::SPLIT_TEST);
  EXPECT_EQ(sides.GetSide("b", "https://github.com/a/b"), v1::SPLIT_TEST);
  EXPECT_EQ(sides.GetSide("mirror", "https://github.com/c/d"), v1::SPLIT_VALIDATION);
  EXPECT_EQ(sides.GetSide("https://github.com/c/d", "https://github.com/c/d"), v1::SPLIT_TRAIN);
}

TEST(RepositorySides, ARepositoryIsOfOneSplitByWhateverNameOrVersion) {
  const RepositorySides sides(Policy(0.3, 0.4));
  for (int i = 0; i < 50; ++i) {
    const std::string url = absl::StrCat("https://example.org/o/r", i);
    const v1::Split side = sides.GetSide(url, url);
    EXPECT_EQ(sides.GetSide("a mirror", url), side);
    EXPECT_EQ(sides.GetSide(absl::StrCat("git@example.org:o/r", i, ".git"), ""), side);
    EXPECT_EQ(sides.GetSide(absl::StrCat("p", i, "==1.0"), ""),
              sides.GetSide(absl::StrCat("p", i, "==2.0"), ""));
  }
}

}  // namespace

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
  const v1::Clusters clusters = MakeClusters(job);
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
  EXPECT_THAT(splitter.Load(0, MakeShingles({.name = "", .shingles = {1, 2}})), refused)
      << "not the size in the signature";
  EXPECT_THAT(splitter.Load(0, MakeShingles({.name = "", .shingles = {3, 2, 1}})), refused)
      << "not sorted";
  EXPECT_THAT(splitter.Probe(1, MakeShingles({.name = "", .shingles = {2, 2, 2}})), refused)
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

namespace {

// Jobs with near-duplicates within and across repositories, duplicates and rejected kernels.
Job RandomJob(std::mt19937& random, int sources, const std::string& prefix = "") {
  Job job;
  std::vector<std::pair<std::string, std::vector<uint64_t>>> kept;
  int made = 0;
  for (int s = 0; s < sources; ++s) {
    TestSource& source = job.emplace_back();
    source.repository = absl::StrCat(prefix, "repository", s);
    for (int k = 0; k < 12; ++k) {
      TestKernel kernel{.name = absl::StrCat(prefix, made++)};
      const uint64_t size = 4 + random() % 60;
      kernel.shingles = Range(random() % 1000, size);
      for (uint64_t run = random() % 3000, end = run + random() % 4; run < end; ++run) {
        kernel.runs.push_back(run);
      }
      for (uint64_t run = random() % 3000, end = run + random() % 6; run < end; ++run) {
        kernel.module_runs.push_back(run);
      }
      if (random() % 8 == 0) kernel.fate = v1::FATE_REJECTED;
      if (random() % 8 == 0 && !kept.empty()) {
        kernel.fate = v1::FATE_DUPLICATE;
        kernel.leader = kept[random() % kept.size()].first;
      }
      if (kernel.fate == v1::FATE_KEPT) kept.emplace_back(kernel.name, kernel.shingles);
      source.kernels.push_back(std::move(kernel));
    }
  }
  return job;
}

v1::SplitPolicy Shares(const std::string& seed = "") {
  v1::SplitPolicy policy;
  policy.set_validation(0.25);
  policy.set_test(0.3);
  policy.set_seed(seed);
  return policy;
}

// By comparing all with all until nothing changes.
Sides BruteForce(const Job& job, const v1::SplitPolicy& policy, double threshold) {
  const RepositorySides repositories(policy);
  std::vector<std::pair<const TestKernel*, v1::Split>> graph;
  Sides sides;
  for (const TestSource& source : job) {
    for (const TestKernel& kernel : source.kernels) {
      sides[kernel.name] = kNone;
      if (kernel.fate == v1::FATE_REJECTED) continue;
      graph.emplace_back(&kernel, repositories.GetSide(source.repository, ""));
    }
  }
  const auto has = [](const TestKernel& a, const TestKernel& b) {
    return !b.runs.empty() && std::all_of(b.runs.begin(), b.runs.end(), [&a](uint64_t run) {
      return std::count(a.runs.begin(), a.runs.end(), run) > 0 ||
             std::count(a.module_runs.begin(), a.module_runs.end(), run) > 0;
    });
  };
  const auto joined = [&](const TestKernel& a, const TestKernel& b) {
    return a.leader == b.name || b.leader == a.name ||
           Similarity(Compare(a.shingles, b.shingles)) >= threshold;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [a, a_side] : graph) {
      for (auto& [b, b_side] : graph) {
        if (a_side == b_side) continue;
        const bool alike = joined(*a, *b);
        if (!alike && (b_side == kTrain || !has(*a, *b))) continue;
        changed = true;
        b_side = kTrain;
        if (alike) a_side = kTrain;
      }
    }
  }
  for (const auto& [kernel, side] : graph) {
    if (kernel->fate == v1::FATE_KEPT) sides[kernel->name] = side;
  }
  return sides;
}

TEST(RandomSplits, DividesAsBruteForceDoesWhateverThePasses) {
  std::mt19937 random(16);
  std::map<v1::Split, int> seen;
  int many_passes = 0;
  for (int round = 0; round < 40; ++round) {
    const Job job = RandomJob(random, 12);
    for (const double threshold : {0.5, 0.7, 0.9, 1.0}) {
      const Sides expected = BruteForce(job, Shares(), threshold);
      for (const int64_t budget : {int64_t{1}, int64_t{300}, int64_t{1} << 24}) {
        const Result result = Divide(job, Shares(), threshold, {}, budget);
        ASSERT_EQ(result.sides, expected) << round << " " << threshold << " " << budget;
        many_passes += result.passes > 3;
      }
      for (const auto& [name, side] : expected) ++seen[side];
    }
  }
  EXPECT_GT(seen[kTest], 300);
  EXPECT_GT(seen[kValidation], 300);
  EXPECT_GT(many_passes, 40);
}

TEST(RandomSplits, SplitsDoNotDependOnTheOrderOfSources) {
  std::mt19937 random(17);
  Job job = RandomJob(random, 20);
  const Sides sides = Divide(job, Shares()).sides;
  for (int round = 0; round < 5; ++round) {
    std::shuffle(job.begin(), job.end(), random);
    EXPECT_EQ(Divide(job, Shares(), 0.7, {}, round % 2 == 0 ? 200 : 1 << 24).sides, sides);
  }
}

TEST(RandomSplits, AnotherSeedDividesOtherwise) {
  std::mt19937 random(18);
  const Job job = RandomJob(random, 30);
  EXPECT_EQ(Divide(job, Shares("a")).sides, Divide(job, Shares("a")).sides);
  EXPECT_NE(Divide(job, Shares("a")).sides, Divide(job, Shares("b")).sides);
}

TEST(RandomSplits, AKernelOfAGrownDatasetStaysOrComesToTrain) {
  std::mt19937 random(19);
  int moved = 0;
  int stayed = 0;
  for (int round = 0; round < 20; ++round) {
    Job job = RandomJob(random, 10);
    const Sides before = Divide(job, Shares()).sides;
    for (TestSource& source : RandomJob(random, 5, "new ")) job.push_back(std::move(source));
    std::shuffle(job.begin(), job.end(), random);
    const Sides after = Divide(job, Shares()).sides;
    for (const auto& [name, side] : before) {
      if (after.at(name) == side) {
        stayed += side == kTest || side == kValidation;
        continue;
      }
      EXPECT_EQ(after.at(name), kTrain) << name;
      ++moved;
    }
  }
  EXPECT_GT(moved, 20);
  EXPECT_GT(stayed, 200);
}

}  // namespace

}  // namespace kernelmill::deduplicator
