#include "common/text/commit_message.h"

#include <gtest/gtest.h>

namespace kernelmill {
namespace {

TEST(CommitMessage, LeavesOutWhatIsNotAboutTheChange) {
  const CommitMessage message = ReadCommitMessage(
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

TEST(CommitMessage, LeavesOutTheSubjectsOfSquashedCommits) {
  EXPECT_EQ(ReadCommitMessage("Fix a\n\n* fix lint\n\n* fix lint again\n").details, "");
  EXPECT_EQ(ReadCommitMessage("Fix a\n\n- mask the tail\n").details, "- mask the tail");
  EXPECT_EQ(ReadCommitMessage("Fix a\n\nWhy.\n\nTest plan: run it\nIt ran.\n").details, "Why.");
  EXPECT_EQ(ReadCommitMessage("Fix a\n\nWhy.\n\n- Hardware Type: H100\n- [x] ran").details, "Why.");
  EXPECT_EQ(ReadCommitMessage("Fix a").details, "");
  EXPECT_EQ(ReadCommitMessage("").subject, "");
}

TEST(CommitMessage, OfAMergeTheTitleOfItsRequestIsTheSubject) {
  const CommitMessage merge =
      ReadCommitMessage("Merge pull request #1 from a/feature/x\n\nSpeed up x\n\nIt was slow.\n");
  EXPECT_EQ(merge.subject, "Speed up x");
  EXPECT_EQ(merge.details, "It was slow.");
  EXPECT_EQ(ReadCommitMessage("Merge pull request #1 from a/feature/fix-x").subject, "fix-x");
}

TEST(CommitMessage, HeadingsAndFieldsOfFormsEndAParagraph) {
  EXPECT_EQ(ReadCommitMessage("Fix a\n\nSummary:\nWhy.\nPull Request resolved: https://x.y/1\n"
                              "## Changes\nWhat.\nDifferential Revision: D12\n")
                .details,
            "Why.\n\nWhat.");
}

}  // namespace
}  // namespace kernelmill
