#include "services/store/adapters/rocksdb/rocksdb_storage.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/backup.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/blobs.h"
#include "services/store/adapters/rocksdb/database/database.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/adapters/rocksdb/database/wal.h"
#include "services/store/adapters/rocksdb/lost_content.h"
#include "services/store/adapters/rocksdb/salvage.h"
#include "services/store/adapters/rocksdb/uses.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {
namespace {

// The files of the database: measures, compacts and backs them up. Thread-safe.
class RocksDbDisk : public Disk {
 public:
  // `database` must outlive this.
  explicit RocksDbDisk(Database* database) : database_(database) {}

  absl::StatusOr<Space> Measure() override;
  Effort effort() override;
  absl::Status Reclaim() override;
  absl::StatusOr<int64_t> BackUp(const std::string& dir) override;
  void Stop() override { stop_ = true; }

 private:
  absl::Status Compact(rocksdb::ColumnFamilyHandle* family, double copied_share);

  Database* const database_;
  std::atomic<bool> stop_{false};
};

namespace fs = std::filesystem;

// The share of garbage from which a run of blob files is rewritten: copying costs the live rest.
constexpr double kWorthCopying = 0.35;

// Returns the sum of a RocksDB property over all column families.
uint64_t Sum(Database* database, const std::string& property) {
  uint64_t sum = 0;
  for (rocksdb::ColumnFamilyHandle* family : database->families()) {
    uint64_t value = 0;
    if (database->db().GetIntProperty(family, property, &value)) sum += value;
  }
  return sum;
}

// Returns the size of the write-ahead logs, which RocksDB does not count as live files.
absl::StatusOr<uint64_t> LogBytes(const std::string& dir) {
  std::error_code error;
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    uint64_t number = 0;
    if (!ParseWalName(entry.path().string(), &number)) continue;
    std::error_code gone;  // RocksDB may delete it at any time
    const uint64_t size = entry.file_size(gone);
    if (!gone) bytes += size;
  }
  if (error) return ErrnoStatus(error.value(), dir);
  return bytes;
}

// Returns the share of the family's blob files, counted from the oldest, that is worth rewriting:
// the longest run of oldest files with enough garbage. 0 if no run has enough.
double WorthCopying(Database* database, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ColumnFamilyMetaData data;
  database->db().GetColumnFamilyMetaData(family, &data);
  std::vector<rocksdb::BlobMetaData>& files = data.blob_files;
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.blob_file_number < b.blob_file_number; });
  double garbage = 0;
  double all = 0;
  size_t run = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    garbage += static_cast<double>(files[i].garbage_blob_bytes);
    all += static_cast<double>(files[i].total_blob_bytes);
    if (garbage > 0 && garbage >= kWorthCopying * all) run = i + 1;
  }
  if (run == 0) return 0;
  // RocksDB rounds share x files down; the half file keeps `run` files after rounding.
  return std::min(1.0, (static_cast<double>(run) + 0.5) / static_cast<double>(files.size()));
}

absl::StatusOr<Space> RocksDbDisk::Measure() {
  using rocksdb::DB;
  RETURN_IF_ERROR(database_->damage());
  ASSIGN_OR_RETURN(const uint64_t logs, LogBytes(database_->dir()));
  std::error_code error;
  const fs::space_info disk = fs::space(database_->dir(), error);
  if (error) return ErrnoStatus(error.value(), database_->dir());
  // RocksDB knows the sizes of its live files without a system call.
  const uint64_t files = Sum(database_, DB::Properties::kLiveSstFilesSize) +
                         Sum(database_, DB::Properties::kLiveBlobFileSize);
  return Space{.disk_bytes = static_cast<int64_t>(files + logs),
               .garbage_bytes =
                   static_cast<int64_t>(Sum(database_, DB::Properties::kLiveBlobFileGarbageSize)),
               .free_bytes = static_cast<int64_t>(disk.available)};
}

Effort RocksDbDisk::effort() {
  const rocksdb::Statistics& counted = database_->statistics();
  const auto ticker = [&counted](uint32_t which) {
    return static_cast<int64_t>(counted.getTickerCount(which));
  };
  return {.stalled_seconds = static_cast<double>(ticker(rocksdb::STALL_MICROS)) / 1e6,
          .written = ticker(rocksdb::BYTES_WRITTEN),
          .flushed = ticker(rocksdb::FLUSH_WRITE_BYTES),
          .compaction_read = ticker(rocksdb::COMPACT_READ_BYTES),
          .compaction_written = ticker(rocksdb::COMPACT_WRITE_BYTES),
          .pending_compaction = static_cast<int64_t>(
              Sum(database_, rocksdb::DB::Properties::kEstimatePendingCompactionBytes))};
}

