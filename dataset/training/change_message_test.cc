#include "dataset/training/change_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangeMessage, LeavesOutWhatIsNotAboutTheChange) {
  const ChangeMessage message = ReadChangeMessage(
      "[GLA] Fix the mask of the tail (#12) (#34)\n"
      "\n"
      "## Summary\n"
      "<!--- A required section;\n"
      "please fill it in. --->\n"
      "The last block read past the end.\n"
      "![a picture](x.png)\n"
      "\n"
      "| a | b\n"
      "c |\n"
      "- [x] ran the tests\n"
      "Rows are masked now:\n"
      "```python\n"
      "# rows\n"
      "m = i < n\n"
      "```\n"
      "Fixes #7.\n"
      "https://example.org/7\n"
      "Co-authored-by: Somebody <xxx@xxx.xxx>\n"
      "\n"
      "## Testing Done\n"
      "All pass.\n");
  EXPECT_EQ(message.subject, "[GLA] Fix the mask of the tail");
  EXPECT_EQ(message.details,
            "The last block read past the end.\n"
            "\n"
            "Rows are masked now:\n"
            "```python\n"
            "# rows\n"
            "m = i < n\n"
            "```");
}

TEST(ChangeMessage, LeavesOutTheSubjectsOfSquashedCommits) {
  EXPECT_EQ(ReadChangeMessage("Fix a\n\n* fix lint\n\n* fix lint again\n").details, "");
  EXPECT_EQ(ReadChangeMessage("Fix a\n\n- mask the tail\n").details, "- mask the tail");
  EXPECT_EQ(ReadChangeMessage("Fix a\n\nWhy.\n\nTest plan: run it\nIt ran.\n").details, "Why.");
  EXPECT_EQ(ReadChangeMessage("Fix a\n\nWhy.\n\n- Hardware Type: H100\n- [x] ran").details, "Why.");
  EXPECT_EQ(ReadChangeMessage("Fix a").details, "");
  EXPECT_EQ(ReadChangeMessage("").subject, "");
}

TEST(TopicWords, AreTheWordsThatSayWhatATextIsAbout) {
  EXPECT_THAT(FindTopicWords("Fix the int32 overflow in `chunk_fwd_kernel` (2)"),
              ElementsAre("chunk", "fwd", "int32", "overflow"));
  EXPECT_THAT(FindTopicWords("Fix some bugs and update the kernel"), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::dataset
