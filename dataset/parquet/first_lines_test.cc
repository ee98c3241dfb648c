#include "dataset/parquet/first_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FilledFields Fields(std::initializer_list<size_t> bits) {
  FilledFields fields;
  for (const size_t bit : bits) fields.set(bit);
  return fields;
}

std::vector<int64_t> Chosen(const FirstLines& lines) {
  std::vector<int64_t> numbers;
  for (const FirstLines::Line& line : lines.Choose()) numbers.push_back(line.number);
  return numbers;
}

TEST(FirstLines, ABeginningThatShowsAllTypesStaysAsItIs) {
  FirstLines lines;
  EXPECT_THAT(lines.Choose(), IsEmpty());
  for (int i = 0; i < FirstLines::kLines - 1; ++i) lines.Add(Fields({1}), 10);
  lines.Add(Fields({2}), 10);
  for (int i = 0; i < 1000; ++i) lines.Add(Fields({1, 2}), 10);
  EXPECT_THAT(lines.Choose(), IsEmpty());
}

TEST(FirstLines, AFieldThatComesLateBringsItsSmallestLineAndThoseOfAllOtherFields) {
  FirstLines lines;
  lines.Add(Fields({1}), 30);
  lines.Add(Fields({1}), 20);
  for (int i = 2; i < FirstLines::kLines; ++i) lines.Add(Fields({}), 10);
  lines.Add(Fields({2}), 50);
  lines.Add(Fields({2, 3}), 40);
  lines.Add(Fields({2}), 45);
  EXPECT_THAT(Chosen(lines), ElementsAre(1, FirstLines::kLines + 1));
  const FirstLines::Line late = lines.Choose()[1];
  EXPECT_EQ(late.offset, 30 + 20 + 98 * 10 + 50);
  EXPECT_EQ(late.size, 40);
}

TEST(FirstLines, ALargeBeginningCountsByItsBytes) {
  FirstLines lines;
  lines.Add(Fields({1}), FirstLines::kBytes);
  lines.Add(Fields({1, 2}), FirstLines::kBytes * 2);
  EXPECT_THAT(Chosen(lines), ElementsAre(1));
}

TEST(FirstLines, ARowIsFoundWhereItsLineIs) {
  const std::vector<int64_t> first = {2, 5};
  std::vector<int64_t> lines;
  for (int64_t row = 0; row < 7; ++row) lines.push_back(LineOfRow(first, row));
  EXPECT_THAT(lines, ElementsAre(2, 3, 0, 4, 5, 1, 6));
  EXPECT_EQ(LineOfRow({}, 4), 4);
}

}  // namespace
}  // namespace kernelmill::dataset
