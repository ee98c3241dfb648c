#include "services/store/adapters/rocksdb/disk.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/backup.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/adapters/rocksdb/database/synced_sizes.h"

namespace kernelmill::store {
namespace {

namespace fs = std::filesystem;

constexpr double kWorthCopying = 0.35;  // garbage in what is written anew

uint64_t Sum(Database* database, const std::string& property) {
  uint64_t sum = 0;
  for (rocksdb::ColumnFamilyHandle* family : database->families()) {
    uint64_t value = 0;
    if (database->db().GetIntProperty(family, property, &value)) sum += value;
  }
  return sum;
}

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

// The share of the family's blob files, from the oldest on, that is worth writing anew; 0: none.
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
  // RocksDB takes the floor of share x files.
  return std::min(1.0, (static_cast<double>(run) + 0.5) / static_cast<double>(files.size()));
}

}  // namespace

absl::StatusOr<Space> RocksDbDisk::Measure() {
  using rocksdb::DB;
  ASSIGN_OR_RETURN(const uint64_t logs, LogBytes(database_->dir()));
  std::error_code error;
  const fs::space_info disk = fs::space(database_->dir(), error);
  if (error) return ErrnoStatus(error.value(), database_->dir());
  // RocksDB knows the sizes of what is live, without a look at the files.
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

// The basic idea: deletions reach the content in three steps. Writing the buffers out frees the
// logs. Compacting the keys, which are few bytes, drops the references to deleted content, so that
// RocksDB knows how much of each blob file is garbage, and deletes the files that are nothing else.
// Then, as content is evicted in the order of its use, which is about that of its writing, the
// oldest files hold most garbage: the largest run of oldest files that is garbage for more than a
// third is written anew without it. Damaged content is never copied: while some is known, only the
// first two steps are done.
absl::Status RocksDbDisk::Reclaim() {
  ASSIGN_OR_RETURN(const bool damaged, HasDamage());
  RETURN_IF_ERROR(
      FromRocksStatus(database_->db().Flush(rocksdb::FlushOptions(), database_->families()),
                      "writing buffers out"));
  for (rocksdb::ColumnFamilyHandle* family :
       {database_->use(), database_->ac(), database_->cas()}) {
    RETURN_IF_ERROR(Compact(family, 0));
    if (damaged || family == database_->use()) continue;
    const double share = WorthCopying(database_, family);
    if (share > 0) RETURN_IF_ERROR(Compact(family, share));
  }
  return absl::OkStatus();
}

absl::Status RocksDbDisk::Compact(rocksdb::ColumnFamilyHandle* family, double copied_share) {
  if (stop_) return absl::CancelledError("the store is about to end");
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
  if (!status.ok() && stop_) return absl::CancelledError("the store is about to end");
  return FromRocksStatus(status, "giving room back");
}

// Whether a blob is marked as damaged.
absl::StatusOr<bool> RocksDbDisk::HasDamage() {
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(rocksdb::ReadOptions(), database_->use()));
  it->Seek(ToSlice(kDamagePrefix));
  const bool damaged = it->Valid() && absl::StartsWith(ToView(it->key()), kDamagePrefix);
  RETURN_IF_ERROR(FromRocksStatus(it->status(), "looking for marks of damage"));
  return damaged;
}

absl::StatusOr<int64_t> RocksDbDisk::BackUp(const std::string& dir) {
  return store::BackUp(&database_->db(), dir, stop_);
}

}  // namespace kernelmill::store
