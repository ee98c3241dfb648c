#include "services/coordinator/core/dispatch/worker_registry.h"

#include <gtest/gtest.h>

namespace kernelmill::coordinator {
namespace {

TEST(WorkerRegistry, ANewIncarnationEndsTheRunBefore) {
  WorkerRegistry registry;
  const auto first = registry.Hear("a", 11);
  EXPECT_NE(first.current, 0u);
  EXPECT_EQ(first.ended, 0u);
  EXPECT_EQ(registry.Hear("a", 11).current, first.current);
  EXPECT_EQ(registry.Hear("b", 12).ended, 0u);
  const auto second = registry.Hear("a", 13);
  EXPECT_NE(second.current, first.current);
  EXPECT_EQ(second.ended, first.current);
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
  EXPECT_EQ(registry.Hear("a", 0).current, 0u);
  EXPECT_EQ(registry.Hear("", 5).current, 0u);
}

TEST(WorkerRegistry, ForgetsWhomItHeardOfLongestAgo) {
  WorkerRegistry registry(2);
  registry.Hear("a", 1);
  const auto b = registry.Hear("b", 2);
  registry.Hear("a", 1);
  registry.Hear("c", 3);
  EXPECT_EQ(registry.Hear("a", 4).ended, 1u) << "a was heard of after b";
  EXPECT_NE(registry.Hear("b", 2).current, b.current);
}

}  // namespace
}  // namespace kernelmill::coordinator
