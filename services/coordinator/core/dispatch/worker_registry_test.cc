#include "services/coordinator/core/dispatch/worker_registry.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace kernelmill::coordinator {
namespace {

constexpr Clock::Time kNow{std::chrono::hours(1)};

WorkerRegistry::Runs Hear(WorkerRegistry& registry, const std::string& name, uint64_t incarnation,
                          const std::string& caller = "") {
  return registry.Hear({caller, name}, {.incarnation = incarnation}, kNow);
}

TEST(WorkerRegistry, ANewIncarnationEndsTheRunBefore) {
  WorkerRegistry registry;
  const auto first = Hear(registry, "a", 11);
  EXPECT_NE(first.current, 0u);
  EXPECT_EQ(first.ended, 0u);
  EXPECT_TRUE(first.began);
  EXPECT_EQ(Hear(registry, "a", 11).current, first.current);
  EXPECT_FALSE(Hear(registry, "a", 11).began);
  EXPECT_EQ(Hear(registry, "b", 12).ended, 0u);
  const auto second = Hear(registry, "a", 13);
  EXPECT_NE(second.current, first.current);
  EXPECT_EQ(second.ended, first.current);
  EXPECT_TRUE(second.began);
  EXPECT_EQ(Hear(registry, "a", 13).ended, 0u) << "only once";
}

TEST(WorkerRegistry, ANameThatTwoWorkersShareEndsNothing) {
  WorkerRegistry registry;
  Hear(registry, "a", 11);
  Hear(registry, "a", 12);
  EXPECT_EQ(Hear(registry, "a", 11).ended, 0u);
  EXPECT_EQ(Hear(registry, "a", 12).ended, 0u);
  EXPECT_EQ(Hear(registry, "a", 13).ended, 0u);
}

TEST(WorkerRegistry, AnotherCallerWithTheSameNameIsAnotherWorker) {
  WorkerRegistry registry;
  const auto first = Hear(registry, "a", 11, "worker w1");
  EXPECT_EQ(Hear(registry, "a", 12, "worker w2").ended, 0u);
  EXPECT_EQ(Hear(registry, "a", 11, "worker w1").current, first.current);
}

TEST(WorkerRegistry, WhoDoesNotSayIsNotKnown) {
  WorkerRegistry registry;
  EXPECT_EQ(Hear(registry, "a", 0).current, 0u);
  EXPECT_EQ(Hear(registry, "", 5).current, 0u);
}

TEST(WorkerRegistry, ForgetsWhomItHeardOfLongestAgo) {
  WorkerRegistry registry(2);
  Hear(registry, "a", 1);
  const auto b = Hear(registry, "b", 2);
  registry.HearAgain({"", "a"}, kNow);
  Hear(registry, "c", 3);
  EXPECT_EQ(Hear(registry, "a", 4).ended, 1u) << "a was heard of after b";
  EXPECT_NE(Hear(registry, "b", 2).current, b.current);
  EXPECT_EQ(registry.entries().size(), 2u);
}

TEST(WorkerRegistry, RenewalsAndResultsCountAsHeard) {
  WorkerRegistry registry;
  Hear(registry, "a", 1);
  registry.HearAgain({"", "a"}, kNow + std::chrono::seconds(7));
  registry.HearAgain({"", "stranger"}, kNow);
  ASSERT_EQ(registry.entries().size(), 1u) << "who never asked stays unknown";
  EXPECT_EQ(registry.entries().begin()->second.heard, kNow + std::chrono::seconds(7));
}

}  // namespace
}  // namespace kernelmill::coordinator
