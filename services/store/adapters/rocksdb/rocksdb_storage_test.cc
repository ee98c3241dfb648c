#include "services/store/adapters/rocksdb/rocksdb_storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

using RocksDbStorageTest = DatabaseTest;

TEST_F(RocksDbStorageTest, EverySizeComesBackWholeAndInParts) {
  const auto storage = Open();
  for (const int64_t size :
       {int64_t{1}, int64_t{1024}, int64_t{1025}, int64_t{100'000}, kChunkBytes}) {
    const std::string content = Noise(size, size);
    ASSERT_THAT(Put(*storage, {content}), IsOk());
    EXPECT_EQ(*ReadAll(*storage, content), content);
    EXPECT_EQ(*ReadPart(*storage, MakeId(content), size / 2, size - size / 2),
              content.substr(size / 2));
  }
}

TEST_F(RocksDbStorageTest, AHashWithAnotherSizeIsNotThere) {
  const auto storage = Open();
  ASSERT_THAT(Put(*storage, {"abc"}), IsOk());
  BlobId other = MakeId("abc");
  other.size = 4;
  EXPECT_EQ(storage->uses().LastUses({other})->front(), kNoEpoch);
  EXPECT_THAT(ReadPart(*storage, other, 0, 4), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RocksDbStorageTest, ALargeBlobIsReadAcrossItsChunks) {
  const auto storage = Open();
  const std::string content = Noise(2 * kChunkBytes + 5, 1);
  auto staged = storage->blobs().Stage();
  for (int64_t at = 0; at < static_cast<int64_t>(content.size()); at += kChunkBytes) {
    EXPECT_FALSE(HasBlob(*storage, content));
    ASSERT_THAT((*staged)->Append(absl::string_view(content).substr(at, kChunkBytes)), IsOk());
  }
  ASSERT_THAT((*staged)->Commit(MakeId(content), 1), IsOk());
  EXPECT_EQ(*ReadAll(*storage, content), content);
  EXPECT_EQ(*ReadPart(*storage, MakeId(content), kChunkBytes - 2, 4),
            content.substr(kChunkBytes - 2, 4));
  EXPECT_EQ(*ReadPart(*storage, MakeId(content), 2 * kChunkBytes + 4, 1),
            content.substr(2 * kChunkBytes + 4));
}

TEST_F(RocksDbStorageTest, ALargeBlobThatIsPutAgainLeavesNoOldChunks) {
  const std::string content = Noise(kChunkBytes, 2) + "x";
  {
    const auto storage = Open();
    ASSERT_THAT(PutLarge(*storage, content), IsOk());
    ASSERT_THAT(PutLarge(*storage, content), IsOk());
    EXPECT_EQ(*ReadAll(*storage, content), content);
    EXPECT_EQ(storage->blobs().usage().blobs, 1);
    EXPECT_EQ(storage->blobs().usage().blob_bytes, static_cast<int64_t>(content.size()));
  }
  EXPECT_EQ(Records(/*cas*/ 1, "c"), 2);
  EXPECT_EQ(Records(/*cas*/ 1, "u"), 0);
}

TEST_F(RocksDbStorageTest, AHundredThousandQuestionsAreOneCall) {
  const auto storage = Open();
  ASSERT_THAT(Put(*storage, {"7", "99999"}), IsOk());
  std::vector<BlobId> ids;
  for (int i = 0; i < 100'000; ++i) ids.push_back(MakeId(absl::StrCat(i)));
  const std::vector<Epoch> last = *storage->uses().LastUses(ids);
  ASSERT_EQ(last.size(), ids.size());
  EXPECT_EQ(last[7], 1u);
  EXPECT_EQ(last[99'999], 1u);
  EXPECT_EQ(std::count(last.begin(), last.end(), kNoEpoch), 99'998);
}

TEST_F(RocksDbStorageTest, WhatWasAcknowledgedSurvivesSigkill) {
  const std::string body = Noise(50'000, 3);
  const std::string large = Noise(kChunkBytes + 9, 4);
  InKilledProcess([&](Storage& storage) {
    auto staged = storage.blobs().Stage();
    return Put(storage, {"small", body}).ok() &&
           (*staged)->Append(large.substr(0, kChunkBytes)).ok() &&
           (*staged)->Append(large.substr(kChunkBytes)).ok() &&
           (*staged)->Commit(MakeId(large), 1).ok() &&
           storage.blobs().PutResult("i", MakeId("action"), "result", 1).ok();
  });
  const auto storage = Open();
  EXPECT_EQ(*ReadAll(*storage, "small"), "small");
  EXPECT_EQ(*ReadAll(*storage, body), body);
  EXPECT_EQ(*ReadAll(*storage, large), large);
  EXPECT_EQ(storage->blobs().GetResult("i", MakeId("action"))->bytes, "result");
}

TEST_F(RocksDbStorageTest, ABlobCutShortBySigkillIsNeverVisibleAndItsChunksGo) {
  const std::string large = Noise(3 * kChunkBytes, 5);
  InKilledProcess([&](Storage& storage) {
    auto staged = storage.blobs().Stage().value();
    const bool ok = staged->Append(large.substr(0, kChunkBytes)).ok() &&
                    staged->Append(large.substr(kChunkBytes, kChunkBytes)).ok() &&
                    Put(storage, {"sync"}).ok();
    staged.release();  // the process ends with the upload open
    return ok;
  });
  {
    const auto storage = Open();
    EXPECT_FALSE(HasBlob(*storage, large));
    while (!*storage->blobs().DeleteAbandonedUpload()) {
    }
  }
  Flush();
  EXPECT_EQ(Records(/*cas*/ 1, ""), 1);  // the header of "sync"
}

TEST_F(RocksDbStorageTest, AFlippedBitInABlobFileIsDataLossNotWrongBytes) {
  const std::string content = Noise(100'000, 9);
  { ASSERT_THAT(Put(*Open(), {content}), IsOk()); }
  Flush();
  const std::vector<fs::path> files = Files(".blob");
  ASSERT_EQ(files.size(), 1u);
  FlipByte(files[0], 50'000);
  const auto storage = Open();
  EXPECT_TRUE(HasBlob(*storage, content));
  EXPECT_THAT(ReadAll(*storage, content), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RocksDbStorageTest, AFlippedBitInAnSstIsDataLossNotWrongBytes) {
  const std::string content = Noise(1000, 10);  // inline in its header, so in an SST
  { ASSERT_THAT(Put(*Open(), {content}), IsOk()); }
  Flush();
  for (const fs::path& file : Files(".sst")) {
    if (fs::file_size(file) > 1500) FlipByte(file, 500);
  }
  const auto storage = Open();
  EXPECT_THAT(ReadAll(*storage, content), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RocksDbStorageTest, ASecondOpeningSaysWhoIsToBlame) {
  const auto storage = Open();
  const auto second = OpenRocksDbStorage(dir());
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_NE(second.status().message().find("another process has it open"), absl::string_view::npos);
}

TEST_F(RocksDbStorageTest, ADatabaseOfAnotherFormatIsRefusedAndLeftAlone) {
  { ASSERT_THAT(Put(*Open(), {"kept"}), IsOk()); }
  for (const char* format : {"1", "4", "3 to 4", "no number"}) {
    WithDb([&](rocksdb::DB& db, const auto& handles) {
      ASSERT_TRUE(db.Put({}, handles[0], "format", format).ok());
      ASSERT_TRUE(db.Put({}, handles[0], "boot", "another").ok());
    });
    const auto storage = OpenRocksDbStorage(dir());
    EXPECT_THAT(storage, StatusIs(absl::StatusCode::kFailedPrecondition)) << format;
    for (const char* words : {format, "this release reads formats 2 to 3"}) {
      EXPECT_NE(storage.status().message().find(words), absl::string_view::npos)
          << storage.status();
    }
    WithDb([&](rocksdb::DB& db, const auto& handles) {
      std::string found;
      ASSERT_TRUE(db.Get({}, handles[0], "format", &found).ok());
      EXPECT_EQ(found, format);
      ASSERT_TRUE(db.Get({}, handles[0], "boot", &found).ok());
      EXPECT_EQ(found, "another");  // the failed opening was not taken for a clean close
    });
  }
  WithDb([](rocksdb::DB& db, const auto& handles) {
    ASSERT_TRUE(db.Put({}, handles[0], "format", "3").ok());
  });
  EXPECT_TRUE(HasBlob(*Open(), "kept"));
}

// Makes format 2 of format 3: counters of four numbers.
void MakeFormat2(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator({}, handles[3]));
  for (it->Seek("n"); it->Valid() && it->key().starts_with("n"); it->Next()) {
    ASSERT_EQ(it->value().size(), 40u);
    ASSERT_TRUE(db.Put({}, handles[3], it->key(), rocksdb::Slice(it->value().data(), 32)).ok());
  }
  ASSERT_TRUE(db.Put({}, handles[0], "format", "2").ok());
}

TEST_F(RocksDbStorageTest, ADatabaseOfFormat2IsUpgradedAndACopyIsKept) {
  Usage before;
  {
    const auto storage = Open();
    ASSERT_THAT(Put(*storage, {"kept", Noise(100'000, 1)}), IsOk());
    ASSERT_THAT(storage->blobs().PutResult("", MakeId("a"), "result", 1), IsOk());
    ASSERT_THAT(storage->blobs().PutResult("x", MakeId("b"), "another", 1), IsOk());
    before = storage->blobs().usage();
  }
  ASSERT_EQ(before.result_bytes, 13);
  WithDb(MakeFormat2);
  const auto check = [&](Storage& storage) {
    EXPECT_TRUE(HasBlob(storage, "kept"));
    EXPECT_EQ(*ReadAll(storage, Noise(100'000, 1)), Noise(100'000, 1));
    EXPECT_EQ(storage.blobs().GetResult("x", MakeId("b"))->bytes, "another");
    const Usage usage = storage.blobs().usage();
    EXPECT_EQ(usage.blobs, before.blobs);
    EXPECT_EQ(usage.written, before.written);
    EXPECT_EQ(usage.result_bytes, before.result_bytes);
  };
  const std::string copy = dir() + "/before-format-3";
  {
    const auto storage = Open();
    check(*storage);
    ASSERT_TRUE(fs::is_directory(copy));
    ASSERT_THAT(storage->blobs().PutResult("", MakeId("c"), "since", 1), IsOk());
  }
  EXPECT_EQ(Open()->blobs().usage().result_bytes, 18);
  // The copy is the old database: it can be upgraded likewise.
  const auto old = OpenRocksDbStorage(copy);
  ASSERT_THAT(old, IsOk());
  check(**old);
  EXPECT_TRUE(fs::is_directory(copy + "/before-format-3"));
}

TEST_F(RocksDbStorageTest, AnUpgradeThatWasKilledGoesOn) {
  { ASSERT_THAT(Open()->blobs().PutResult("", MakeId("a"), "result", 1), IsOk()); }
  // The step is done, and the record not written: the counters of format 3 are there already.
  for (const bool step_done : {false, true}) {
    WithDb([&](rocksdb::DB& db, const auto& handles) {
      if (!step_done) MakeFormat2(db, handles);
      ASSERT_TRUE(db.Put({}, handles[0], "format", "2 to 3").ok());
    });
    EXPECT_EQ(Open()->blobs().usage().result_bytes, 6);
    EXPECT_FALSE(fs::exists(dir() + "/before-format-3")) << "a copy of a half upgraded database";
  }
}

// RocksDB would make a new database, and delete the tables and blob files of the old one.
TEST_F(RocksDbStorageTest, AFolderThatLostCurrentIsRefusedAndLeftAlone) {
  { ASSERT_THAT(Put(*Open(), {"kept"}), IsOk()); }
  const std::filesystem::path current = dir() + "/CURRENT", away = dir_.path() + "/CURRENT";
  std::filesystem::rename(current, away);
  const auto list = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir())) {
      names.insert(entry.path().filename());
    }
    return names;
  };
  const std::set<std::string> before = list();
  const auto storage = OpenRocksDbStorage(dir());
  EXPECT_THAT(storage, StatusIs(absl::StatusCode::kDataLoss));
  for (const char* words : {"/db: ", "CURRENT is missing", "refusing to start", "backup"}) {
    EXPECT_NE(storage.status().message().find(words), absl::string_view::npos)
        << words << ": " << storage.status();
  }
  EXPECT_EQ(list(), before);
  std::filesystem::rename(away, current);
  EXPECT_TRUE(HasBlob(*Open(), "kept"));
}

TEST_F(RocksDbStorageTest, OnlyTheOwnerMayEnterTheFolder) {
  const auto storage = Open();
  EXPECT_EQ(std::filesystem::status(dir()).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(RocksDbStorageTest, ADirectoryThatCannotBeMadeIsAnError) {
  ASSERT_THAT(WriteFile(dir_.path() + "/file", "x"), IsOk());
  EXPECT_FALSE(OpenRocksDbStorage(dir_.path() + "/file/db").ok());
}

}  // namespace
}  // namespace kernelmill::store
