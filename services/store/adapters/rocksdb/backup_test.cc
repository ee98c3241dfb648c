#include "common/rocksdb/backup.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/rocksdb/backups.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class BackupTest : public DatabaseTest {
 protected:
  std::string backup() const { return dir_.path() + "/backups/nightly"; }
  std::string restored() const { return dir_.path() + "/restored"; }
  const std::string small_ = "small";
  const std::string body_ = Noise(100'000, 1);
  const std::string large_ = Noise(2 * kChunkBytes + 1, 2);
};

TEST_F(BackupTest, ABackupHoldsAllAndServingGoesOn) {
  auto storage = Open();
  ASSERT_THAT(Put(*storage, {small_, body_}, 4), IsOk());
  ASSERT_THAT(PutLarge(*storage, large_), IsOk());
  ASSERT_THAT(storage->blobs().PutResult("i", MakeId("action"), "result", 4), IsOk());
  ASSERT_THAT(storage->holds().Save({.name = "kept", .blobs = 1}, {MakeId(body_)}), IsOk());
  const auto bytes = storage->disk().BackUp(backup());
  ASSERT_THAT(bytes, IsOk());
  EXPECT_GT(*bytes, static_cast<int64_t>(large_.size()));
  ASSERT_THAT(Put(*storage, {"after"}), IsOk());
  storage.reset();
  ASSERT_THAT(RestoreBackup(kStoreDatabase, backup(), restored()), IsOk());
  const auto copy = OpenRocksDbStorage(restored());
  ASSERT_THAT(copy, IsOk());
  EXPECT_EQ(*ReadAll(**copy, small_), small_);
  EXPECT_EQ(*ReadAll(**copy, body_), body_);
  EXPECT_TRUE(*ReadAll(**copy, large_) == large_);
  EXPECT_EQ((*copy)->blobs().GetResult("i", MakeId("action"))->bytes, "result");
  EXPECT_EQ((*copy)->holds().List()->size(), 1u);
  EXPECT_EQ((*copy)->blobs().usage().blobs, 3);
  EXPECT_EQ((*copy)->uses().LastUses({MakeId(small_)})->front(), 4u);
  EXPECT_FALSE(HasBlob(**copy, "after"));
}

// A store and a coordinator that share a folder for backups.
TEST_F(BackupTest, OneOfAnotherKindIsNeitherOverwrittenNorListedNorRestored) {
  auto storage = Open();
  ASSERT_THAT(Put(*storage, {small_}, 1), IsOk());
  const std::string folder = dir_.path() + "/backups";
  const auto write = [&](const std::string& dir) { return storage->disk().BackUp(dir); };
  Backups stores({.dir = folder}, kStoreDatabase, write);
  ASSERT_THAT(stores.Make("monday"), IsOk());
  const std::atomic<bool> stop = false;
  rocksdb::DB* opened = nullptr;
  rocksdb::Options options;
  options.create_if_missing = true;
  ASSERT_TRUE(rocksdb::DB::Open(options, dir_.path() + "/jobs", &opened).ok());
  const std::unique_ptr<rocksdb::DB> jobs(opened);
  Backups coordinators({.dir = folder}, kCoordinatorDatabase, [&](const std::string& dir) {
    return BackUp(jobs.get(), kCoordinatorDatabase, dir, stop);
  });
  EXPECT_THAT(coordinators.Make("monday").status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(coordinators.List()->empty());
  ASSERT_THAT(coordinators.Make("tuesday"), IsOk());
  EXPECT_THAT(stores.Make("tuesday").status(), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_THAT(coordinators.Prune(1, absl::ZeroDuration(), absl::Now()), IsOk());
  EXPECT_EQ(stores.List()->size(), 1u);
  EXPECT_THAT(RestoreBackup(kCoordinatorDatabase, folder + "/monday", restored()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_THAT(RestoreBackup(kStoreDatabase, folder + "/monday", restored()), IsOk());
  EXPECT_EQ(*ReadAll(**OpenRocksDbStorage(restored()), small_), small_);
}

TEST_F(BackupTest, TheSameNameAgainCopiesOnlyWhatIsNew) {
  auto storage = Open();
  ASSERT_THAT(PutLarge(*storage, large_), IsOk());
  ASSERT_THAT(storage->disk().BackUp(backup()), IsOk());
  const auto blob_time = [this] {
    fs::file_time_type latest;
    for (const auto& entry : fs::recursive_directory_iterator(backup())) {
      if (entry.path().extension() == ".blob") latest = std::max(latest, entry.last_write_time());
    }
    return latest;
  };
  const auto before = blob_time();
  ASSERT_THAT(Put(*storage, {small_}), IsOk());
  ASSERT_THAT(storage->disk().BackUp(backup()), IsOk());
  EXPECT_EQ(blob_time(), before);
  ASSERT_THAT(RestoreBackup(kStoreDatabase, backup(), restored()), IsOk());
  const auto copy = OpenRocksDbStorage(restored());
  EXPECT_TRUE(HasBlob(**copy, small_));
  EXPECT_TRUE(*ReadAll(**copy, large_) == large_);
}

TEST_F(BackupTest, NothingIsRestoredOverSomething) {
  ASSERT_THAT(Open()->disk().BackUp(backup()), IsOk());
  fs::create_directories(restored());
  ASSERT_THAT(WriteFile(restored() + "/mine", "x"), IsOk());
  EXPECT_THAT(RestoreBackup(kStoreDatabase, backup(), restored()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(*ReadFile(restored() + "/mine", 10), "x");
  EXPECT_THAT(RestoreBackup(kStoreDatabase, dir_.path() + "/nowhere", dir_.path() + "/new"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(fs::exists(dir_.path() + "/nowhere"));
}

TEST_F(BackupTest, ADamagedBackupIsRefusedAndLeavesNothing) {
  {
    auto storage = Open();
    ASSERT_THAT(Put(*storage, {body_}), IsOk());
    ASSERT_THAT(storage->disk().BackUp(backup()), IsOk());
  }
  for (const auto& entry : fs::recursive_directory_iterator(backup())) {
    if (entry.path().extension() == ".blob") FlipByte(entry.path(), 50'000);
  }
  EXPECT_THAT(RestoreBackup(kStoreDatabase, backup(), restored()),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(fs::is_empty(restored()));
}

TEST_F(BackupTest, AnEndThatIsNearEndsABackupAndLeavesTheOneBefore) {
  auto storage = Open();
  ASSERT_THAT(Put(*storage, {small_}), IsOk());
  ASSERT_THAT(storage->disk().BackUp(backup()), IsOk());
  for (int i = 0; i < 3; ++i) ASSERT_THAT(PutLarge(*storage, Noise(12 << 20, i)), IsOk());
  storage->disk().Stop();
  EXPECT_THAT(storage->disk().BackUp(backup()), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(storage->disk().Reclaim(), StatusIs(absl::StatusCode::kCancelled));
  ASSERT_THAT(RestoreBackup(kStoreDatabase, backup(), restored()), IsOk());
  EXPECT_TRUE(HasBlob(**OpenRocksDbStorage(restored()), small_));
}

TEST_F(BackupTest, WhatAKilledRestoreLeftIsNoStore) {
  fs::create_directories(dir() + "/restoring");
  EXPECT_THAT(OpenRocksDbStorage(dir()), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::store
