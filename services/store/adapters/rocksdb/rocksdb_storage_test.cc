#include "services/store/adapters/rocksdb/rocksdb_storage.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

BlobId IdOf(absl::string_view bytes) { return *ToBlobId(cas::DigestOf(bytes)); }

// Bytes that zstd cannot shrink, so that a damaged byte on the disk is a damaged byte of the blob.
std::string Noise(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(seed >> 56);
  }
  return bytes;
}

absl::StatusOr<std::string> ReadPart(Storage& storage, const BlobId& id, int64_t offset,
                                     int64_t length) {
  std::string bytes;
  const absl::Status status = storage.Read(id, offset, length, [&](absl::string_view piece) {
    bytes.append(piece.data(), piece.size());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return bytes;
}

absl::StatusOr<std::string> ReadAll(Storage& storage, absl::string_view content) {
  return ReadPart(storage, IdOf(content), 0, content.size());
}

bool Holds(Storage& storage, absl::string_view content) {
  return storage.Contains({IdOf(content)})->front();
}

// Tells the process of InKilledProcess where its parent's database is.
constexpr char kDirVariable[] = "KERNELMILL_TEST_DIR";

class RocksDbStorageTest : public ::testing::Test {
 protected:
  std::string dir() const { return dir_.path() + "/db"; }
  std::unique_ptr<Storage> Open() {
    auto storage = OpenRocksDbStorage(dir());
    EXPECT_THAT(storage, IsOk());
    return storage.ok() ? *std::move(storage) : nullptr;
  }
  // Runs `body` on the open storage in a process that dies by SIGKILL at its end, destructors
  // unrun. That process starts this test anew, up to here: call this first.
  template <typename Body>
  void InKilledProcess(Body body) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setenv(kDirVariable, dir_.path().c_str(), /*overwrite=*/0);  // that process keeps ours
    EXPECT_EXIT(
        {
          auto storage = OpenRocksDbStorage(std::string(getenv(kDirVariable)) + "/db");
          if (!storage.ok() || !body(**storage)) _exit(3);
          kill(getpid(), SIGKILL);
        },
        ::testing::KilledBySignal(SIGKILL), "");
    unsetenv(kDirVariable);
  }
  std::vector<fs::path> Files(const std::string& extension) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(dir())) {
      if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    return files;
  }
  static void FlipByte(const fs::path& path, int64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(offset);
    file.put(byte);
    ASSERT_TRUE(file.good());
  }
  // Moves everything from the log to SST and blob files.
  void Flush() {
    rocksdb::DB* db = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::ColumnFamilyOptions with_blobs;
    with_blobs.enable_blob_files = true;
    with_blobs.min_blob_size = 2048;
    ASSERT_TRUE(rocksdb::DB::Open({}, dir(), {{"default", {}}, {"cas", with_blobs}, {"ac", {}}},
                                  &handles, &db)
                    .ok());
    ASSERT_TRUE(db->Flush({}, handles).ok());
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    delete db;
  }

  TempDir dir_ = *TempDir::Create();
};

