#include "services/deduplicator/adapters/rocksdb/rocksdb_spill.h"

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
using ::kernelmill::testing::StatusIs;

TEST(RocksdbSpill, GivesBackWhatWasPut) {
  const TempDir dir = *TempDir::Create();
  const auto spill = NewRocksdbSpill(dir.path());
  std::string bytes;
  EXPECT_THAT(spill->Get(1, &bytes), StatusIs(absl::StatusCode::kInternal));
  ASSERT_THAT(spill->Put(1, "one"), IsOk());
  ASSERT_THAT(spill->Put(1 << 20, ""), IsOk());
  ASSERT_THAT(spill->Get(1, &bytes), IsOk());
  EXPECT_EQ(bytes, "one");
  ASSERT_THAT(spill->Get(1 << 20, &bytes), IsOk());
  EXPECT_EQ(bytes, "");
  EXPECT_THAT(spill->Get(2, &bytes), StatusIs(absl::StatusCode::kInternal));
}

TEST(RocksdbSpill, LeavesNothingBehindAndMakesNothingInVain) {
  const TempDir dir = *TempDir::Create();
  auto spill = NewRocksdbSpill(dir.path());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  ASSERT_THAT(spill->Put(1, "one"), IsOk());
  EXPECT_FALSE(std::filesystem::is_empty(dir.path()));
  spill.reset();
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(SetStore, SetsAreTheSameInMemoryAndSpilled) {
  const TempDir dir = *TempDir::Create();
  const auto spill = NewRocksdbSpill(dir.path());
  SetStore sets(10 * sizeof(uint64_t), spill.get());
  std::vector<std::vector<uint64_t>> added;
  for (uint64_t i = 0; i < 20; ++i) {
    added.push_back({});
    for (uint64_t j = 0; j < i % 5; ++j) added.back().push_back(100 * i + j);
    ASSERT_THAT(sets.Add(added.back()), IsOk());
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

}  // namespace
}  // namespace kernelmill::deduplicator
