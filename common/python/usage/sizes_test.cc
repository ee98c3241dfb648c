#include "common/python/usage/sizes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace kernelmill::python {
namespace {

std::optional<int64_t> Held(const SizeEquation& equation, absl::string_view name,
                            const std::map<std::string, int64_t>& values,
                            absl::string_view told = "") {
  return FindValueThatHolds(
      equation, name,
      [&](absl::string_view other) {
        return static_cast<int>(std::distance(values.begin(), values.find(std::string(other))));
      },
      [&](absl::string_view other) { return other != told; },
      [&](absl::string_view other) { return values.at(std::string(other)); });
}

TEST(SizeEquationsTest, TheLastGuessedSizeIsChanged) {
  const SizeEquation rows = {{32, {"B"}}, {1, {"A"}}};  // A == 32 * B
  EXPECT_EQ(Held(rows, "B", {{"A", 64}, {"B", 64}}), 2);
  EXPECT_EQ(Held(rows, "A", {{"A", 64}, {"B", 64}}), std::nullopt);
  EXPECT_EQ(Held(rows, "A", {{"A", 64}, {"B", 64}}, "B"), 2048);
}

TEST(SizeEquationsTest, WhatStandsOnBothSidesAndTwiceIsLeftAlone) {
  const SizeEquation square = {{1, {"M", "N2"}}, {1, {"M", "N", "N"}}};
  EXPECT_EQ(Held(square, "N2", {{"M", 16}, {"N", 16}, {"N2", 16}}), 256);
  EXPECT_EQ(Held(square, "N", {{"M", 16}, {"N", 16}, {"N2", 16}}), std::nullopt);
  EXPECT_EQ(Held(square, "M", {{"M", 16}, {"N", 16}, {"N2", 16}}), std::nullopt);
}

TEST(SizeEquationsTest, WhatHoldsOrDoesNotDivideIsLeftAlone) {
  const SizeEquation rows = {{32, {"B"}}, {1, {"A"}}};
  EXPECT_EQ(Held(rows, "B", {{"A", 64}, {"B", 2}}), std::nullopt);
  EXPECT_EQ(Held(rows, "B", {{"A", 16}, {"B", 64}}), std::nullopt);
  EXPECT_EQ(Held(rows, "B", {{"A", 0}, {"B", 64}}), std::nullopt);
}

TEST(SizeEquationsTest, AProductBeyondATensorIsNone) {
  EXPECT_TRUE(Multiply({1 << 10, {}}, {1 << 10, {}}).has_value());
  EXPECT_FALSE(Multiply({1 << 11, {}}, {1 << 10, {}}).has_value());
}

}  // namespace
}  // namespace kernelmill::python
