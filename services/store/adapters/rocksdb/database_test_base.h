#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_TEST_BASE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_TEST_BASE_H_

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
#include "services/store/adapters/rocksdb/rocksdb_storage.h"

namespace kernelmill::store {

inline BlobId MakeId(absl::string_view bytes) { return *ToBlobId(cas::ComputeDigest(bytes)); }

// Makes incompressible bytes, so that a damaged byte on the disk is a damaged byte of the blob.
inline std::string Noise(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(seed >> 56);
  }
  return bytes;
}

inline absl::StatusOr<std::string> ReadPart(Storage& storage, const BlobId& id, int64_t offset,
                                            int64_t length) {
  std::string bytes;
  const absl::Status status = storage.blobs().Read(id, offset, length, [&](const Piece& piece) {
    bytes.append(piece.bytes.data(), piece.bytes.size());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return bytes;
}

inline absl::StatusOr<std::string> ReadAll(Storage& storage, absl::string_view content) {
  return ReadPart(storage, MakeId(content), 0, content.size());
}

inline bool HasBlob(Storage& storage, absl::string_view content) {
  return storage.uses().LastUses({MakeId(content)})->front() != kNoEpoch;
}

// Stores blobs, used in the epoch `now`.
inline absl::Status Put(Storage& storage, const std::vector<std::string>& contents, Epoch now = 1) {
  std::vector<CheckedBlob> blobs;
  for (const std::string& content : contents) blobs.push_back({MakeId(content), content});
  return storage.blobs().Put(blobs, /*fresh=*/false, now);
}

// Stores one blob in chunks.
inline absl::Status PutLarge(Storage& storage, const std::string& content, Epoch now = 1) {
  auto staged = storage.blobs().Stage();
  if (!staged.ok()) return staged.status();
  for (size_t at = 0; at < content.size(); at += kChunkBytes) {
    const absl::Status status =
        (*staged)->Append(absl::string_view(content).substr(at, kChunkBytes));
    if (!status.ok()) return status;
  }
  return (*staged)->Commit(MakeId(content), now);
}

// Tells the process of InKilledProcess where its parent's database is.
inline constexpr char kDirVariable[] = "KERNELMILL_TEST_DIR";

class DatabaseTest : public ::testing::Test {
 protected:
  std::string dir() const { return dir_.path() + "/db"; }
  std::unique_ptr<Storage> Open(const RocksDbOptions& options = {}) {
    auto storage = OpenRocksDbStorage(dir(), options);
    EXPECT_THAT(storage, ::kernelmill::testing::IsOk());
    return storage.ok() ? *std::move(storage) : nullptr;
  }
  // Runs `body` on the open storage in a process that kills itself at the end, without running
  // destructors. That process runs this test from its start up to here, so call this first.
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
  std::vector<std::filesystem::path> Files(const std::string& extension) const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(dir())) {
      if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    return files;
  }
  static void FlipByte(const std::filesystem::path& path, int64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(offset);
    file.put(byte);
    ASSERT_TRUE(file.good());
  }
  // The raw RocksDB database; the handles are in the order of Database.
  template <typename Body>
  void WithDb(Body body) {
    rocksdb::ColumnFamilyOptions with_blobs;
    with_blobs.enable_blob_files = true;
    with_blobs.min_blob_size = 2048;
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {"default", {}}, {"cas", with_blobs}, {"ac", {}}, {"use", {}}, {"hold", {}}};
    rocksdb::DB* db = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    ASSERT_TRUE(rocksdb::DB::Open({}, dir(), families, &handles, &db).ok());
    body(*db, handles);
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    delete db;
  }
  // Moves everything from the log to SST and blob files.
  void Flush() {
    WithDb([](rocksdb::DB& db, const auto& handles) { ASSERT_TRUE(db.Flush({}, handles).ok()); });
  }
  int64_t Records(int family, absl::string_view prefix) {
    int64_t records = 0;
    WithDb([&](rocksdb::DB& db, const auto& handles) {
      const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator({}, handles[family]));
      const rocksdb::Slice start(prefix.data(), prefix.size());
      for (it->Seek(start); it->Valid() && it->key().starts_with(start); it->Next()) ++records;
    });
    return records;
  }

  TempDir dir_ = *TempDir::Create();
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_TEST_BASE_H_
