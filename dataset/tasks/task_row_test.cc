#include "dataset/tasks/task_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/tasks/testing/made_evidence.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::HasSubstr;

const std::string kModule(64, 'a');

v1::Kernel Adder() {
  v1::Kernel kernel;
  kernel.set_name("add");
  kernel.set_qualname("add");
  kernel.set_dsl(dsl::kTriton);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_source("@triton.jit\ndef add(x, out, n, BLOCK: tl.constexpr, bias):\n    pass\n");
  kernel.set_signature("def add(x, out, n, BLOCK: tl.constexpr, bias):");
  kernel.set_docstring("Adds a bias to each element of a vector.");
  v1::Parameter* parameter = kernel.add_parameters();
  parameter->set_name("x");
  parameter->set_role(v1::PARAMETER_ROLE_POINTER);
  kernel.add_tags()->set_name("elementwise");
  return kernel;
}

// The row of a kernel with this evidence.
v1::TaskRow MakeRow(const std::vector<Json>& rows, const std::string& reference = "") {
  EvidenceIndex index;
  std::string text;
  for (const Json& row : rows) absl::StrAppend(&text, Canonical(row), "\n");
  EXPECT_THAT(index.AddFile("ev", "a.jsonl", text), IsOk());
  index.Finish();
  v1::TaskRow row;
  row.set_target("nvidia");
  if (!reference.empty()) row.mutable_reference()->set_kind(reference);
  FillEvidence(*index.Find({kModule, "add"}), Adder(), 0.8, &row);
  return row;
}

TEST(TaskRow, TheTextIsAPromptByItself) {
  const Json one = WithId(MakeCase(kModule, "add", 100));
  const v1::TaskRow row =
      MakeRow({one, MakeResult(one, "cpu", "exact"), MakeResult(one, "cuda:90", "close"),
               MakeResult(one, "cuda:80", "error")});
  EXPECT_EQ(
      row.text(),
      "Write a Triton kernel named `add` for NVIDIA GPUs.\n"
      "\nOperation: elementwise\n"
      "\nWhat it does:\n\nAdds a bias to each element of a vector.\n"
      "\nSignature:\n\n```python\ndef add(x, out, n, BLOCK: tl.constexpr, bias):\n```\n"
      "\nParameters:\n\n- `x`: pointer\n"
      "\nIt must serve launches such as these:\n\n"
      "- grid [2, 1, 1], num_warps = 4\n"
      "  - `x` is a float32 tensor [100], strides [1]\n"
      "  - `out` is a float32 tensor [100], strides [1], written\n"
      "  - `n` = 100 (int)\n"
      "  - `BLOCK` = 64\n"
      "  - `bias` is None\n"
      "\nIn all launches, also those that are not shown:\n\n"
      "- `n` is always 100\n"
      "- `BLOCK` is always 64\n"
      "- `bias` is always None\n"
      "- the grid is always 2 along axis 0\n"
      "- the grid is always 1 along axis 1\n"
      "- the grid is always 1 along axis 2\n"
      "- `x` and `out` are always float32\n"
      "\nWhat it writes may differ by this share of a value's size: 0.0002 for float32. Other "
      "types must be equal to the bit.\n"
      "\nIt is run on cpu, cuda:90.\n");
}

TEST(TaskRow, CasesThatDifferInTheirNumbersAloneAreOneLaunchInTheText) {
  std::vector<Json> rows;
  for (int seed = 0; seed < 12; ++seed) {
    Json one = MakeCase(kModule, "add", 100);
    one["storages"][0]["recipe"]["seed"] = seed;
    rows.push_back(WithId(one));
    rows.push_back(MakeResult(rows.back(), "cpu", "exact"));
  }
  const v1::TaskRow row = MakeRow(rows);
  EXPECT_GT(row.cases_size(), 1);
  const std::vector<std::string> parts = absl::StrSplit(row.text(), "- grid");
  EXPECT_EQ(parts.size(), 2u);
}

TEST(TaskRow, TheTextSaysWhichTensorsShareMemory) {
  Json one = MakeCase(kModule, "add", 100);
  one["arguments"][1]["tensor"]["storage"] = 0;
  one["arguments"][1]["tensor"]["offset"] = 3;
  one["storages"] = Json::array({one["storages"][0]});
  one["storages"][0]["bytes"] = 412;
  one["outputs"][0]["storage"] = 0;
  one = WithId(one);
  const v1::TaskRow row = MakeRow({one, MakeResult(one, "cpu", "exact")});
  EXPECT_THAT(row.text(),
              HasSubstr("`x` is a float32 tensor [100], strides [1], updated in place"));
  EXPECT_THAT(row.text(), HasSubstr("\n  - `x`, `out` share memory: `x` begins at element 0, `out` "
                                    "begins at element 3\n"));
  EXPECT_TRUE(row.cases(0).arguments(0).in_place());
  EXPECT_EQ(row.cases(0).arguments(1).storage(), 0);
  EXPECT_EQ(row.cases(0).arguments(1).offset(), 3);
  EXPECT_FALSE(row.cases(0).arguments(2).has_storage());
}

