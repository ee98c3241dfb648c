#include "services/deduplicator/core/sign/word_overlap.h"

#include <gtest/gtest.h>

namespace kernelmill::deduplicator {
namespace {

// Expected values: Python's a, b = set(p.split()), set(c.split()); len(a & b), len(a | b).
TEST(WordOverlap, IsOfDistinctWords) {
  const Overlap overlap = WordOverlap({"x = load(p)\n\ty = x", "y = x + 1\r\n\vx = x"});
  EXPECT_EQ(overlap.common, 3u);
  EXPECT_EQ(overlap.total, 6u);
  EXPECT_EQ(WordOverlap({"a b", ""}).common, 0u);
  EXPECT_EQ(Similarity(WordOverlap({"", " "})), 0);
}

TEST(WordOverlap, TheLimitIsReachedByFourOfFive) {
  EXPECT_GE(Similarity(WordOverlap({"a b c d", "e d c b a"})), kLeakage);
  EXPECT_LT(Similarity(WordOverlap({"a b c", "d c b a"})), kLeakage);
}

}  // namespace
}  // namespace kernelmill::deduplicator
