// Opens databases whose write-ahead log has a bad end. In each test a process that dies writes the
// log.

#include "services/store/adapters/rocksdb/database/wal.h"

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/store/adapters/rocksdb/database_test_base.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

std::string Acknowledged(int i) { return Noise(i % 2 == 0 ? 300 : 20'000, 100 + i); }
constexpr int kAcknowledged = 8;
constexpr Epoch kLastUse = 700;

class WalTailTest : public DatabaseTest {
 protected:
  // Returns a copy of a log that ends with unsynced writes.
  void MakeLog() {
    InKilledProcess([](Storage& storage) {
      for (int i = 0; i < kAcknowledged; ++i) {
        if (!Put(storage, {Acknowledged(i)}).ok()) return false;
      }
      // Uses are written without a sync.
      bool ok = true;
      for (Epoch epoch = 1; epoch < kLastUse; ++epoch) {
        ok = ok && storage.uses().Touch({{MakeId(Acknowledged(0)), epoch}}, epoch + 1).ok();
      }
      return ok;
    });
    const std::vector<fs::path> logs = Files(".log");
    ASSERT_EQ(logs.size(), 1u);
    name_ = logs[0].filename();
    fs::copy(dir(), original(), fs::copy_options::recursive);
    uint64_t number = 0;
    ASSERT_TRUE(ParseWalName(name_.string(), &number));
    synced_ = (*SyncedSizes::Open(original()))->found().at(number);
    size_ = fs::file_size(original() / name_);
    ASSERT_GT(synced_, 70'000u);
    ASSERT_GT(size_, synced_ + 60'000);
  }
  fs::path original() const { return dir_.path() + "/original"; }
  fs::path log() const { return fs::path(dir()) / name_; }
  void Renew() {
    fs::remove_all(dir());
    fs::copy(original(), dir(), fs::copy_options::recursive);
  }
  void Overwrite(uint64_t offset, const std::string& bytes) {
    std::fstream file(log(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << bytes;
    ASSERT_TRUE(file.good());
  }
  void ExpectAllAcknowledged(absl::string_view what) {
    const auto storage = OpenRocksDbStorage(dir());
    ASSERT_THAT(storage, IsOk()) << what;
    for (int i = 0; i < kAcknowledged; ++i) {
      EXPECT_EQ(*ReadAll(**storage, Acknowledged(i)), Acknowledged(i)) << what;
    }
  }
  void ExpectRefused(absl::string_view what) {
    const auto storage = OpenRocksDbStorage(dir());
    ASSERT_THAT(storage, StatusIs(absl::StatusCode::kDataLoss)) << what;
    EXPECT_NE(storage.status().message().find("refusing to start"), absl::string_view::npos)
        << storage.status();
  }

  fs::path name_;
  uint64_t synced_ = 0;
  uint64_t size_ = 0;
};

TEST_F(WalTailTest, ALogCutAnywhereAfterItsLastSyncOpensWithAllThatWasAcknowledged) {
  MakeLog();
  for (uint64_t size = synced_; size <= size_; size += size - synced_ < 20 ? 1 : 6007) {
    Renew();
    fs::resize_file(log(), size);
    ExpectAllAcknowledged(absl::StrCat("cut at ", size, " of ", size_));
  }
}

TEST_F(WalTailTest, ATailOfZerosOrGarbageOpensWithAllThatWasAcknowledged) {
  MakeLog();
  for (const uint64_t at :
       {synced_, synced_ + 3, synced_ + 700, size_ - 40'000, size_ - 5, size_}) {
    for (const std::string& tail :
         {std::string(50'000, '\0'), Noise(50'000, 9), Noise(10, 10), std::string(4096, '\0')}) {
      Renew();
      fs::resize_file(log(), at);
      Overwrite(at, tail);
      ExpectAllAcknowledged(absl::StrCat(tail.size(), " at ", at, " after ", synced_));
    }
    Renew();  // a page in the middle of what was not synced never reached the disk
    if (at + 4096 < size_) Overwrite(at, std::string(4096, '\0'));
    ExpectAllAcknowledged(absl::StrCat("a page at ", at));
  }
}

TEST_F(WalTailTest, AFlippedBitInWhatWasAcknowledgedIsRefused) {
  MakeLog();
  for (uint64_t at = 10; at < synced_; at += 3001) {
    Renew();
    FlipByte(log(), at);
    ExpectRefused(absl::StrCat("flipped at ", at, " of ", synced_));
    EXPECT_EQ(fs::file_size(log()), size_);  // left as it was
  }
}

TEST_F(WalTailTest, DamageInTheLastAcknowledgedRecordIsNotTakenForATornWrite) {
  MakeLog();
  for (const uint64_t before_end : {1, 100, 300}) {
    Renew();
    fs::resize_file(log(), synced_);
    FlipByte(log(), synced_ - before_end);
    ExpectRefused(absl::StrCat("flipped ", before_end, " before the end"));
  }
  // A length that points past the end of the file looks like a truncated record.
  Renew();
  fs::resize_file(log(), synced_);
  Overwrite(synced_ / 32768 * 32768 + 4, "\xff\x7f");
  ExpectRefused("a length");
}

TEST_F(WalTailTest, ADatabaseThatDoesNotKnowItsSyncedSizesIsNotCut) {
  MakeLog();
  Renew();
  fs::remove(fs::path(dir()) / "SYNCED");
  FlipByte(log(), synced_ - 100);
  ExpectRefused("without the sizes");
}

// The disk lost synced data. It cannot be recovered; the rest is served.
TEST_F(WalTailTest, ALogThatLostAcknowledgedWritesOpensWithTheRest) {
  MakeLog();
  Renew();
  fs::resize_file(log(), synced_ - 100);
  const auto storage = Open();
  ASSERT_NE(storage, nullptr);
  EXPECT_TRUE(HasBlob(*storage, Acknowledged(0)));
  EXPECT_FALSE(HasBlob(*storage, Acknowledged(kAcknowledged - 1)));
  EXPECT_TRUE(storage->uses().epoch().uses_lost);
}

TEST_F(WalTailTest, AKilledProcessLosesNoUses) {
  MakeLog();
  const auto storage = Open();
  EXPECT_FALSE(storage->uses().epoch().uses_lost);
  EXPECT_EQ(storage->uses().LastUses({MakeId(Acknowledged(0))})->front(), kLastUse);
}

// Files whose syncs fail on demand.
class FailingFiles : public rocksdb::FileSystemWrapper {
 public:
  FailingFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FailingFiles"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    if (status.ok()) *file = std::make_unique<File>(std::move(*file), &failing);
    return status;
  }
  std::atomic<bool> failing{false};

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, std::atomic<bool>* failing)
        : FSWritableFileOwnerWrapper(std::move(file)), failing_(failing) {}
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
      if (*failing_) return rocksdb::IOStatus::IOError("fsync", "Input/output error");
      return FSWritableFileOwnerWrapper::Sync(options, debug);
    }

   private:
    std::atomic<bool>* const failing_;
  };
};

TEST_F(WalTailTest, ASyncThatFailsOnceEndsAllWritingAndSaysSo) {
  const auto files = std::make_shared<FailingFiles>();
  absl::Status broken;
  auto storage = Open({.on_broken_log = [&](const absl::Status& status) { broken = status; },
                       .file_system = files});
  ASSERT_THAT(Put(*storage, {"before"}), IsOk());
  files->failing = true;
  EXPECT_THAT(Put(*storage, {"lost"}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(broken, StatusIs(absl::StatusCode::kUnavailable));
  files->failing = false;  // as with the kernel: the next sync says that all is well
  EXPECT_THAT(Put(*storage, {"after"}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(storage->uses().Touch({{MakeId("before"), 1}}, 2),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(*ReadAll(*storage, "before"), "before");
  storage.reset();
  EXPECT_TRUE(HasBlob(*Open(), "before"));
}

TEST_F(WalTailTest, ATableThatCannotBeSyncedEndsAllWritingToo) {
  const auto files = std::make_shared<FailingFiles>();
  std::atomic<bool> broken{false};
  auto storage =
      Open({.on_broken_log = [&](const absl::Status&) { broken = true; }, .file_system = files});
  ASSERT_THAT(Put(*storage, {"before"}), IsOk());
  files->failing = true;
  EXPECT_FALSE(storage->disk().Reclaim().ok());  // writes the buffers out
  EXPECT_TRUE(broken);
  files->failing = false;
  EXPECT_THAT(Put(*storage, {"after"}), StatusIs(absl::StatusCode::kUnavailable));
  storage.reset();
  EXPECT_TRUE(HasBlob(*Open(), "before"));
}

}  // namespace
}  // namespace kernelmill::store