TEST_F(RocksDbStorageTest, EverySizeComesBackWholeAndInParts) {
  const auto storage = Open();
  for (const int64_t size :
       {int64_t{1}, int64_t{1024}, int64_t{1025}, int64_t{100'000}, kChunkBytes}) {
    const std::string content = Noise(size, size);
    ASSERT_THAT(storage->Put({{IdOf(content), content}}), IsOk());
    EXPECT_EQ(*ReadAll(*storage, content), content);
    EXPECT_EQ(*ReadPart(*storage, IdOf(content), size / 2, size - size / 2),
              content.substr(size / 2));
  }
}

TEST_F(RocksDbStorageTest, AHashWithAnotherSizeIsNotHeld) {
  const auto storage = Open();
  ASSERT_THAT(storage->Put({{IdOf("abc"), "abc"}}), IsOk());
  BlobId other = IdOf("abc");
  other.size = 4;
  EXPECT_FALSE(storage->Contains({other})->front());
  EXPECT_THAT(ReadPart(*storage, other, 0, 4), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RocksDbStorageTest, ALargeBlobIsReadAcrossItsChunks) {
  const auto storage = Open();
  const std::string content = Noise(2 * kChunkBytes + 5, 1);
  auto staged = storage->Stage();
  for (int64_t at = 0; at < static_cast<int64_t>(content.size()); at += kChunkBytes) {
    EXPECT_FALSE(Holds(*storage, content));
    ASSERT_THAT((*staged)->Append(absl::string_view(content).substr(at, kChunkBytes)), IsOk());
  }
  ASSERT_THAT((*staged)->Commit(IdOf(content)), IsOk());
  EXPECT_EQ(*ReadAll(*storage, content), content);
  EXPECT_EQ(*ReadPart(*storage, IdOf(content), kChunkBytes - 2, 4),
            content.substr(kChunkBytes - 2, 4));
  EXPECT_EQ(*ReadPart(*storage, IdOf(content), 2 * kChunkBytes + 4, 1),
            content.substr(2 * kChunkBytes + 4));
}

TEST_F(RocksDbStorageTest, OfTwoEqualUploadsBothSucceed) {
  const auto storage = Open();
  const std::string content = Noise(kChunkBytes, 2) + "x";
  auto first = storage->Stage();
  auto second = storage->Stage();
  for (auto* staged : {&first, &second}) {
    ASSERT_THAT((**staged)->Append(content.substr(0, kChunkBytes)), IsOk());
    ASSERT_THAT((**staged)->Append("x"), IsOk());
  }
  EXPECT_THAT((*first)->Commit(IdOf(content)), IsOk());
  EXPECT_THAT((*second)->Commit(IdOf(content)), IsOk());
  second->reset();
  EXPECT_EQ(*ReadAll(*storage, content), content);
}

TEST_F(RocksDbStorageTest, AHundredThousandQuestionsAreOneCall) {
  const auto storage = Open();
  ASSERT_THAT(storage->Put({{IdOf("7"), "7"}, {IdOf("99999"), "99999"}}), IsOk());
  std::vector<BlobId> ids;
  for (int i = 0; i < 100'000; ++i) ids.push_back(IdOf(absl::StrCat(i)));
  const std::vector<bool> held = *storage->Contains(ids);
  ASSERT_EQ(held.size(), ids.size());
  EXPECT_TRUE(held[7]);
  EXPECT_TRUE(held[99'999]);
  EXPECT_EQ(std::count(held.begin(), held.end(), true), 2);
}

TEST_F(RocksDbStorageTest, WhatWasAcknowledgedSurvivesSigkill) {
  const std::string body = Noise(50'000, 3);
  const std::string large = Noise(kChunkBytes + 9, 4);
  InKilledProcess([&](Storage& storage) {
    auto staged = storage.Stage();
    return storage.Put({{IdOf("small"), "small"}, {IdOf(body), body}}).ok() &&
           (*staged)->Append(large.substr(0, kChunkBytes)).ok() &&
           (*staged)->Append(large.substr(kChunkBytes)).ok() &&
           (*staged)->Commit(IdOf(large)).ok() &&
           storage.PutResult("i", IdOf("action"), "result").ok();
  });
  const auto storage = Open();
  EXPECT_EQ(*ReadAll(*storage, "small"), "small");
  EXPECT_EQ(*ReadAll(*storage, body), body);
  EXPECT_EQ(*ReadAll(*storage, large), large);
  EXPECT_EQ(*storage->GetResult("i", IdOf("action")), "result");
}

TEST_F(RocksDbStorageTest, ABlobCutShortBySigkillIsNeverVisibleAndItsChunksGo) {
  const std::string large = Noise(3 * kChunkBytes, 5);
  InKilledProcess([&](Storage& storage) {
    auto staged = storage.Stage().value();
    const bool ok = staged->Append(large.substr(0, kChunkBytes)).ok() &&
                    staged->Append(large.substr(kChunkBytes, kChunkBytes)).ok() &&
                    storage.Put({{IdOf("sync"), "sync"}}).ok();
    staged.release();  // the process ends with the upload open
    return ok;
  });
  { EXPECT_FALSE(Holds(*Open(), large)); }
  Flush();
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly({}, dir(), {{"default", {}}, {"cas", {}}, {"ac", {}}},
                                           &handles, &db)
                  .ok());
  int records = 0;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}, handles[1]));
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++records;
  EXPECT_EQ(records, 1);  // the header of "sync"
  it.reset();
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
}

TEST_F(RocksDbStorageTest, ATornTailLosesOnlyTheLastWrite) {
  const std::string last = Noise(50'000, 6);
  InKilledProcess([&](Storage& storage) {
    return storage.Put({{IdOf("first"), "first"}}).ok() && storage.Put({{IdOf(last), last}}).ok();
  });
  const std::vector<fs::path> logs = Files(".log");
  ASSERT_EQ(logs.size(), 1u);
  fs::resize_file(logs[0], fs::file_size(logs[0]) - 1000);
  const auto storage = Open();
  ASSERT_NE(storage, nullptr);
  EXPECT_TRUE(Holds(*storage, "first"));
  EXPECT_FALSE(Holds(*storage, last));
}

TEST_F(RocksDbStorageTest, AFlippedBitInTheMiddleOfTheLogRefusesToStart) {
  const std::string early = Noise(100'000, 7);
  const std::string late = Noise(100'000, 8);
  InKilledProcess([&](Storage& storage) {
    return storage.Put({{IdOf(early), early}}).ok() && storage.Put({{IdOf(late), late}}).ok();
  });
  const std::vector<fs::path> logs = Files(".log");
  ASSERT_EQ(logs.size(), 1u);
  FlipByte(logs[0], 50'000);
  const auto storage = OpenRocksDbStorage(dir());
  EXPECT_THAT(storage, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_NE(storage.status().message().find("refusing to start"), absl::string_view::npos);
}

TEST_F(RocksDbStorageTest, AFlippedBitInABlobFileIsDataLossNotWrongBytes) {
  const std::string content = Noise(100'000, 9);
  { ASSERT_THAT(Open()->Put({{IdOf(content), content}}), IsOk()); }
  Flush();
  const std::vector<fs::path> files = Files(".blob");
  ASSERT_EQ(files.size(), 1u);
  FlipByte(files[0], 50'000);
  const auto storage = Open();
  EXPECT_TRUE(Holds(*storage, content));
  EXPECT_THAT(ReadAll(*storage, content), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RocksDbStorageTest, AFlippedBitInAnSstIsDataLossNotWrongBytes) {
  const std::string content = Noise(1000, 10);  // inline in its header, so in an SST
  { ASSERT_THAT(Open()->Put({{IdOf(content), content}}), IsOk()); }
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

TEST_F(RocksDbStorageTest, ADatabaseOfANewerProgramIsLeftAlone) {
  Open().reset();
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  ASSERT_TRUE(
      rocksdb::DB::Open({}, dir(), {{"default", {}}, {"cas", {}}, {"ac", {}}}, &handles, &db).ok());
  ASSERT_TRUE(db->Put({}, handles[0], "format", "2").ok());
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
  EXPECT_THAT(OpenRocksDbStorage(dir()), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RocksDbStorageTest, ADirectoryThatCannotBeMadeIsAnError) {
  ASSERT_THAT(WriteFile(dir_.path() + "/file", "x"), IsOk());
  EXPECT_FALSE(OpenRocksDbStorage(dir_.path() + "/file/db").ok());
}

}  // namespace
}  // namespace kernelmill::store
