#include "services/coordinator/core/plan/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SubShard, HalvesCoverTheShardOnceDownToSingleFiles) {
  for (const int32_t files : {1, 2, 3, 7, 255, 256, 1000}) {
    std::vector<int> covered(files);
    std::vector<SubShard> open = {kWholeShard};
    while (!open.empty()) {
      const SubShard part = open.back();
      open.pop_back();
      const ItemRange range = GetItems(part, files);
      ASSERT_GE(range.count, 1) << files;
      if (range.count == 1) {
        ++covered[range.first];
        continue;
      }
      int32_t next = range.first;
      for (const SubShard half : Split(part, files)) {
        EXPECT_EQ(GetItems(half, files).first, next);
        next += GetItems(half, files).count;
        open.push_back(half);
      }
      EXPECT_EQ(next, range.first + range.count);
    }
    EXPECT_EQ(covered, std::vector<int>(files, 1)) << files;
  }
}

TEST(SubShard, ASingleFileIsQuarantinedAndThenNothingMoreCanBeDone) {
  EXPECT_THAT(Split(kWholeShard, 1), ElementsAre(kWholeShard | kQuarantined));
  EXPECT_THAT(Split(kWholeShard | kQuarantined, 1), IsEmpty());
  EXPECT_THAT(Split(kWholeShard, 0), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::coordinator
