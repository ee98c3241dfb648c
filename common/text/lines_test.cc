#include "common/text/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitLines, KeepsLineEndsAndTheLastLineWithoutOne) {
  EXPECT_THAT(SplitLines(""), IsEmpty());
  EXPECT_THAT(SplitLines("a\n\nb"), ElementsAre("a\n", "\n", "b"));
  EXPECT_THAT(SplitLines("a\r\n"), ElementsAre("a\r\n"));
}

}  // namespace
}  // namespace kernelmill
