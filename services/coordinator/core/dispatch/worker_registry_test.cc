#include "services/coordinator/core/worker_registry.h"

#include <gtest/gtest.h>

namespace kernelmill::coordinator {
namespace {

TEST(WorkerRegistry, ANewIncarnationEndsTheRunBefore) {
  WorkerRegistry registry;
  const auto first = registry.Hear("a", 11);
  EXPECT_NE(first.run, 0u);
  EXPECT_EQ(first.ended, 0u);
  EXPECT_EQ(registry.Hear("a", 11).run, first.run);
  EXPECT_EQ(registry.Hear("b", 12).ended, 0u);
  const auto second = registry.Hear("a", 13);
  EXPECT_NE(second.run, first.run);
  EXPECT_EQ(second.ended, first.run);
  EXPECT_EQ(registry.Hear("a", 13).ended, 0u) << "only once";
}

TEST(WorkerRegistry, ANameThatTwoWorkersShareEndsNothing) {
  WorkerRegistry registry;
  registry.Hear("a", 11);
  registry.Hear("a", 12);
  EXPECT_EQ(registry.Hear("a", 11).ended, 0u);
  EXPECT_EQ(registry.Hear("a", 12).ended, 0u);
  EXPECT_EQ(registry.Hear("a", 13).ended, 0u);
}

TEST(WorkerRegistry, WhoDoesNotSayIsNotKnown) {
  WorkerRegistry registry;
  EXPECT_EQ(registry.Hear("a", 0).run, 0u);
  EXPECT_EQ(registry.Hear("", 5).run, 0u);
}

TEST(WorkerRegistry, ForgetsWhomItHeardOfLongestAgo) {
  WorkerRegistry registry(2);
  registry.Hear("a", 1);
  const auto b = registry.Hear("b", 2);
  registry.Hear("a", 1);
  registry.Hear("c", 3);
  EXPECT_EQ(registry.Hear("a", 4).ended, 1u) << "a was heard of after b";
  EXPECT_NE(registry.Hear("b", 2).run, b.run);
}

}  // namespace
}  // namespace kernelmill::coordinator
