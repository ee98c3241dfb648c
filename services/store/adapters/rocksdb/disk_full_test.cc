// Tests a full disk, with a small tmpfs. Needs the right to mount one.

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/rocksdb_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr size_t kBlobBytes = 1 << 20;

BlobId MakeId(absl::string_view bytes) { return *ToBlobId(cas::ComputeDigest(bytes)); }

// Makes blob `i`, an incompressible megabyte.
std::string Blob(uint64_t i) {
  std::string bytes(kBlobBytes, '\0');
  for (char& byte : bytes) {
    i = i * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(i >> 56);
  }
  return bytes;
}

absl::Status Put(Storage& storage, const std::string& bytes) {
  return storage.blobs().Put({{MakeId(bytes), bytes}}, /*fresh=*/true, 1);
}

std::string Read(Storage& storage, const std::string& like) {
  std::string bytes;
  EXPECT_THAT(storage.blobs().Read(MakeId(like), 0, like.size(),
                                   [&](const Piece& piece) {
                                     bytes.append(piece.bytes.data(), piece.bytes.size());
                                     return absl::OkStatus();
                                   }),
              IsOk());
  return bytes;
}

class DiskFullTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (mount("tmpfs", dir_.path().c_str(), "tmpfs", 0, "size=160m") != 0) {
      GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
    }
    mounted_ = true;
    std::ofstream(filler_) << std::string(40 << 20, 'x');
    std::ofstream(dir_.path() + "/more") << std::string(88 << 20, 'x');
  }
  ~DiskFullTest() override {
    storage_.reset();
    if (mounted_) umount(dir_.path().c_str());
  }

  TempDir dir_ = *TempDir::Create();
  const std::string filler_ = dir_.path() + "/filler";
  bool mounted_ = false;
  std::unique_ptr<Storage> storage_;
};

TEST_F(DiskFullTest, WritesAreRefusedReadsGoOnAndItRecovers) {
  const std::string data = dir_.path() + "/db";
  storage_ = OpenRocksDbStorage(data).value();
  uint64_t stored = 0;
  absl::Status status;
  for (; stored < 64 && (status = Put(*storage_, Blob(stored))).ok(); ++stored) {
  }
  ASSERT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_GT(stored, 4u);
  EXPECT_THAT(Put(*storage_, Blob(stored)), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(storage_->uses().LastUses({MakeId(Blob(stored))})->front(), kNoEpoch);
  for (uint64_t i = 0; i < stored; ++i) ASSERT_TRUE(Read(*storage_, Blob(i)) == Blob(i)) << i;

  // RocksDB checks every few seconds for room for a write buffer, so no restart is needed. 40 MiB
  // are free.
  std::filesystem::remove(filler_);
  const absl::Time give_up = absl::Now() + absl::Seconds(60);
  while (!(status = Put(*storage_, Blob(stored))).ok() && absl::Now() < give_up) {
    ASSERT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
    absl::SleepFor(absl::Milliseconds(100));
  }
  ASSERT_THAT(status, IsOk());
  storage_.reset();
  storage_ = OpenRocksDbStorage(data).value();
  for (uint64_t i = 0; i <= stored; ++i) ASSERT_TRUE(Read(*storage_, Blob(i)) == Blob(i)) << i;
}

}  // namespace
}  // namespace kernelmill::store
