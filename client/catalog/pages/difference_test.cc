#include "client/catalog/pages/difference.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::client {
namespace {

using Kind = DifferenceRow::Kind;

// "same 1 1", "change 2 2" and so on.
std::string Shown(const std::vector<DifferenceRow>& rows) {
  std::string shown;
  for (const DifferenceRow& row : rows) {
    switch (row.kind) {
      case Kind::kSame:
        shown += "= ";
        break;
      case Kind::kChanged:
        shown += "! ";
        break;
      case Kind::kLeftOnly:
        shown += "< ";
        break;
      case Kind::kRightOnly:
        shown += "> ";
        break;
      case Kind::kSkipped:
        shown += "... " + std::to_string(row.skipped) + "\n";
        continue;
    }
    shown += std::string(row.left) + "|" + std::string(row.right) + "\n";
  }
  return shown;
}

TEST(CompareLines, PutsEqualLinesBesideEachOther) {
  EXPECT_EQ(Shown(CompareLines("a\nb\nc\n", "a\nx\nc\nd\n")), "= a|a\n! b|x\n= c|c\n> |d\n");
  EXPECT_EQ(Shown(CompareLines("a\nb\n", "b\n")), "< a|\n= b|b\n");
}

TEST(CompareLines, SkipsWhatIsFarFromADifference) {
  EXPECT_EQ(Shown(CompareLines("1\n2\n3\n4\n5\nx\n", "1\n2\n3\n4\n5\ny\n")),
            "... 2\n= 3|3\n= 4|4\n= 5|5\n! x|y\n");
}

TEST(CompareLines, LineEndsOfWindowsAreNoDifference) {
  EXPECT_EQ(Shown(CompareLines("a\r\nb\r\n", "a\nb\n")), "... 2\n");
}

TEST(CompareLines, ReadsNoMoreThanItsBound) {
  std::string left;
  for (int i = 0; i < 5000; ++i) left += std::to_string(i) + "\n";
  EXPECT_LE(CompareLines(left, "x\n").size(), static_cast<size_t>(kMaxDifferenceLines) + 1);
}

}  // namespace
}  // namespace kernelmill::client
