#include "services/extractor/core/history/line_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

TEST(UnifiedDiffTest, HasLineNumbersOfTheFilesAndThreeLinesAround) {
  const std::string before = "a\nb\nc\nd\ne\nf\ng\nh\n", after = "a\nb\nc\nd\nE\nf\ng\nh\n";
  EXPECT_EQ(UnifiedDiff({"x.py", before, 11}, {"y.py", after, 21}),
            "--- a/x.py\n+++ b/y.py\n@@ -12,7 +22,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n");
}

TEST(UnifiedDiffTest, DistantChangesAreHunksOfTheirOwn) {
  std::string before, after;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&before, i, "\n");
    absl::StrAppend(&after, i == 2 || i == 17 ? "new\n" : absl::StrCat(i, "\n"));
  }
  EXPECT_EQ(UnifiedDiff({"x", before}, {"x", after}),
            "--- a/x\n+++ b/x\n@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+new\n 3\n 4\n 5\n"
            "@@ -15,6 +15,6 @@\n 14\n 15\n 16\n-17\n+new\n 18\n 19\n");
}

TEST(UnifiedDiffTest, AddedAndRemovedLinesCount) {
  EXPECT_EQ(UnifiedDiff({"x", "a\n"}, {"x", "a\nb\n"}),
            "--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n a\n+b\n");
  EXPECT_EQ(UnifiedDiff({"x", "a\nb\n"}, {"x", "b\n"}),
            "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n-a\n b\n");
  EXPECT_EQ(UnifiedDiff({"x", ""}, {"x", "a\n"}), "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n");
}

TEST(UnifiedDiffTest, ALastLineWithoutAnEndIsMarked) {
  EXPECT_EQ(UnifiedDiff({"x", "a"}, {"x", "b\n"}),
            "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n");
}

TEST(UnifiedDiffTest, TextsTooFarApartAreOneHunk) {
  std::string before, after;
  for (int i = 0; i < 1500; ++i) {
    absl::StrAppend(&before, "a", i, "\n");
    absl::StrAppend(&after, "b", i, "\n");
  }
  EXPECT_THAT(UnifiedDiff({"x", before}, {"x", after}),
              ::testing::StartsWith("--- a/x\n+++ b/x\n@@ -1,1500 +1,1500 @@\n-a0\n-a1\n"));
}

}  // namespace
}  // namespace kernelmill::extractor
