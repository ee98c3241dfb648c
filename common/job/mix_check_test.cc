#include "common/job/mix_check.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

#include "common/testing/status_matchers.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;

std::string ProblemOf(const std::string& json) {
  v1::Mix mix;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &mix).ok()) << json;
  return std::string(CheckMix(mix).message());
}

// A mix of one phase with one part.
std::string PartProblem(const std::string& part) {
  return ProblemOf(R"({"corpora": [{"name": "web", "tokens": 5}], "phases": [{"name": "a",
                       "tokens": 10, "parts": [)" +
                   part + "]}]}");
}

TEST(CheckMix, AMixMayNameConfigsCorporaWeightsAndEpochs) {
  EXPECT_EQ(PartProblem(R"({"config": "fim", "weight": 2, "tiers": [1], "dsls": ["triton"]})"), "");
  EXPECT_EQ(PartProblem(R"({"corpus": "web"})"), "");
  EXPECT_EQ(ProblemOf(R"({"phases": [{"name": "a", "parts": [{"epochs": 3}]}]})"), "");
  EXPECT_THAT(CheckMix(v1::Mix()), IsOk());
}

TEST(CheckMix, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(PartProblem(R"({"config": "kernel"})"),
            "mix.phases[0].parts[0].config: unknown config \"kernel\"; kernels, fim, instruct, "
            "files are known");
  EXPECT_EQ(PartProblem(R"({"corpus": "books"})"),
            "mix.phases[0].parts[0].corpus: \"books\" is none of mix.corpora");
  EXPECT_EQ(PartProblem(R"({"corpus": "web", "tiers": [1]})"),
            "mix.phases[0].parts[0]: an outside corpus has no rows to choose from");
  EXPECT_EQ(PartProblem(R"({"weight": -1})"),
            "mix.phases[0].parts[0].weight: is not between 0 and 1e+09");
  EXPECT_EQ(PartProblem(R"({"epochs": "NaN"})"),
            "mix.phases[0].parts[0].epochs: is not between 0 and 10000");
  EXPECT_EQ(PartProblem(R"({"epochs": 1, "weight": 1})"),
            "mix.phases[0].parts[0]: has a weight and epochs: one of them says how much is read");
  EXPECT_EQ(PartProblem(R"({"tiers": [4]})"), "mix.phases[0].parts[0].tiers: a tier is 1, 2 or 3");
  EXPECT_EQ(ProblemOf(R"({"phases": [{"name": "../x", "tokens": 1, "parts": [{}]}]})"),
            "mix.phases[0].name: is not 1 to 64 letters, digits, '.', '_' and '-'");
  EXPECT_EQ(ProblemOf(R"({"phases": [{"name": "a", "tokens": 1, "parts": [{}]},
                                     {"name": "a", "tokens": 1, "parts": [{}]}]})"),
            "mix.phases[1].name: \"a\" is twice");
  EXPECT_EQ(ProblemOf(R"({"phases": [{"name": "a", "parts": [{}]}]})"),
            "mix.phases[0].tokens: is missing: parts without epochs share them");
  EXPECT_EQ(ProblemOf(R"({"phases": [{"name": "a", "tokens": 1}]})"),
            "mix.phases[0].parts: is missing");
}

}  // namespace
}  // namespace kernelmill::job