// The basic idea: RocksDB frees the bytes of deleted content in three steps.
//   1. Flushing the buffers frees the logs.
//   2. Compacting the keys, which are few bytes, drops the references to deleted content. RocksDB
//      then knows how much of each blob file is garbage, and deletes files that are garbage only.
//   3. Content is evicted in the order of its use, which is roughly the order of its writing. So
//   the
//      oldest files hold most garbage: the longest run of oldest files with more than kWorthCopying
//      of garbage is rewritten without it.
absl::Status RocksDbDisk::Reclaim() {
  RETURN_IF_ERROR(
      FromRocksStatus(database_->db().Flush(rocksdb::FlushOptions(), database_->families()),
                      "flushing the buffers"));
  for (rocksdb::ColumnFamilyHandle* family :
       {database_->use(), database_->ac(), database_->cas()}) {
    RETURN_IF_ERROR(Compact(family, 0));
    if (family == database_->use()) continue;
    const double share = WorthCopying(database_, family);
    if (share > 0) RETURN_IF_ERROR(Compact(family, share));
  }
  return absl::OkStatus();
}

// Compacts the whole family. `copied_share`: the share of the blob files, from the oldest, to
// rewrite; 0 rewrites no blob file. CANCELLED: Stop was called.
absl::Status RocksDbDisk::Compact(rocksdb::ColumnFamilyHandle* family, double copied_share) {
  if (stop_) return absl::CancelledError("the store is shutting down");
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  options.allow_write_stall = false;
  options.canceled = &stop_;
  options.blob_garbage_collection_policy = copied_share > 0
                                               ? rocksdb::BlobGarbageCollectionPolicy::kForce
                                               : rocksdb::BlobGarbageCollectionPolicy::kDisable;
  options.blob_garbage_collection_age_cutoff = copied_share;
  const rocksdb::Status status = database_->db().CompactRange(options, family, nullptr, nullptr);
  if (!status.ok() && stop_) return absl::CancelledError("the store is shutting down");
  return FromRocksStatus(status, "compacting");
}

// Returns whether any blob is marked as damaged.
absl::StatusOr<int64_t> RocksDbDisk::BackUp(const std::string& dir) {
  return kernelmill::BackUp(&database_->db(), kStoreDatabase, dir, stop_);
}

// One open database and the ports on it.
class RocksDbStorage : public Storage {
 public:
  RocksDbStorage(std::unique_ptr<Database> database, std::vector<std::string> abandoned_uploads)
      : database_(std::move(database)),
        blobs_(database_.get(), std::move(abandoned_uploads)),
        uses_(database_.get()),
        holds_(database_.get()),
        disk_(database_.get()) {}

  Blobs& blobs() override { return blobs_; }
  Uses& uses() override { return uses_; }
  Holds& holds() override { return holds_; }
  Disk& disk() override { return disk_; }

 private:
  const std::unique_ptr<Database> database_;
  RocksDbBlobs blobs_;
  RocksDbUses uses_;
  RocksDbHolds holds_;
  RocksDbDisk disk_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            const RocksDbOptions& options) {
  RETURN_IF_ERROR(CheckRestored(dir));
  RETURN_IF_ERROR(CheckRepaired(dir));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(dir, options));
  RETURN_IF_ERROR(ForgetRestore(dir));
  // No upload has begun yet, so every staging id is abandoned.
  ASSIGN_OR_RETURN(std::vector<std::string> abandoned, ListStagings(database.get()));
  ASSIGN_OR_RETURN(const std::vector<BlobId> lost, FindLostContent(database.get()));
  auto storage = std::make_unique<RocksDbStorage>(std::move(database), std::move(abandoned));
  for (const BlobId& id : lost) RETURN_IF_ERROR(storage->blobs().MarkDamaged(id));
  // Older releases kept the content of marked blobs. A full disk leaves this to a later start.
  ASSIGN_OR_RETURN(const std::vector<BlobId> marked, storage->blobs().Damaged());
  for (const BlobId& id : marked) {
    const absl::Status dropped = storage->blobs().MarkDamaged(id);
    if (dropped.ok()) continue;
    LogWarning("cannot drop the content of damaged blobs yet", {{"error", dropped.ToString()}});
    break;
  }
  if (!lost.empty()) {
    LogError("blobs are lost; clients are told to put them again",
             {{"data", dir}, {"blobs", lost.size()}});
  }
  return storage;
}

}  // namespace kernelmill::store
