#include "common/words/enum_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill {
namespace {

TEST(ToWord, TakesTheNameOfTheTypeAway) {
  EXPECT_EQ(ToWord(v1::KERNEL_FORM_CALLED), "called");
  EXPECT_EQ(ToWord(v1::KERNEL_ROLE_DEVICE), "device");
  EXPECT_EQ(ToWord(v1::SOURCE_ROLE_HOLDOUT), "holdout");
}

TEST(ToWord, IsEmptyForUnspecifiedAndUnknownValues) {
  EXPECT_EQ(ToWord(v1::KERNEL_ROLE_UNSPECIFIED), "");
  EXPECT_EQ(ToWord(static_cast<v1::KernelRole>(1000)), "");
}

}  // namespace
}  // namespace kernelmill
