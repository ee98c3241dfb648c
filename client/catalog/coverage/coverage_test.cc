#include "client/catalog/coverage/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace kernelmill::client {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;

const KnownOperation kTable[] = {
    {"softmax", "aten", "#softmax", "softmax", true},
    {"fused softmax", "seeds", "#softmax", "softmax", true},
    {"gelu", "aten", "gelu", "activation", false},
    {"product and gelu", "kernelbench", "#matmul & gelu", "matmul", false},
    {"product, gelu and norm", "kernelbench", "#matmul & gelu & #norm", "matmul", false},
    {"ceil", "aten", "ceil & #elementwise|#untagged", "elementwise", false},
};

CatalogEntry Entry(const std::string& name, std::vector<std::string> tags) {
  CatalogEntry entry;
  entry.name = name;
  entry.path = "ops/x.py";
  entry.dsl = "triton";
  entry.license = "MIT";
  entry.tags = std::move(tags);
  entry.score = 0.9;
  entry.self_contained = true;
  return entry;
}

std::string NeedsText(const Coverage& coverage, size_t operation) {
  std::string what;
  for (const Need& need : coverage.needs()) {
    if (need.operation == operation) what += need.what + ";";
  }
  return what;
}

TEST(Coverage, AnOperationIsFoundByItsTagOrByAWholePhraseOfAName) {
  const std::vector<CatalogEntry> entries = {Entry("softmax_kernel", {"softmax"}),
                                             Entry("fused_ge_lu", {"activation"}),
                                             Entry("angelus", {"elementwise"})};
  Coverage coverage(kTable);
  for (uint32_t i = 0; i < entries.size(); ++i) coverage.Add(entries[i], i);
  coverage.Finish();
  EXPECT_EQ(coverage.operations()[0].forward, 1);
  EXPECT_EQ(coverage.operations()[0].best, 0u);
  EXPECT_EQ(coverage.operations()[2].forward, 1);
  EXPECT_THAT(coverage.operations()[2].fused_with, Contains(Pair("activation", 1)));
  EXPECT_THAT(coverage.operations()[2].licenses, ElementsAre(Pair("MIT", 1)));
}

TEST(Coverage, WhatIsMissingIsSaidWithTheNearestKernel) {
  const std::vector<CatalogEntry> entries = {Entry("softmax_kernel", {"softmax"}),
                                             Entry("matmul", {"matmul"})};
  Coverage coverage(kTable);
  for (uint32_t i = 0; i < entries.size(); ++i) coverage.Add(entries[i], i);
  coverage.Finish();
  EXPECT_EQ(NeedsText(coverage, 0), "no backward pass;");
  EXPECT_EQ(NeedsText(coverage, 2), "no kernel;");
  EXPECT_EQ(NeedsText(coverage, 3), "no kernel;");
  // Two lists ask for softmax, so its backward pass comes first.
  EXPECT_EQ(coverage.needs()[0].operation, 0u);
  EXPECT_THAT(WantedSearches(coverage, 1), ElementsAre("triton.jit softmax backward"));
}

TEST(Coverage, NearIsWhatHasTheFirstAndMostOfTheNamingParts) {
  const std::vector<CatalogEntry> entries = {
      Entry("matmul", {"matmul"}), Entry("gelu_norm", {"norm"}), Entry("matmul_gelu", {"matmul"}),
      Entry("add", {"elementwise"}), Entry("ceil_rows", {"quantization"})};
  Coverage coverage(kTable);
  for (uint32_t i : {0, 1, 3}) coverage.Add(entries[i], i);
  EXPECT_EQ(coverage.operations()[4].nearest, std::nullopt);
  EXPECT_EQ(coverage.operations()[5].nearest, std::nullopt);
  for (uint32_t i : {2, 4}) coverage.Add(entries[i], i);
  coverage.Finish();
  EXPECT_EQ(coverage.operations()[4].nearest, 2u);
  EXPECT_EQ(coverage.operations()[5].nearest, 4u);
  EXPECT_EQ(coverage.operations()[1].nearest, std::nullopt);
}

TEST(Coverage, TestsAndWhatIsBrokenCoverNothing) {
  CatalogEntry entry = Entry("softmax_kernel", {"softmax"});
  entry.kind = "test";
  Coverage coverage(kTable);
  coverage.Add(entry, 0);
  coverage.Finish();
  EXPECT_EQ(coverage.operations()[0].found(), 0);
  EXPECT_EQ(coverage.kernels(), 1);
}

TEST(Coverage, AHelperCountsWhereADecoratorOfTheRepositoryMayLaunchIt) {
  CatalogEntry entry = Entry("softmax_kernel", {"softmax"});
  entry.kind = "helper";
  Coverage coverage(kTable);
  coverage.Add(entry, 0);
  EXPECT_EQ(coverage.operations()[0].found(), 0);
  EXPECT_EQ(coverage.operations()[0].nearest, 0u);
  entry.decorated = true;
  coverage.Add(entry, 1);
  EXPECT_EQ(coverage.operations()[0].found(), 1);
}

TEST(Coverage, AsJsonNamesEachOperationOnceWithItsKernels) {
  const std::vector<CatalogEntry> entries = {Entry("softmax_kernel", {"softmax"})};
  Coverage coverage(kTable);
  coverage.Add(entries[0], 0);
  coverage.Finish();
  const auto json = nlohmann::json::parse(CoverageJson(coverage, entries));
  EXPECT_EQ(json["operations"].size(), std::size(kTable));
  EXPECT_EQ(json["operations"][0]["best"]["qualname"], entries[0].qualname);
  EXPECT_EQ(json["needed"].size(), coverage.needs().size());
}

TEST(OperationTable, HasEachNameOnceAndNoEmptyPart) {
  std::set<absl::string_view> names;
  for (const KnownOperation& operation : KnownOperations()) {
    EXPECT_TRUE(names.insert(operation.name).second) << operation.name;
    EXPECT_FALSE(operation.near.empty()) << operation.name;
    const std::string parts = absl::StrCat("|", operation.parts, "|");
    EXPECT_THAT(parts,
                Not(::testing::AnyOf(::testing::HasSubstr("||"), ::testing::HasSubstr("|&"),
                                     ::testing::HasSubstr("& |"), ::testing::HasSubstr("#|"))))
        << operation.name;
    // A condition is the last part.
    const size_t condition = operation.parts.find("#untagged");
    EXPECT_TRUE(condition == absl::string_view::npos || condition > operation.parts.rfind(" & "))
        << operation.name;
  }
}

}  // namespace
}  // namespace kernelmill::client
