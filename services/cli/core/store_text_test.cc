#include "services/cli/core/store_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace kernelmill::cli {
namespace {

TEST(ShortBytes, HasThreeDigitsOrFour) {
  EXPECT_EQ(ShortBytes(0), "0 bytes");
  EXPECT_EQ(ShortBytes(1), "1 byte");
  EXPECT_EQ(ShortBytes(1023), "1023 bytes");
  EXPECT_EQ(ShortBytes(1024), "1.0 KiB");
  EXPECT_EQ(ShortBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(ShortBytes(3 << 29), "1.5 GiB");
  EXPECT_EQ(ShortBytes(std::numeric_limits<int64_t>::max()), "8.0 EiB");
}

TEST(StatText, ShowsHowFullTheStoreIsAndWhoHoldsWhat) {
  v1::StatResponse stat;
  stat.set_blobs(12);
  stat.set_blob_bytes(2048);
  stat.set_action_results(7);
  stat.set_disk_bytes(1024);
  stat.set_free_disk_bytes(1 << 20);
  v1::HoldInfo* run = stat.add_holds();
  run->set_name("job/j@a");
  run->set_everything_used_from_now(true);
  run->set_expires_in_ms(90'000);
  v1::HoldInfo* dataset = stat.add_holds();
  dataset->set_name("dataset/d@a");
  dataset->set_blobs(1);
  const std::string text = StatText(stat);
  EXPECT_THAT(text, ::testing::MatchesRegex("content +12 blobs, 2.0 KiB\naction results +7\n"
                                            "on disk +1.0 KiB, 1.0 MiB free\nholds +2\n"
                                            "  job/j@a +everything used since it began, for "
                                            "another 1:30\n  dataset/d@a +1 blob\n"));
  stat.set_limit_bytes(4096);
  EXPECT_THAT(StatText(stat), ::testing::HasSubstr("1.0 KiB of at most 4.0 KiB, 1.0 MiB free"));
}

TEST(VerifyText, ListsWhatIsDamaged) {
  v1::VerifyProgress last;
  last.set_blobs(3);
  last.set_bytes(1024);
  EXPECT_EQ(VerifyText(last, false), "3 blobs, 1.0 KiB read; all are whole\n");
  auto* damaged = last.add_damaged();
  damaged->set_hash("abc");
  damaged->set_size_bytes(5);
  EXPECT_EQ(VerifyText(last, false), "3 blobs, 1.0 KiB read; 1 blob damaged:\n  abc/5\n");
  EXPECT_EQ(VerifyText(last, true),
            "3 blobs, 1.0 KiB read; 1 blob damaged and dropped:\n  abc/5\n");
  v1::StatResponse whole;
  whole.set_blobs(9);
  whole.set_blob_bytes(4096);
  EXPECT_EQ(VerifyLine(last, whole), "3 of 9 blobs, 1.0 KiB of 4.0 KiB read, 1 damaged");
}

TEST(GarbageText, SaysWhatWentAndWhatCouldNot) {
  v1::CollectGarbageResponse response;
  response.set_dropped_blobs(2);
  response.set_dropped_bytes(1024);
  response.set_held_bytes(2048);
  EXPECT_EQ(GarbageText(response), "dropped 2 blobs, 1.0 KiB; 2.0 KiB are held and stay\n");
  response.set_held_bytes(0);
  EXPECT_EQ(GarbageText(response), "dropped 2 blobs, 1.0 KiB\n");
}

}  // namespace
}  // namespace kernelmill::cli
