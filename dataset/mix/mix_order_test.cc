#include "dataset/mix/mix_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace kernelmill::dataset {
namespace {

PhasePlan MakePlan(const std::vector<std::pair<uint32_t, int64_t>>& parts) {
  PhasePlan plan;
  plan.name = "phase";
  for (const auto& [rows, tokens] : parts) {
    PartPlan part;
    for (uint32_t i = 0; i < rows; ++i) part.rows.push_back({.row = i, .tokens = 10, .tier = 1});
    part.unique_tokens = 10 * rows;
    part.tokens = tokens;
    plan.parts.push_back(part);
  }
  return plan;
}

std::vector<MixOrder::Sample> GetOrder(const PhasePlan& plan, uint64_t seed) {
  std::vector<MixOrder::Sample> all;
  MixOrder order(plan, seed);
  MixOrder::Sample sample;
  while (order.Next(&sample)) all.push_back(sample);
  return all;
}

std::vector<uint32_t> ListRows(const std::vector<MixOrder::Sample>& samples) {
  std::vector<uint32_t> rows;
  for (const MixOrder::Sample& sample : samples) rows.push_back(sample.row);
  return rows;
}

TEST(MixOrder, EveryRowIsReadOnceAnEpoch) {
  const auto order = GetOrder(MakePlan({{50, 1250}}), 1);
  ASSERT_EQ(order.size(), 125u);
  std::map<uint32_t, int> times;
  for (size_t i = 0; i < 100; ++i) ++times[order[i].row];
  for (const auto& [row, count] : times) EXPECT_EQ(count, 2) << row;
  EXPECT_EQ(times.size(), 50u);
}

TEST(MixOrder, EveryStretchIsMixedAsTheWhole) {
  const auto order = GetOrder(MakePlan({{100, 30000}, {40, 10000}}), 1);
  ASSERT_EQ(order.size(), 4000u);
  int first = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    first += order[i].part == 0;
    EXPECT_LE(std::abs(first - 0.75 * static_cast<double>(i + 1)), 1.5) << i;
  }
}

TEST(MixOrder, TheSeedAloneChangesTheOrder) {
  const PhasePlan plan = MakePlan({{50, 500}});
  EXPECT_EQ(ListRows(GetOrder(plan, 1)), ListRows(GetOrder(plan, 1)));
  EXPECT_NE(ListRows(GetOrder(plan, 1)), ListRows(GetOrder(plan, 2)));
  const auto two = ListRows(GetOrder(MakePlan({{50, 1000}}), 1));
  EXPECT_NE(std::vector<uint32_t>(two.begin(), two.begin() + 50),
            std::vector<uint32_t>(two.begin() + 50, two.end()));
}

TEST(MixOrder, APartWithoutRowsIsPassedOver) {
  EXPECT_EQ(GetOrder(MakePlan({{0, 1000}, {5, 50}}), 1).size(), 5u);
  EXPECT_TRUE(GetOrder(MakePlan({}), 1).empty());
}

TEST(MixOrder, ANpyFileBeginsOnAMultipleOf64Bytes) {
  for (const int64_t samples : {int64_t{0}, int64_t{7}, int64_t{12345678901}}) {
    const std::string head = NpyHead(samples);
    EXPECT_EQ(head.size() % 64, 0u);
    EXPECT_EQ(head.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_EQ(head.back(), '\n');
  }
  std::string row;
  AppendNpyRow({1, 0x01020304}, &row);
  EXPECT_EQ(row, std::string("\x01\x00\x00\x00\x04\x03\x02\x01", 8));
}

}  // namespace
}  // namespace kernelmill::dataset
