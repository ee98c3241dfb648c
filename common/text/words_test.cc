#include "common/text/words.h"

#include <gtest/gtest.h>

namespace kernelmill {
namespace {

TEST(HashWords, DoNotDependOnLayoutQuotesAndCase) {
  EXPECT_EQ(HashWords("x = Torch.add(a, 'b')"), HashWords("x=torch . ADD ( a,\n\"B\" )"));
  EXPECT_NE(HashWords("a b"), HashWords("b a"));
  EXPECT_NE(HashWords("ab c"), HashWords("a bc"));
}

TEST(HashWords, LeaveOutANoticeAtTheHead) {
  EXPECT_EQ(HashWords("# Copyright 2024 Somebody\n# All rights reserved\nx = 1"),
            HashWords("x = 1"));
  EXPECT_NE(HashWords("# What follows is one\nx = 1"), HashWords("x = 1"));
}

TEST(HashWords, AreNoneOfAnEmptyText) { EXPECT_TRUE(HashWords(" \n()").empty()); }

}  // namespace
}  // namespace kernelmill
