#include "services/deduplicator/core/sign/shingles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/tokenizer.h"

namespace kernelmill::deduplicator {
namespace {

std::vector<uint64_t> Of(absl::string_view words) {
  return Shingles(TokenHashes(Tokenize(words, Language::kPython)));
}

TEST(Shingles, CountWindowsOfFive) {
  EXPECT_EQ(Of("a b c d e").size(), 1u);
  EXPECT_EQ(Of("a b c d e f g").size(), 3u);
}

TEST(Shingles, AShortSequenceIsOne) {
  EXPECT_EQ(Of("").size(), 0u);
  EXPECT_EQ(Of("a").size(), 1u);
  EXPECT_EQ(Of("a b c d").size(), 1u);
  EXPECT_NE(Of("a b c d"), Of("a b c"));
}

TEST(Shingles, AreASortedSet) {
  const std::vector<uint64_t> shingles = Of("a a a a a a a a b a a a a a a");
  EXPECT_TRUE(std::is_sorted(shingles.begin(), shingles.end()));
  EXPECT_EQ(shingles.size(), 6u);  // five with b in each place, and one without
}

TEST(Shingles, WhereATokenEndsCounts) { EXPECT_NE(Of("ab c"), Of("a bc")); }

TEST(Shingles, KnownAnswer) {
  // Computed with another implementation of XXH3. The values are part of stored data.
  EXPECT_THAT(Of("a b c d e f"),
              ::testing::ElementsAre(7549712281158456360ULL, 12913999203245096384ULL));
}

std::vector<uint64_t> Structure(absl::string_view source, Language language) {
  const std::vector<Token> tokens = Tokenize(source, language);
  return StructuralShingles(tokens, TokenHashes(tokens), MarkLocalNames(tokens, language, "k"));
}

std::vector<uint64_t> Python(absl::string_view source) {
  return Structure(source, Language::kPython);
}

TEST(StructuralShingles, RenamingAndConstantsDoNotCount) {
  const std::vector<uint64_t> plain = Python(
      "def f(x_ptr, n, BLOCK: tl.constexpr):\n  i = tl.program_id(0) * BLOCK\n"
      "  tl.store(x_ptr + i, 1.5, mask=i < n)\n  tl.debug('a')\n");
  EXPECT_EQ(plain, Python("def g(out, size, B: tl.constexpr):\n  at = tl.program_id(1) * B\n"
                          "  tl.store(out + at, 2, mask=at < size)\n  tl.debug('b')\n"));
}

TEST(StructuralShingles, WhatIsCalledAndWhichNamesAreTheSameCounts) {
  const std::vector<uint64_t> plain = Python("def f(x, y):\n  return tl.sum(x + y)\n");
  EXPECT_NE(plain, Python("def f(x, y):\n  return tl.max(x + y)\n"));
  EXPECT_NE(plain, Python("def f(x, y):\n  return tl.sum(x + x)\n"));
  EXPECT_NE(plain, Python("def f(x, y):\n  return tl.sum(x - y)\n"));
}

TEST(StructuralShingles, AKeywordIsNoNameThatMayBeChosen) {
  EXPECT_EQ(Python("mask = a < b\ntl.load(p, mask=mask)\n"),
            Python("valid = a < b\ntl.load(p, mask=valid)\n"));
  EXPECT_EQ(Python("def f(mask=None):\n  g(mask)\n"), Python("def f(m=None):\n  g(m)\n"));
}

TEST(StructuralShingles, FoldCToo) {
  const auto c = [](absl::string_view source) { return Structure(source, Language::kC); };
  EXPECT_EQ(c("void k(float* p, int n) { int i = threadIdx.x; if (i < n) p[i] = 1.f; }"),
            c("void k(float* q, int m) { int j = threadIdx.x; if (j < m) q[j] = 2.f; }"));
  EXPECT_NE(c("void k(float* p, int n) { int i = threadIdx.x; p[i] = n; }"),
            c("void k(float* p, int n) { int i = blockIdx.x; p[i] = n; }"));
}

TEST(Runs, AreWindowsOfThirteen) {
  EXPECT_EQ(Runs(std::vector<uint64_t>(12, 1)).size(), 0u);
  EXPECT_EQ(Runs(std::vector<uint64_t>(15, 1)).size(), 3u);  // as the text has them
}

TEST(Jaccard, CountsExactly) {
  const std::vector<uint64_t> a = {1, 3, 5, 7}, b = {3, 4, 5, 9, 11}, none;
  const Overlap overlap = Compare(a, b);
  EXPECT_EQ(overlap.common, 2u);
  EXPECT_EQ(overlap.total, 7u);
  EXPECT_EQ(Compare(a, a).common, 4u);
  EXPECT_EQ(Compare(a, a).total, 4u);
  EXPECT_EQ(Compare(a, none).total, 4u);
  EXPECT_EQ(Similarity(Compare(none, none)), 0);
}

TEST(Jaccard, EndsEarlyOnlyBelowTheThreshold) {
  for (uint64_t shift = 0; shift < 400; shift += 7) {
    std::vector<uint64_t> a, b;
    for (uint64_t i = 0; i < 400; ++i) {
      a.push_back(i);
      b.push_back(i + shift);
    }
    const Overlap all = Compare(a, b);
    const Overlap some = CompareAtLeast(a, b, 0.7);
    if (Similarity(all) >= 0.7) EXPECT_EQ(some.common, all.common);
    if (Similarity(all) < 0.7) EXPECT_LT(Similarity(some), 0.7);
  }
}

TEST(Jaccard, ASimilarityEqualToTheThresholdReachesIt) {
  for (uint32_t total = 1; total <= 3000; ++total) {
    EXPECT_GE(Similarity({7 * total, 10 * total}), 0.7);
    EXPECT_GE(Similarity({29 * total, 100 * total}), 0.29);
    EXPECT_LT(Similarity({7 * total - 1, 10 * total}), 0.7);
  }
}

TEST(Jaccard, SizesAloneMayRuleAPairOut) {
  EXPECT_TRUE(SizesMayReach(7, 10, 0.7));
  EXPECT_FALSE(SizesMayReach(10, 6, 0.7));
}

}  // namespace
}  // namespace kernelmill::deduplicator
