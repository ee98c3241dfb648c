#include "dataset/training/topic_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TopicWords, AreTheWordsThatSayWhatATextIsAbout) {
  EXPECT_THAT(FindTopicWords("Fix the int32 overflow in `chunk_fwd_kernel` (2)"),
              ElementsAre("chunk", "fwd", "int32", "overflow"));
  EXPECT_THAT(FindTopicWords("Fix some bugs and update the kernel"), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::dataset
