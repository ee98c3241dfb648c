#include "common/code/line_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelmill {
namespace {

std::vector<std::string> Split(absl::string_view text) {
  const LineIndex lines(text);
  std::vector<std::string> split;
  for (int line = 1; line <= lines.count(); ++line) {
    split.emplace_back(text.substr(lines.Begin(line), lines.End(line) - lines.Begin(line)));
  }
  EXPECT_EQ(CountLines(text), lines.count());
  return split;
}

TEST(LineIndexTest, SplitsAtEveryLineEndThatCPythonKnows) {
  using ::testing::ElementsAre;
  EXPECT_THAT(Split(""), ElementsAre());
  EXPECT_THAT(Split("a"), ElementsAre("a"));
  EXPECT_THAT(Split("a\nb"), ElementsAre("a\n", "b"));
  EXPECT_THAT(Split("a\r\nb\r\n"), ElementsAre("a\r\n", "b\r\n"));
  EXPECT_THAT(Split("a\rb\r"), ElementsAre("a\r", "b\r"));
  EXPECT_THAT(Split("a\n\rb\r\r\nc"), ElementsAre("a\n", "\r", "b\r", "\r\n", "c"));
}

TEST(LineIndexTest, FormFeedsAndOtherControlsEndNoLine) {
  EXPECT_THAT(Split("a\fb\vc\x1c"), ::testing::ElementsAre("a\fb\vc\x1c"));
}

TEST(LineIndexTest, FindsTheLineOfAnOffset) {
  const LineIndex lines("ab\ncd\r\ne");
  EXPECT_EQ(lines.LineAt(0), 1);
  EXPECT_EQ(lines.LineAt(2), 1);
  EXPECT_EQ(lines.LineAt(3), 2);
  EXPECT_EQ(lines.LineAt(6), 2);
  EXPECT_EQ(lines.LineAt(7), 3);
}

}  // namespace
}  // namespace kernelmill
