#include "dataset/mix/mix_plan.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::dataset {
namespace {

using ::testing::HasSubstr;

v1::Mix ReadMix(const std::string& json) {
  v1::Mix mix;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &mix).ok()) << json;
  return mix;
}

MixRow Row(uint32_t row, uint32_t tokens, int16_t tier) {
  MixRow made;
  made.row = row;
  made.tokens = tokens;
  made.tier = tier;
  return made;
}

// 100 kernels of 1,000 tokens each, every tenth of tier 1; 50 rows of 10 tokens to fill in.
MixRows Rows() {
  MixRows rows;
  for (uint32_t i = 0; i < 100; ++i) rows["kernels"].push_back(Row(i, 1000, i % 10 == 0 ? 1 : 2));
  for (uint32_t i = 0; i < 50; ++i) rows["fim"].push_back(Row(i, 10, 2));
  return rows;
}

bool FitsTier(const v1::MixPart& part, const MixRow& row) {
  return part.tiers_size() == 0 || part.tiers(0) == row.tier;
}

TEST(PlanMix, WeightsDivideAPhasesTokens) {
  const auto plan = PlanMix(ReadMix(R"({"phases": [{"name": "a", "tokens": 40000, "parts": [
      {"weight": 3}, {"config": "fim"}]}]})"),
                            Rows(), FitsTier);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].parts[0].tokens, 30000);
  EXPECT_EQ(plan[0].parts[0].unique_tokens, 100000);
  EXPECT_DOUBLE_EQ(plan[0].parts[0].epochs, 0.3);
  EXPECT_EQ(plan[0].parts[1].tokens, 10000);
  EXPECT_DOUBLE_EQ(plan[0].parts[1].epochs, 20);
  EXPECT_EQ(plan[0].parts[0].warning, "");
  EXPECT_EQ(plan[0].parts[1].warning,
            "10000 tokens of 500 unique ones are 20.0 epochs, more than 4");
}

TEST(PlanMix, EpochsComeFirstAndWeightsShareWhatIsLeft) {
  const auto plan =
      PlanMix(ReadMix(R"({"corpora": [{"name": "web", "tokens": 50000000}], "phases": [
      {"name": "a", "tokens": 1000000, "parts": [
          {"epochs": 7, "tiers": [1]}, {"corpus": "web"}]}], "max_epochs": 10})"),
              Rows(), FitsTier);
  const PhasePlan& phase = plan[0];
  EXPECT_EQ(phase.parts[0].rows.size(), 10u);
  EXPECT_EQ(phase.parts[0].tokens, 70000);
  EXPECT_EQ(phase.parts[1].tokens, 930000);
  EXPECT_DOUBLE_EQ(phase.parts[1].share, 0.93);
  EXPECT_DOUBLE_EQ(phase.parts[1].epochs, 0.0186);
  EXPECT_EQ(phase.parts[0].warning, "");
}

TEST(PlanMix, APhaseWithoutTokensIsWhatItsEpochsComeTo) {
  const auto plan = PlanMix(
      ReadMix(
          R"({"phases": [{"name": "a", "parts": [{"epochs": 2}, {"config": "fim", "epochs": 1}]}]})"),
      Rows(), FitsTier);
  EXPECT_EQ(plan[0].tokens, 200500);
}

TEST(PlanMix, APartThatNothingFitsIsNamed) {
  const auto plan = PlanMix(
      ReadMix(
          R"({"phases": [{"name": "a", "tokens": 10, "parts": [{"tiers": [3]}, {"config": "files"}]}]})"),
      Rows(), FitsTier);
  EXPECT_THAT(plan[0].parts[0].warning, HasSubstr("nothing fits"));
  EXPECT_THAT(plan[0].parts[1].warning, HasSubstr("nothing fits"));
}

TEST(PlanMix, OnlyConfigsThatAPartNamesAreDrawnFrom) {
  const v1::Mix mix = ReadMix(R"({"phases": [{"name": "a", "parts": [{}, {"corpus": "web"},
                                {"config": "fim"}]}]})");
  EXPECT_TRUE(MixDrawsFrom(mix, "kernels"));
  EXPECT_TRUE(MixDrawsFrom(mix, "fim"));
  EXPECT_FALSE(MixDrawsFrom(mix, "instruct"));
}

}  // namespace
}  // namespace kernelmill::dataset
