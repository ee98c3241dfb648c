#include "services/store/adapters/rocksdb/salvage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Contents() {
  std::vector<std::string> contents = {Noise(kChunkBytes + 5, 1), Noise(2 * kChunkBytes, 2)};
  for (int i = 0; i < 100; ++i) {
    contents.push_back(Noise(100 + i, 1000 + i));     // in the header
    contents.push_back(Noise(1100 + i, 2000 + i));    // in a table
    contents.push_back(Noise(20'000 + i, 3000 + i));  // in a blob file
  }
  return contents;
}

absl::Status Fill(Storage& storage) {
  for (const std::string& content : Contents()) {
    const absl::Status stored = static_cast<int64_t>(content.size()) > kChunkBytes
                                    ? PutLarge(storage, content)
                                    : Put(storage, {content});
    if (!stored.ok()) return stored;
  }
  for (int i = 0; i < 50; ++i) {
    const absl::Status stored = storage.blobs().PutResult("main", MakeId(absl::StrCat("action", i)),
                                                          absl::StrCat("result", i), 1);
    if (!stored.ok()) return stored;
  }
  return storage.holds().Save({.name = "dataset/a", .blobs = 1}, {MakeId(Contents()[0])});
}

// Checks that nothing wrong is served and that what is missing can be put again.
class SalvageTest : public DatabaseTest {
 protected:
  void FillTables() {
    {
      const auto storage = Open();
      ASSERT_THAT(Fill(*storage), IsOk());
    }
    Flush();
  }

  fs::path Largest(const std::string& extension) const {
    const std::vector<fs::path> files = Files(extension);
    EXPECT_THAT(files, ::testing::Not(IsEmpty()));
    return *std::max_element(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
      return fs::file_size(a) < fs::file_size(b);
    });
  }

  // Repairs, opens, and returns the report. `kept` is at least so many blobs.
  RepairReport Repair(size_t kept) {
    const absl::StatusOr<RepairReport> report = RepairDatabase(dir());
    EXPECT_THAT(report, IsOk());
    if (!report.ok()) return {};
    const auto storage = Open();
    if (storage == nullptr) return *report;
    size_t found = 0;
    std::vector<std::string> missing;
    for (const std::string& content : Contents()) {
      const absl::StatusOr<std::string> read = ReadAll(*storage, content);
      EXPECT_EQ(read.ok(), HasBlob(*storage, content));
      if (read.ok()) {
        EXPECT_EQ(*read, content);
        ++found;
      } else {
        missing.push_back(content);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(found), report->blobs);
    EXPECT_EQ(storage->blobs().usage().blobs, report->blobs);
    EXPECT_GE(found, kept);
    EXPECT_TRUE(fs::is_directory(report->old_files));
    for (const std::string& content : missing) {
      EXPECT_THAT(static_cast<int64_t>(content.size()) > kChunkBytes ? PutLarge(*storage, content)
                                                                     : Put(*storage, {content}),
                  IsOk());
      EXPECT_EQ(*ReadAll(*storage, content), content);
    }
    EXPECT_THAT(storage->holds().List(), IsOk());
    return *report;
  }

  const size_t all_ = Contents().size();
};

TEST_F(SalvageTest, AWholeDatabaseStaysWhole) {
  FillTables();
  const RepairReport report = Repair(all_);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_EQ(report.results, 50);
  EXPECT_EQ(report.holds, 1);
  EXPECT_EQ(report.lost_blobs, 0);
  EXPECT_FALSE(report.results_forgotten);
}

TEST_F(SalvageTest, AHoldThatBeginsAfterwardsHoldsNothingOfBefore) {
  FillTables();
  ASSERT_THAT(RepairDatabase(dir()), IsOk());
  const auto storage = Open();
  const Epoch begins = storage->uses().epoch().epoch;
  const absl::StatusOr<Evictable> evictable = storage->uses().CountOldest(
      {.before = begins, .now = begins + 2, .bytes = std::numeric_limits<int64_t>::max()});
  ASSERT_THAT(evictable, IsOk());
  EXPECT_EQ(evictable->blobs, static_cast<int64_t>(all_) - 1) << "dataset/a names one";
  EXPECT_EQ(evictable->results, 50);
}

TEST_F(SalvageTest, AMissingCurrentLosesNothing) {
  FillTables();
  fs::remove(dir() + "/CURRENT");
  EXPECT_THAT(OpenRocksDbStorage(dir()), StatusIs(absl::StatusCode::kDataLoss));
  const RepairReport report = Repair(all_);
  EXPECT_EQ(report.results, 50);
  EXPECT_EQ(report.holds, 1);
}

TEST_F(SalvageTest, ADamagedBlockOfATableCostsItsBlobsAlone) {
  FillTables();
  const fs::path table = Largest(".sst");
  FlipByte(table, static_cast<int64_t>(fs::file_size(table) / 2));
  const RepairReport report = Repair(all_ * 9 / 10);
  EXPECT_GT(report.lost_blobs, 0);
  EXPECT_EQ(report.lost.size(), static_cast<size_t>(report.lost_blobs));
  EXPECT_EQ(report.blobs + report.lost_blobs, static_cast<int64_t>(all_));
  EXPECT_EQ(report.results, 50) << "their table is whole";
}

TEST_F(SalvageTest, ATableWithoutItsEndCostsItsBlobsAlone) {
  FillTables();
  const fs::path table = Largest(".sst");
  fs::resize_file(table, fs::file_size(table) - 10);
  EXPECT_THAT(OpenRocksDbStorage(dir()).status(), ::testing::Not(IsOk()));
  const RepairReport report = Repair(1);
  EXPECT_GT(report.lost_blobs, 0);
  EXPECT_EQ(report.blobs + report.lost_blobs, static_cast<int64_t>(all_));
}

TEST_F(SalvageTest, ADamagedListOfFilesLosesNoBlob) {
  FillTables();
  for (const auto& entry : fs::directory_iterator(dir())) {
    if (entry.path().filename().string().rfind("MANIFEST", 0) != 0) continue;
    for (int64_t at = 0; at < static_cast<int64_t>(fs::file_size(entry.path())); at += 50) {
      FlipByte(entry.path(), at);
    }
  }
  EXPECT_THAT(OpenRocksDbStorage(dir()).status(), ::testing::Not(IsOk()));
  const RepairReport report = Repair(all_);
  EXPECT_TRUE(report.results_forgotten) << "an old table may have what was deleted";
}

TEST_F(SalvageTest, ACutBlobFileCostsItsBlobsAlone) {
  FillTables();
  const fs::path file = Largest(".blob");
  fs::resize_file(file, fs::file_size(file) / 2);
  const RepairReport report = Repair(200);
  EXPECT_GT(report.lost_blobs, 0);
  EXPECT_EQ(report.blobs + report.lost_blobs, static_cast<int64_t>(all_));
}

TEST_F(SalvageTest, ADamagedLogCostsItsRecordsAlone) {
  InKilledProcess([](Storage& storage) { return Fill(storage).ok(); });
  const fs::path log = Largest(".log");
  FlipByte(log, static_cast<int64_t>(fs::file_size(log) / 3));
  EXPECT_THAT(OpenRocksDbStorage(dir()), StatusIs(absl::StatusCode::kDataLoss));
  const RepairReport report = Repair(all_ / 2);
  EXPECT_TRUE(report.results_forgotten) << "a deletion may be among the lost records";
  EXPECT_LT(report.blobs, static_cast<int64_t>(all_));
}

TEST_F(SalvageTest, AnOpenDatabaseAndNoDatabaseAreRefused) {
  EXPECT_THAT(RepairDatabase(dir()), StatusIs(absl::StatusCode::kNotFound));
  const auto storage = Open();
  const absl::StatusOr<RepairReport> report = RepairDatabase(dir());
  EXPECT_THAT(report, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("stop the store"));
}

TEST_F(SalvageTest, AnUnfinishedRepairIsFinishedByTheNext) {
  FillTables();
  const std::string work = dir() + "/repairing";
  fs::create_directories(work);
  std::ofstream(work + "/000001.sst") << "half";
  EXPECT_THAT(OpenRocksDbStorage(dir()), StatusIs(absl::StatusCode::kFailedPrecondition));
  Repair(all_);
  EXPECT_FALSE(fs::exists(work));
}

}  // namespace
}  // namespace kernelmill::store
