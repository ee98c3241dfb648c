#include "services/coordinator/core/pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Pieces, HalvesCoverTheShardOnceDownToSingleFiles) {
  for (const int32_t files : {1, 2, 3, 7, 255, 256, 1000}) {
    std::vector<int> covered(files);
    std::vector<Piece> open = {kWhole};
    while (!open.empty()) {
      const Piece piece = open.back();
      open.pop_back();
      const Pieces::Range range = Pieces::RangeOf(files, piece);
      ASSERT_GE(range.count, 1) << files;
      if (range.count == 1) {
        ++covered[range.first];
        continue;
      }
      int32_t next = range.first;
      for (const Piece half : Pieces::Split(files, piece)) {
        EXPECT_EQ(Pieces::RangeOf(files, half).first, next);
        next += Pieces::RangeOf(files, half).count;
        open.push_back(half);
      }
      EXPECT_EQ(next, range.first + range.count);
    }
    EXPECT_EQ(covered, std::vector<int>(files, 1)) << files;
  }
}

TEST(Pieces, ASingleFileIsSetAsideAndThenNothingMoreCanBeDone) {
  EXPECT_THAT(Pieces::Split(1, kWhole), ElementsAre(kWhole | kSetAside));
  EXPECT_THAT(Pieces::Split(1, kWhole | kSetAside), IsEmpty());
  EXPECT_THAT(Pieces::Split(0, kWhole), IsEmpty());
}

TEST(Pieces, StandInTheOrderOfTheFilesWheneverTheyCame) {
  const auto ref = [](char name) {
    BlobRef ref;
    ref.hash[0] = name;
    return ref;
  };
  Pieces pieces;  // of 4 files: [0, 1) and [1, 2) are nodes 4 and 5, [2, 4) is node 3
  pieces.Take(3, ref('c'));
  pieces.Take(5 | kSetAside, ref('b'));
  pieces.Take(4, ref('a'));
  std::string order;
  for (const BlobRef& piece : pieces.InOrder(4)) order += piece.hash[0];
  EXPECT_EQ(order, "abc");
}

}  // namespace
}  // namespace kernelmill::coordinator
