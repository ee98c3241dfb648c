#include "client/catalog/entries/kernel_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "client/catalog/testing/catalog_rows.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(KernelRow, CountsItsLinesAndKnowsItsTags) {
  const v1::KernelRow kernel = testing::ToKernel(testing::SoftmaxRow());
  EXPECT_EQ(CountLines(kernel), 7);
  EXPECT_TRUE(HasTag(kernel, "softmax"));
  EXPECT_FALSE(HasTag(kernel, "soft"));
}

TEST(KernelRow, ListsTheChecksThatHaveAnOutcome) {
  EXPECT_THAT(ListChecks(testing::ToKernel(testing::SoftmaxRow())),
              ElementsAre(Pair("has_bounds_masking", "pass"), Pair("has_docstring", "pass"),
                          Pair("parses", "fail")));
}

TEST(KernelRow, ShowsASignatureOnOneLine) {
  v1::KernelRow::Compile::Signature signature;
  auto* argument = signature.add_arguments();
  argument->set_name("x");
  argument->set_type("*fp32");
  argument->set_rule("guess:float");
  auto* constant = signature.add_constexprs();
  constant->set_name("B");
  constant->set_value("64");
  constant->set_rule("launch");
  auto* option = signature.add_options();
  option->set_name("num_warps");
  option->set_value("4");
  option->set_rule("autotune");
  EXPECT_EQ(ToText(signature), "x: *fp32 (guess:float), B=64 (launch), num_warps=4 (autotune)");
}

TEST(KernelRow, ALauncherInATestFileIsATest) {
  nlohmann::json row = testing::SoftmaxRow();
  EXPECT_THAT(ListTestFiles(testing::ToKernel(row)), ElementsAre());
  row["launcher"]["path"] = "python/tests/test_softmax.py";
  EXPECT_THAT(ListTestFiles(testing::ToKernel(row)), ElementsAre("python/tests/test_softmax.py"));
  row["launcher"]["path"] = "python/latest/contest.py";
  EXPECT_THAT(ListTestFiles(testing::ToKernel(row)), ElementsAre());
}

TEST(KernelRow, AnIdThatCouldNameAnotherFileIsRefused) {
  nlohmann::json row = testing::SoftmaxRow();
  EXPECT_THAT(CheckKernelRow(testing::ToKernel(row)), IsOk());
  row["id"] = "../../../../../../../etc/passwd0";
  EXPECT_THAT(CheckKernelRow(testing::ToKernel(row)), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(KernelRow, TheFirstRowThatCannotBeShownEndsTheWalk) {
  const auto folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  nlohmann::json bad = testing::NumberedRow(2);
  bad["source"] = "";
  testing::WriteKernels(folder->path(), {testing::NumberedRow(1), bad, testing::NumberedRow(3)});
  std::vector<std::string> seen;
  EXPECT_THAT(ForEachKernel(folder->path(),
                            [&](const v1::KernelRow& kernel, const dataset::RowPlace&) {
                              seen.push_back(kernel.id());
                              return absl::OkStatus();
                            }),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(seen.size(), 1u);
}

}  // namespace
}  // namespace kernelmill::client
