#include "services/deduplicator/adapters/file/file_spill.h"

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

TEST(FileSpill, GivesBackWhatWasAppended) {
  const TempDir dir = *TempDir::Create();
  const auto spill = NewFileSpill(dir.path());
  const std::string large(3 << 20, 'x');
  ASSERT_THAT(spill->Append("one"), IsOk());
  ASSERT_THAT(spill->Append(large), IsOk());
  ASSERT_THAT(spill->Append("two"), IsOk());
  std::string bytes(3, '\0');
  ASSERT_THAT(spill->Read(0, absl::MakeSpan(bytes)), IsOk());
  EXPECT_EQ(bytes, "one");
  ASSERT_THAT(spill->Read(3 + large.size(), absl::MakeSpan(bytes)), IsOk());
  EXPECT_EQ(bytes, "two");
  ASSERT_THAT(spill->Append("more"), IsOk());
  ASSERT_THAT(spill->Read(6 + large.size(), absl::MakeSpan(bytes)), IsOk());
  EXPECT_EQ(bytes, "mor");
  EXPECT_THAT(spill->Read(9 + large.size(), absl::MakeSpan(bytes)),
              StatusIs(absl::StatusCode::kInternal));
}

TEST(FileSpill, NeverHasANameThatCouldBeLeftBehind) {
  const TempDir dir = *TempDir::Create();
  auto spill = NewFileSpill(dir.path());
  ASSERT_THAT(spill->Append("one"), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(FileSpill, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_FALSE(NewFileSpill("/proc/none")->Append("one").ok());
}

TEST(SetStore, SetsAreTheSameInMemoryAndSpilled) {
  const TempDir dir = *TempDir::Create();
  const auto spill = NewFileSpill(dir.path());
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
