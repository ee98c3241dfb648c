#include "services/extractor/core/history/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "form text unit [devices]" of each claim.
std::vector<std::string> Claims(absl::string_view message) {
  std::vector<std::string> out;
  for (const v1::Claim& claim : FindClaims(message)) {
    std::string text = absl::StrCat(claim.form(), " ");
    if (claim.has_value()) absl::StrAppend(&text, claim.value());
    if (claim.has_before()) absl::StrAppend(&text, claim.before(), ">", claim.after());
    absl::StrAppend(&text, " ", claim.unit());
    if (!claim.hardware().empty())
      absl::StrAppend(&text, " ", absl::StrJoin(claim.hardware(), ","));
    out.push_back(std::move(text));
  }
  return out;
}

TEST(CleanMessageTest, PeopleAreLeftOut) {
  EXPECT_EQ(
      CleanMessage("Fix a mask (#12)\n\nAsked by a.b@c.org, see x@y\n\n"
                   "Signed-off-by: A <a@b.org>\nCo-authored-by: B <b@c.org>\n* Reviewed-by: C\n"),
      "Fix a mask (#12)\n\nAsked by x.x@x.xxx, see x@y");
}

TEST(CleanMessageTest, DecoratorsAndMatricesStay) {
  EXPECT_EQ(CleanMessage("Use @triton.jit and a@b"), "Use @triton.jit and a@b");
}

TEST(FindRevertedTest, ReadsWhatGitWrites) {
  EXPECT_THAT(
      FindReverted("Revert \"x\"\n\nThis reverts commit 0123456789abcdef0123456789abcdef01234567."),
      ElementsAre("0123456789abcdef0123456789abcdef01234567"));
  EXPECT_THAT(FindReverted("This reverts commit abc."), IsEmpty());
}

TEST(FindClaimsTest, ReadsTwoValuesOfOneMeasure) {
  EXPECT_THAT(Claims("12.0 -> 8.7 ms"), ElementsAre("before_after 12>8.7 ms"));
  EXPECT_THAT(Claims("from 12ms to 8.7ms on A100"), ElementsAre("before_after 12>8.7 ms A100"));
  EXPECT_THAT(Claims("490 TFLOPS => 1,020 TFLOPS"), ElementsAre("before_after 490>1020 TFLOPS"));
}

TEST(FindClaimsTest, ReadsRatiosAndShares) {
  EXPECT_THAT(Claims("1.4x faster on H100"), ElementsAre("ratio 1.4 x H100"));
  EXPECT_THAT(Claims("30% speedup"), ElementsAre("percent 30 %"));
  EXPECT_THAT(Claims("reaches 650 TFLOPS"), ElementsAre("value 650 TFLOPS"));
  EXPECT_THAT(Claims("2\xc3\x97 speedup"), ElementsAre("ratio 2 x"));
}

TEST(FindClaimsTest, ReadsRatiosAndSharesBesideAMeasure) {
  EXPECT_THAT(Claims("fwd 22.8 -> 19.6 ms (1.16x)"),
              ElementsAre("before_after 22.8>19.6 ms", "ratio 1.16 x"));
  EXPECT_THAT(Claims("~392 us to ~363 us"), ElementsAre("before_after 392>363 us"));
  EXPECT_THAT(Claims("4096  0.180 ms  0.038 ms  4.7x  5378"),
              ElementsAre("value 0.18 ms", "value 0.038 ms", "ratio 4.7 x"));
  EXPECT_THAT(Claims("cost time: 0.05 s"), ElementsAre("value 0.05 s"));
}

TEST(FindClaimsTest, TheHeadOfATableSaysWhatItMeasures) {
  EXPECT_THAT(
      Claims("| N | old | new | speedup |\n|---|---|---|---|\n| 64 | 1.4 | 1.2 | **1.17x** |"),
      ElementsAre("ratio 1.17 x"));
  EXPECT_THAT(Claims("| N | tile |\n| 64 | 2x |\n\n3x"), IsEmpty());
}

TEST(FindClaimsTest, TheHeadOfATableOfColumnsSaysWhatItMeasures) {
  EXPECT_THAT(Claims("M   before   after   reduction\n\n1   3.2      1.9     39.1%"), IsEmpty());
  EXPECT_THAT(Claims("M   before   after   reduction\n1   3.2      1.9     39.1%\n"),
              ElementsAre("percent 39.1 %"));
  EXPECT_THAT(Claims("size ours theirs speedup\n1   3   4   2x\n"), ElementsAre("ratio 2 x"));
  EXPECT_THAT(Claims("size tiles\n1   3   4   2x\n"), IsEmpty());
}

TEST(FindClaimsTest, ASentenceGoesOnInTheNextLine) {
  EXPECT_THAT(Claims("the other order costs up to\n7% at larger shapes"),
              ElementsAre("percent 7 %"));
  EXPECT_THAT(Claims("the faster loop has\n4x buffer loads"), IsEmpty());
  EXPECT_THAT(Claims("It is faster.\n7% of the rows"), IsEmpty());
  EXPECT_THAT(Claims("It is faster\n- 7% of the rows"), IsEmpty());
}

TEST(FindClaimsTest, AFractionOfTimesNeedsNoMeasure) {
  EXPECT_THAT(Claims("~1.9x random / 3x local"), ElementsAre("ratio 1.9 x"));
  EXPECT_THAT(Claims("faster; 73% >= 1.0"), IsEmpty());
  EXPECT_THAT(Claims("latency (\xc2\xb1"
                     "3.1%)"),
              IsEmpty());
}

TEST(FindClaimsTest, ADeviceOfAnotherLineCountsIfItIsTheOnlyOne) {
  EXPECT_THAT(Claims("Tune for MI300X\n\n1.2x faster"), ElementsAre("ratio 1.2 x MI300X"));
  EXPECT_THAT(Claims("H100:\n1.2x faster\nB200:\n1.3x faster"),
              ElementsAre("ratio 1.2 x H100", "ratio 1.3 x B200"));
  EXPECT_THAT(Claims("H100 and A100\n\n1.2x faster"), ElementsAre("ratio 1.2 x"));
  EXPECT_THAT(Claims("1.2x faster\n\nH100 and A100"), ElementsAre("ratio 1.2 x"));
}

TEST(FindClaimsTest, ALongMessageHasTheFirstClaims) {
  std::string message = "Speed up\n\n";
  for (int i = 0; i < 13'000; ++i) message += "1 ms\n";
  message += "on an H100";
  const std::vector<v1::Claim> claims = FindClaims(message);
  ASSERT_EQ(claims.size(), 32);
  EXPECT_EQ(claims.back().hardware(0), "H100");
}

TEST(FindClaimsTest, OtherNumbersAreNoClaims) {
  EXPECT_THAT(Claims("Support 4x4 tiles and 16x16 blocks, faster"), IsEmpty());
  EXPECT_THAT(Claims("Use 50% of the rows"), IsEmpty());
  EXPECT_THAT(Claims("Change BLOCK 64 -> 128"), IsEmpty());
  EXPECT_THAT(Claims("Bump triton 3.1.0 -> 3.2.0 for speed"), IsEmpty());
  EXPECT_THAT(Claims("Fix #1234, faster"), IsEmpty());
  EXPECT_THAT(Claims("Support H100 and 8 GPUs"), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::extractor
