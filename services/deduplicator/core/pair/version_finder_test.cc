#include "services/deduplicator/core/pair/version_finder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

struct Kernel {
  uint64_t name = 7;
  std::string path = "lib/ops/softmax.py";
  std::vector<uint64_t> set;
  uint64_t computation = 0;
};

// "0 1 0.75;" a pair, over all partitions.
std::string Find(const std::vector<Kernel>& kernels, int partitions = 1) {
  std::string text;
  for (int partition = 0; partition < partitions; ++partition) {
    VersionFinder finder(partition, partitions, SpillOptions());
    v1::SignatureShard shard;
    for (const Kernel& kernel : kernels) {
      shard.mutable_sha256()->append(32, 'a');
      shard.add_names(kernel.name);
      shard.add_computations(kernel.computation);
      shard.add_paths(kernel.path);
      shard.mutable_near()->add_hashes(kernel.set.empty() ? 0
                                                          : kernel.set[0] * 31 + kernel.set.size());
      shard.mutable_near()->add_sizes(static_cast<uint32_t>(kernel.set.size()));
    }
    finder.Observe(shard);
    finder.EndObserving();
    for (uint32_t i = 0; i < kernels.size(); ++i) {
      if (finder.NeedsNext(i)) EXPECT_THAT(finder.Load(kernels[i].set), IsOk());
    }
    Pairs pairs;
    EXPECT_THAT(finder.Find(&pairs), IsOk());
    for (const v1::Pair& pair : pairs) {
      absl::StrAppend(&text, pair.a(), " ", pair.b(), " ",
                      static_cast<double>(pair.common()) / pair.total(), ";");
    }
  }
  return text;
}

TEST(VersionFinder, OneComputationFromHalfOnWhateverTheName) {
  const std::vector<uint64_t> set = {1, 2, 3};
  const auto find = [&](uint64_t computation, const std::vector<uint64_t>& other) {
    return Find({{.set = set, .computation = 5},
                 {.name = 8, .path = "a/b.py", .set = other, .computation = computation}});
  };
  EXPECT_EQ(find(5, {1, 2, 3, 4, 5, 6}), "0 1 0.5;");
  EXPECT_EQ(find(5, {1, 2, 4, 5, 6}), "");
  EXPECT_EQ(find(6, {1, 2, 3, 4}), "");
  EXPECT_EQ(Find({{.set = set}, {.name = 8, .path = "a/b.py", .set = {1, 2, 3, 4}}}), "")
      << "unknown computations are not equal";
  EXPECT_EQ(Find({{.set = set, .computation = 5}, {.set = {1, 2, 3, 4}, .computation = 5}}),
            "0 1 0.75;")
      << "once, by whichever";
}

TEST(VersionFinder, OneNameAndPlaceFromHalfOn) {
  const std::vector<uint64_t> set = {1, 2, 3};
  EXPECT_EQ(Find({{.set = set}, {.path = "copy/of/ops/softmax.py", .set = {1, 2, 3, 4, 5, 6}}}),
            "0 1 0.5;");
  EXPECT_EQ(Find({{.set = set}, {.path = "copy/ops/softmax.py", .set = {1, 2, 4, 5, 6}}}), "");
  EXPECT_EQ(Find({{.set = set}, {.name = 8, .set = {1, 2, 3, 4}}}), "");
  EXPECT_EQ(Find({{.set = set}, {.path = "lib/ops/norm.py", .set = {1, 2, 3, 4}}}), "");
  EXPECT_EQ(Find({{.set = set}, {.path = "lib/op/softmax.py", .set = {1, 2, 3, 4}}}), "");
}

TEST(VersionFinder, WhatHasNoNameOrNoFolderHasNoVersions) {
  EXPECT_EQ(Find({{.name = 0, .set = {1, 2}}, {.name = 0, .set = {1, 2, 3}}}), "");
  EXPECT_EQ(Find({{.path = "k.py", .set = {1, 2}}, {.path = "k.py", .set = {1, 2, 3}}}), "");
}

TEST(VersionFinder, OfEqualSetsTheFirstStandsForAll) {
  EXPECT_EQ(Find({{.set = {1, 2}}, {.set = {1, 2}}, {.set = {1, 2, 3, 4}}}), "0 2 0.5;");
}

TEST(VersionFinder, ManyOfOneNameAreNotComparedAllWithAll) {
  VersionFinder finder(0, 1, SpillOptions());
  v1::SignatureShard shard;
  for (uint64_t i = 0; i < 2000; ++i) {
    shard.mutable_sha256()->append(32, 'a');
    shard.add_names(7);
    shard.add_computations(0);
    shard.add_paths("a/b.py");
    shard.mutable_near()->add_hashes(i);
    shard.mutable_near()->add_sizes(4);
  }
  finder.Observe(shard);
  finder.EndObserving();
  for (uint64_t i = 0; i < 2000; ++i) {
    ASSERT_THAT(finder.Load(std::vector<uint64_t>{1, 2, 3, 10 + i}), IsOk());
  }
  Pairs pairs;
  ASSERT_THAT(finder.Find(&pairs), IsOk());
  EXPECT_GT(pairs.size(), 2000);
  EXPECT_LE(pairs.size(), 2000 * 16);
}

TEST(VersionFinder, ThePairsDoNotDependOnThePartitions) {
  const std::vector<Kernel> kernels = {{.set = {1, 2}},
                                       {.name = 8, .set = {1, 2}},
                                       {.set = {1, 2, 3}},
                                       {.name = 8, .set = {1, 2, 3, 4}}};
  const std::string all = Find(kernels);
  EXPECT_NE(all.find("0 2 "), std::string::npos);
  EXPECT_NE(all.find("1 3 "), std::string::npos);
  EXPECT_EQ(Find(kernels, 5).size(), all.size());
}

TEST(VersionFinder, MissingSetsAreSaid) {
  VersionFinder finder(0, 1, SpillOptions());
  v1::SignatureShard shard;
  shard.set_sha256(std::string(64, 'a'));
  for (const uint64_t hash : {1, 2}) {
    shard.add_names(7);
    shard.add_computations(0);
    shard.add_paths("a/b.py");
    shard.mutable_near()->add_hashes(hash);
    shard.mutable_near()->add_sizes(1);
  }
  finder.Observe(shard);
  finder.EndObserving();
  Pairs pairs;
  EXPECT_THAT(finder.Find(&pairs), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::deduplicator
