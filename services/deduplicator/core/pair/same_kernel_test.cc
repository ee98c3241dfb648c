#include "services/deduplicator/core/pair/same_kernel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

struct Kernel {
  uint64_t name = 0;
  std::string path = "a.py";
  std::vector<uint64_t> operations = {1, 2};
  uint64_t computation = 0;
};

// Returns true if two kernels of that similarity, in percent, stay a pair.
bool AreOne(const Kernel& a, const Kernel& b, uint32_t common,
            SameKernel::Names names = SameKernel::Names::kCount, bool in_one_shard = true) {
  SameKernel same{SpillOptions()};
  v1::SignatureShard shard;
  for (const Kernel* kernel : {&a, &b}) {
    shard.mutable_sha256()->append(32, 'a');
    shard.add_names(kernel->name);
    shard.add_computations(kernel->computation);
    shard.add_paths(kernel->path);
    if (in_one_shard && kernel == &a) continue;
    same.Observe(shard);
    shard.Clear();
  }
  EXPECT_THAT(same.Load(0, a.operations), IsOk());
  EXPECT_THAT(same.Load(1, b.operations), IsOk());
  Pairs pairs;
  v1::Pair* pair = pairs.Add();
  pair->set_b(1);
  pair->set_common(common);
  pair->set_total(100);
  EXPECT_THAT(same.Filter(names, &pairs), IsOk());
  return pairs.size() == 1;
}

TEST(SameKernel, OtherOperationsAreAnotherKernel) {
  EXPECT_TRUE(AreOne({.name = 7, .path = "a.py"}, {.name = 8, .path = "b.py"}, 80));
  // A sigmoid-GLU is no SwiGLU, however alike they are.
  EXPECT_FALSE(AreOne({.name = 7, .path = "a.py", .operations = {1, 2}},
                      {.name = 8, .path = "b.py", .operations = {1, 3}}, 99));
  EXPECT_FALSE(AreOne({.name = 7, .path = "a.py", .operations = {1, 2}},
                      {.name = 8, .path = "b.py", .operations = {1, 2, 3}}, 99));
}

TEST(SameKernel, AVersionOfTheSameNameMayHaveMore) {
  EXPECT_TRUE(AreOne({.name = 7, .operations = {1, 2}}, {.name = 7, .operations = {1, 2, 3}}, 80));
  EXPECT_TRUE(AreOne({.name = 7, .operations = {1, 2, 3}}, {.name = 7, .operations = {2}}, 80));
  EXPECT_FALSE(AreOne({.name = 7, .operations = {1, 2}}, {.name = 7, .operations = {1, 3}}, 79));
  EXPECT_TRUE(AreOne({.name = 7, .operations = {1, 2}}, {.name = 7, .operations = {1, 3}}, 80));
  EXPECT_FALSE(AreOne({.operations = {1, 2}}, {.operations = {1, 3}}, 94));
  // Generated code has no name of its own.
  EXPECT_TRUE(AreOne({.operations = {1, 2}}, {.name = 7, .operations = {1, 2, 3}}, 80));
}

TEST(SameKernel, OtherComputationsAreAnotherKernelWhateverTheName) {
  const Kernel kernel = {.name = 7, .path = "a.py", .computation = 5};
  EXPECT_FALSE(AreOne(kernel, {.name = 7, .path = "b.py", .computation = 6}, 99));
  EXPECT_FALSE(AreOne(kernel, {.name = 8, .path = "b.py", .computation = 6}, 99));
  EXPECT_FALSE(AreOne({.computation = 5}, {.computation = 6}, 99));
  EXPECT_FALSE(AreOne(kernel, {.name = 7, .path = "b.py", .computation = 6}, 99,
                      SameKernel::Names::kDoNotCount));
  EXPECT_TRUE(AreOne(kernel, {.name = 7, .path = "b.py"}, 99)) << "it is not known";
}

TEST(SameKernel, OperationsOfAddressesDoNotCountWhereTheComputationIsKnown) {
  const Kernel kernel = {.name = 7, .path = "a.py", .operations = {1, 2}, .computation = 5};
  EXPECT_TRUE(
      AreOne(kernel, {.name = 8, .path = "b.py", .operations = {1, 3}, .computation = 5}, 71));
  EXPECT_FALSE(AreOne(kernel, {.name = 8, .path = "a.py", .computation = 5}, 94))
      << "named apart in one file";
}

TEST(SameKernel, WhatOneFileNamesApartIsTwo) {
  EXPECT_FALSE(AreOne({.name = 7}, {.name = 8}, 94));
  EXPECT_TRUE(AreOne({.name = 7}, {.name = 8}, 95));
  // The same path in two trees means two files.
  EXPECT_TRUE(AreOne({.name = 7}, {.name = 8}, 80, SameKernel::Names::kCount, false));
  EXPECT_TRUE(AreOne({}, {}, 80));
}

TEST(SameKernel, EqualSetsAreOneWhateverElse) {
  EXPECT_TRUE(AreOne({.name = 7, .operations = {1}}, {.name = 8, .operations = {2}}, 100));
}

TEST(SameKernel, OfFoldedNamesOperationsAloneCount) {
  const auto names = SameKernel::Names::kDoNotCount;
  EXPECT_TRUE(AreOne({.name = 7}, {.name = 8}, 90, names));
  EXPECT_FALSE(
      AreOne({.name = 7, .operations = {1, 2}}, {.name = 7, .operations = {1}}, 90, names));
  EXPECT_TRUE(AreOne({.name = 7, .operations = {1}}, {.name = 8, .operations = {2}}, 100, names));
}

TEST(SameKernel, RefusesWhatItWasNotGiven) {
  SameKernel same{SpillOptions()};
  EXPECT_THAT(same.Load(0, std::vector<uint64_t>{2, 1}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  Pairs pairs;
  pairs.Add()->set_total(1);
  EXPECT_THAT(same.Filter(SameKernel::Names::kCount, &pairs),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::deduplicator
