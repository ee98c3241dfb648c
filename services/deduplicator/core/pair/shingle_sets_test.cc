#include "services/deduplicator/core/pair/shingle_sets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;

std::vector<uint64_t> Numbers(uint64_t first, size_t count) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(first + i);
  return numbers;
}

TEST(ShingleSets, SetsAreTheSameInMemoryAndSpilled) {
  const TempDir dir = *TempDir::Create();
  ShingleSets sets({10 * sizeof(uint64_t), dir.path()});
  std::vector<std::vector<uint64_t>> added;
  for (uint64_t i = 0; i < 20; ++i) {
    // One larger than what is written at once.
    added.push_back(Numbers(100 * i, i == 15 ? 200'000 : i % 5));
    ASSERT_THAT(sets.Add(added.back()), IsOk());
    std::vector<uint64_t> buffer;
    ASSERT_THAT(sets.Get(i, &buffer), IsOk());  // not written to the file yet
  }
  EXPECT_GT(sets.spilled(), 0u);
  EXPECT_LT(sets.spilled(), 20u);
  std::vector<uint64_t> buffer;
  for (size_t i = 20; i-- > 0;) {
    const absl::StatusOr<absl::Span<const uint64_t>> set = sets.Get(i, &buffer);
    ASSERT_THAT(set, IsOk());
    EXPECT_EQ(std::vector<uint64_t>(set->begin(), set->end()), added[i]) << i;
  }
}

TEST(ShingleSets, TheTempFileHasNoNameThatCouldBeLeftBehind) {
  const TempDir dir = *TempDir::Create();
  ShingleSets sets({0, dir.path()});
  ASSERT_THAT(sets.Add(Numbers(1, 3)), IsOk());
  EXPECT_EQ(sets.spilled(), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(ShingleSets, AFolderThatCannotBeMadeIsAnError) {
  ShingleSets sets({0, "/proc/none"});
  EXPECT_FALSE(sets.Add(Numbers(1, 3)).ok());
}

}  // namespace
}  // namespace kernelmill::deduplicator
