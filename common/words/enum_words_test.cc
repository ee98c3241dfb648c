#include "common/words/enum_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill {
namespace {

TEST(ToWord, TakesTheNameOfTheTypeAway) {
  EXPECT_EQ(ToWord(v1::DSL_TRITON), "triton");
  EXPECT_EQ(ToWord(v1::KERNEL_ROLE_DEVICE), "device");
  EXPECT_EQ(ToWord(v1::SOURCE_ROLE_HOLDOUT), "holdout");
}

TEST(ToWord, IsEmptyForUnspecifiedAndUnknownValues) {
  EXPECT_EQ(ToWord(v1::DSL_UNSPECIFIED), "");
  EXPECT_EQ(ToWord(static_cast<v1::Dsl>(1000)), "");
}

}  // namespace
}  // namespace kernelmill