TEST(TaskRow, AReferenceInTheLibraryIsNamedAsOne) {
  std::vector<Json> rows = {MakeAdequacy(kModule, "add", 1)};
  for (const int size : {100, 200}) {
    rows.push_back(WithId(MakeCase(kModule, "add", size)));
    rows.push_back(MakeResult(rows.back(), "cpu", "exact"));
  }
  const v1::TaskRow independent = MakeRow(rows, "function");
  EXPECT_EQ(independent.verified_by(), "independent");
  EXPECT_THAT(independent.text(), HasSubstr("compared with those of:\n"));
  const v1::TaskRow library = MakeRow(rows, "library_path");
  EXPECT_TRUE(library.verified());
  EXPECT_EQ(library.verified_by(), "library_path");
  EXPECT_THAT(library.text(), HasSubstr("those of this function, which runs other kernels of"));
  EXPECT_EQ(MakeRow(rows).verified_by(), "");
}

TEST(TaskRow, ArgumentsWithoutNamesHaveThoseOfTheParameters) {
  Json one = MakeCase(kModule, "add", 100);
  one["arguments"][0].erase("name");
  one = WithId(one);
  const v1::TaskRow row = MakeRow({one, MakeResult(one, "cpu", "exact")});
  EXPECT_EQ(row.cases(0).arguments(0).name(), "x");
  EXPECT_EQ(row.cases(0).arguments(0).kind(), "tensor");
}

TEST(TaskRow, OutcomesAndScoresAreThoseOfAllCases) {
  const Json one = WithId(MakeCase(kModule, "add", 100));
  const Json two = WithId(MakeCase(kModule, "add", 200));
  const v1::TaskRow row =
      MakeRow({one, two, MakeResult(one, "cpu", "exact"), MakeResult(two, "cpu", "close"),
               MakeResult(two, "cuda:90", "different"), MakeSpeed(one, "cuda:90", 3),
               MakeAdequacy(kModule, "add", 0.75)});
  ASSERT_EQ(row.outcomes_size(), 2);
  EXPECT_EQ(row.outcomes(0).device(), "cpu");
  EXPECT_EQ(row.outcomes(0).toolchain(), "numpy 2.3.4, triton 3.5.1");
  EXPECT_EQ(row.outcomes(0).exact(), 1);
  EXPECT_EQ(row.outcomes(0).close(), 1);
  EXPECT_EQ(row.outcomes(0).relative(), 0.25);
  EXPECT_EQ(row.outcomes(1).different(), 1);
  ASSERT_EQ(row.cases_size(), 1);  // the other one differs
  EXPECT_EQ(row.cases(0).id(), one["id"]);
  EXPECT_EQ(row.cases(0).evidence(), Canonical(one));
  EXPECT_EQ(row.hidden_cases_size(), 0);
  EXPECT_EQ(row.cases_total(), 2);
  EXPECT_EQ(row.adequacy().mutants(0).kind(), "mask");
  EXPECT_EQ(row.speed(0).median_us(), 3);
  EXPECT_FALSE(row.speed(0).has_eager_us());
  EXPECT_FALSE(row.speed(0).fills());
  EXPECT_FALSE(row.verified());
  EXPECT_EQ(row.not_verified(), "different");
}

TEST(TaskRow, OfTwoTolerancesTheSmallerCounts) {
  const Json one = WithId(MakeCase(kModule, "add", 100));
  Json two = MakeCase(kModule, "add", 200);
  two["tolerance"] = {{"float32", 0.1}, {"bfloat16", 0.03}, {"int32", 0}};
  two = WithId(two);
  const v1::TaskRow row =
      MakeRow({one, two, MakeResult(one, "cpu", "exact"), MakeResult(two, "cpu", "exact")});
  ASSERT_EQ(row.tolerances_size(), 3);
  EXPECT_EQ(row.tolerances(0).dtype(), "bfloat16");
  EXPECT_EQ(row.tolerances(1).value(), 0.0002);
  EXPECT_THAT(row.text(), HasSubstr("0.03 for bfloat16, 0.0002 for float32. Other types must"));
}

}  // namespace
}  // namespace kernelmill::dataset
