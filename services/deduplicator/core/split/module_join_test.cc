#include "services/deduplicator/core/split/module_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::KernelShingles Kernel(const std::vector<uint64_t>& runs,
                          const std::vector<uint64_t>& module_runs = {}) {
  v1::KernelShingles kernel;
  kernel.mutable_runs()->Add(runs.begin(), runs.end());
  kernel.mutable_module_runs()->Add(module_runs.begin(), module_runs.end());
  return kernel;
}

void Build(const std::vector<v1::KernelShingles>& added, ModuleJoin* join) {
  for (const v1::KernelShingles& kernel : added) ASSERT_THAT(join->Add(kernel), IsOk());
  ASSERT_THAT(join->Build(), IsOk());
}

std::set<uint32_t> Find(const std::vector<v1::KernelShingles>& added,
                        const v1::KernelShingles& probe) {
  ModuleJoin join;
  Build(added, &join);
  std::set<uint32_t> found;
  EXPECT_THAT(join.Probe(
                  probe, [](uint32_t) { return true; },
                  [&](uint32_t i) { EXPECT_TRUE(found.insert(i).second) << "found twice"; }),
              IsOk());
  return found;
}

TEST(ModuleJoin, AModuleHasASourceWhereItHasAllOfItsRuns) {
  EXPECT_THAT(Find({Kernel({5, 6, 7}), Kernel({6, 9})}, Kernel({1}, {4, 5, 6, 7})), ElementsAre(0));
}

TEST(ModuleJoin, AModuleInWhichTheSourceMayStandIsNotFound) {
  EXPECT_THAT(Find({Kernel({1}, {5, 6, 7})}, Kernel({6, 5})), IsEmpty());
}

TEST(ModuleJoin, OneSourceMayStandInAnother) {
  EXPECT_THAT(Find({Kernel({2, 3}), Kernel({2, 3, 4, 5})}, Kernel({1, 2, 3, 4})), ElementsAre(0));
}

TEST(ModuleJoin, ATextWithoutRunsIsAnybodys) {
  EXPECT_THAT(Find({Kernel({}), Kernel({1}, {2})}, Kernel({}, {3})), IsEmpty());
}

TEST(ModuleJoin, WhatIsNotWantedIsNotCompared) {
  ModuleJoin join;
  Build({Kernel({1, 2}), Kernel({1, 2})}, &join);
  std::set<uint32_t> found;
  ASSERT_THAT(
      join.Probe(
          Kernel({1, 2}), [](uint32_t i) { return i == 1; }, [&](uint32_t i) { found.insert(i); }),
      IsOk());
  EXPECT_THAT(found, ElementsAre(1));
  EXPECT_EQ(join.candidates(), 1);
}

TEST(ModuleJoin, ARepeatedRunFindsASourceOnce) {
  EXPECT_THAT(Find({Kernel({5, 5})}, Kernel({5, 1, 5}, {5})), ElementsAre(0));
}

TEST(ModuleJoin, SourcesThatBeginAlikeAreNotCompared) {
  std::vector<v1::KernelShingles> added;
  for (uint64_t i = 0; i < 100; ++i) added.push_back(Kernel({1, 2, 3, 100 + i}));
  ModuleJoin join;
  Build(added, &join);
  ASSERT_THAT(join.Probe(
                  Kernel({1, 2, 3, 4}), [](uint32_t) { return true; }, [](uint32_t) {}),
              IsOk());
  EXPECT_EQ(join.candidates(), 0);
}

TEST(ModuleJoin, FindsWhatComparingAllFinds) {
  std::mt19937 random(17);
  const auto some = [&random](size_t most) {
    std::vector<uint64_t> runs;
    for (uint64_t run = random() % 300, end = run + random() % (most + 1); run < end; ++run) {
      runs.push_back(run * 0x9e3779b97f4a7c15);
    }
    return runs;
  };
  std::vector<v1::KernelShingles> added;
  for (int i = 0; i < 300; ++i) added.push_back(Kernel(some(5), some(20)));
  const auto has = [](const v1::KernelShingles& a, const v1::KernelShingles& b) {
    return !b.runs().empty() && std::all_of(b.runs().begin(), b.runs().end(), [&a](uint64_t run) {
      return std::count(a.runs().begin(), a.runs().end(), run) +
                 std::count(a.module_runs().begin(), a.module_runs().end(), run) >
             0;
    });
  };
  size_t all = 0;
  for (int i = 0; i < 50; ++i) {
    const v1::KernelShingles probe = Kernel(some(5), some(20));
    std::set<uint32_t> expected;
    for (uint32_t k = 0; k < added.size(); ++k) {
      if (has(probe, added[k])) expected.insert(k);
    }
    EXPECT_EQ(Find(added, probe), expected);
    all += expected.size();
  }
  EXPECT_GT(all, 20u);
}

}  // namespace
}  // namespace kernelmill::deduplicator
