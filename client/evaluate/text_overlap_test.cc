#include "client/evaluate/text_overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::client {
namespace {

size_t CommonByTable(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

std::string MakeText(const std::vector<int>& names) {
  std::string text;
  for (const int name : names) absl::StrAppend(&text, "n", name, " ");
  return text;
}

TEST(EditSimilarity, IsThatOfTheLongestCommonSubsequence) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    // Around the words of 64 tokens.
    std::vector<int> a(random() % 200 + 1);
    std::vector<int> b(random() % 200 + 1);
    const unsigned names = random() % 6 + 1;
    for (int& name : a) name = static_cast<int>(random() % names);
    for (int& name : b) name = static_cast<int>(random() % (names + 1));
    const double expected =
        2 * static_cast<double>(CommonByTable(a, b)) / static_cast<double>(a.size() + b.size());
    EXPECT_EQ(EditSimilarity(MakeText(a), MakeText(b)), expected);
  }
}

TEST(EditSimilarity, TakesNoComments) {
  EXPECT_EQ(EditSimilarity("x = 1  # one\n", "x = 1\n"), 1);
  EXPECT_EQ(EditSimilarity("", ""), 1);
  EXPECT_EQ(EditSimilarity("", "x"), 0);
}

TEST(WordOverlap, IsTheJaccardSimilarityOfWords) {
  EXPECT_EQ(WordOverlap("a b  b\nc", "b c d"), 0.5);
  EXPECT_EQ(WordOverlap("", " \n"), 1);
}

}  // namespace
}  // namespace kernelmill::client
