#include "dataset/tasks/fixed_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::TaskRow::Argument* Add(const std::string& name, const std::string& kind,
                           const std::string& value, v1::TaskRow::Case* to) {
  v1::TaskRow::Argument* added = to->add_arguments();
  added->set_name(name);
  added->set_kind(kind);
  (kind == "tensor" ? *added->mutable_dtype() : *added->mutable_value()) = value;
  return added;
}

// A case of a kernel of these values.
struct Values {
  std::string n = "100";
  std::string act = "'relu'";
  std::string power = "2";
  std::string grid = "[2, 1, 1]";
  std::string dtype = "float32";
};

void AddCase(const Values& values, v1::TaskRow::Case* to) {
  Add("x", "tensor", values.dtype, to);
  Add("out", "tensor", "float32", to);
  Add("n", "scalar", values.n, to);
  Add("ACT", "constexpr", values.act, to);
  Add("power", "constexpr", values.power, to);
  Add("bias", "none", "", to);
  to->set_grid(values.grid);
}

// Returns the row with these cases; the last one is hidden if there are several.
v1::TaskRow MakeRow(const std::vector<Values>& cases) {
  v1::TaskRow row;
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool hidden = i > 0 && i + 1 == cases.size();
    AddCase(cases[i], hidden ? row.add_hidden_cases() : row.add_cases());
  }
  FillFixed(&row);
  return row;
}

std::vector<std::string> Describe(const v1::TaskRow& row) {
  std::vector<std::string> found;
  for (const v1::TaskRow::Fixed& fixed : row.fixed()) {
    found.push_back(
        absl::StrCat(fixed.name(), " ", fixed.kind(), " ", absl::StrJoin(fixed.values(), "|")));
  }
  return found;
}

TEST(FixedValues, AreThoseOfAllCasesHiddenOnesToo) {
  EXPECT_THAT(
      Describe(MakeRow({{}, {.n = "200", .grid = "[4, 1, 1]"}})),
      ElementsAre("x tensor float32", "out tensor float32", "ACT constexpr 'relu'",
                  "power constexpr 2", "bias none None", "grid[1] grid 1", "grid[2] grid 1"));
  // The hidden case alone has another type, and more programs along axis 1.
  EXPECT_THAT(
      Describe(MakeRow({{}, {}, {.grid = "[2, 3, 1]", .dtype = "float16"}})),
      ElementsAre("out tensor float32", "n scalar 100", "ACT constexpr 'relu'", "power constexpr 2",
                  "bias none None", "grid[0] grid 2", "grid[2] grid 1"));
}

TEST(FixedValues, OptionsWithFewValuesAreNamed) {
  const v1::TaskRow row = MakeRow({{}, {.act = "'gelu'", .power = "1"}, {.n = "7", .act = "None"}});
  EXPECT_THAT(Describe(row), ::testing::Contains("ACT constexpr 'gelu'|'relu'|None"));
  EXPECT_THAT(Describe(row), ::testing::Contains("power constexpr 1|2"));
  EXPECT_THAT(FixedText(row), HasSubstr("- `ACT` is always 'gelu', 'relu' or None\n"));
  // Sizes of hidden cases are not told.
  EXPECT_THAT(FixedText(MakeRow({{.power = "64"}, {.power = "57"}})), Not(HasSubstr("57")));
}

TEST(FixedValues, AParameterThatACaseLacksIsNotFixed) {
  v1::TaskRow row = MakeRow({{}, {}});
  row.mutable_hidden_cases(0)->mutable_arguments()->RemoveLast();
  FillFixed(&row);
  EXPECT_THAT(Describe(row), Not(::testing::Contains("bias none None")));
  EXPECT_THAT(Describe(v1::TaskRow()), IsEmpty());
}

TEST(FixedValues, TheTextSaysThem) {
  EXPECT_EQ(FixedText(MakeRow({{}, {.n = "200", .grid = "[4, 1, 1]"}})),
            "\nIn all launches, also those that are not shown:\n\n"
            "- `ACT` is always 'relu'\n"
            "- `power` is always 2\n"
            "- `bias` is always None\n"
            "- the grid is always 1 along axis 1\n"
            "- the grid is always 1 along axis 2\n"
            "- `x` and `out` are always float32\n");
  EXPECT_EQ(FixedText(v1::TaskRow()), "");
  const std::string text = FixedText(MakeRow({{.n = std::string(300, '1')}}));
  EXPECT_THAT(text, HasSubstr("- `n` is always (long)\n"));
}

}  // namespace
}  // namespace kernelmill::dataset
