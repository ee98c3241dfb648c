#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

// Blobs of all three places, all of them in tables and blob files.
class LostContentTest : public DatabaseTest {
 protected:
  void SetUp() override {
    contents_ = {"in line", Noise(kChunkBytes + 5, 1)};
    for (int i = 2; i < 12; ++i) contents_.push_back(Noise(100'000, i));
    {
      const auto storage = Open();
      for (const std::string& content : contents_) ASSERT_THAT(PutAny(*storage, content), IsOk());
    }
    Flush();
  }

  static absl::Status PutAny(Storage& storage, const std::string& content) {
    return static_cast<int64_t>(content.size()) > kChunkBytes ? PutLarge(storage, content)
                                                              : Put(storage, {content});
  }

  // Checks that exactly the blobs that cannot be read are marked. Returns their number.
  size_t ExpectMarksOfTheUnreadable(Storage& storage) {
    std::vector<BlobId> lost;
    for (const std::string& content : contents_) {
      if (!ReadAll(storage, content).ok()) lost.push_back(MakeId(content));
    }
    const absl::StatusOr<std::vector<BlobId>> marked = storage.blobs().Damaged();
    EXPECT_THAT(marked, IsOk());
    EXPECT_EQ(marked->size(), lost.size());
    EXPECT_THAT(*marked, IsSupersetOf(lost));
    return lost.size();
  }

  std::vector<std::string> contents_;
};

TEST_F(LostContentTest, WholeFilesLoseNothing) {
  const auto storage = Open();
  EXPECT_THAT(*storage->blobs().Damaged(), IsEmpty());
}

TEST_F(LostContentTest, BlobsOfACutFileAreMarked) {
  const std::vector<fs::path> files = Files(".blob");
  ASSERT_GT(files.size(), 1u);
  fs::resize_file(files[0], fs::file_size(files[0]) - 1);
  const auto storage = Open();
  const size_t lost = ExpectMarksOfTheUnreadable(*storage);
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, contents_.size());
  EXPECT_THAT(ReadAll(*storage, contents_[0]), IsOk());
}

TEST_F(LostContentTest, BlobsOfAMissingFileAreMarked) {
  for (const fs::path& file : Files(".blob")) fs::remove(file);
  const auto storage = Open();
  EXPECT_EQ(ExpectMarksOfTheUnreadable(*storage), contents_.size() - 1) << "one is in line";
}

TEST_F(LostContentTest, ABlobThatWasPutAgainIsNotMarkedAgain) {
  for (const fs::path& file : Files(".blob")) fs::resize_file(file, 40);
  {
    const auto storage = Open();
    EXPECT_EQ(storage->blobs().Damaged()->size(), contents_.size() - 1);
    for (const std::string& content : contents_) ASSERT_THAT(PutAny(*storage, content), IsOk());
    EXPECT_THAT(*storage->blobs().Damaged(), IsEmpty());
  }
  const auto storage = Open();
  EXPECT_EQ(ExpectMarksOfTheUnreadable(*storage), 0u);
}

}  // namespace
}  // namespace kernelmill::store
