#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/split/splitter_jobs.h"

namespace kernelmill::deduplicator {
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
      graph.emplace_back(&kernel, repositories.SideOf(source.repository, ""));
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
