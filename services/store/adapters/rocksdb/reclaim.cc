#include "services/store/adapters/rocksdb/reclaim.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"
#include "services/store/adapters/rocksdb/synced_sizes.h"

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
    if (!ParseLogName(entry.path().string(), &number)) continue;
    std::error_code gone;  // RocksDB may delete it at any time
    const uint64_t size = entry.file_size(gone);
    if (!gone) bytes += size;
  }
  if (error) return ErrnoStatus(error.value(), dir);
  return bytes;
}

absl::Status Compact(Database* database, rocksdb::ColumnFamilyHandle* family, double copied_share,
                     std::atomic<bool>* stop) {
  if (*stop) return absl::CancelledError("the store is about to end");
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  options.allow_write_stall = false;
  options.canceled = stop;
  options.blob_garbage_collection_policy = copied_share > 0
                                               ? rocksdb::BlobGarbageCollectionPolicy::kForce
                                               : rocksdb::BlobGarbageCollectionPolicy::kDisable;
  options.blob_garbage_collection_age_cutoff = copied_share;
  const rocksdb::Status status = database->db().CompactRange(options, family, nullptr, nullptr);
  if (!status.ok() && *stop) return absl::CancelledError("the store is about to end");
  return FromRocksStatus(status, "giving room back");
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

absl::StatusOr<Space> MeasureDatabase(Database* database) {
  using rocksdb::DB;
  ASSIGN_OR_RETURN(const uint64_t logs, LogBytes(database->dir()));
  std::error_code error;
  const fs::space_info disk = fs::space(database->dir(), error);
  if (error) return ErrnoStatus(error.value(), database->dir());
  const uint64_t files = Sum(database, DB::Properties::kLiveSstFilesSize) +
                         Sum(database, DB::Properties::kLiveBlobFileSize);
  return Space{.disk_bytes = static_cast<int64_t>(files + logs),
               .garbage_bytes =
                   static_cast<int64_t>(Sum(database, DB::Properties::kLiveBlobFileGarbageSize)),
               .free_bytes = static_cast<int64_t>(disk.available)};
}

absl::Status ReclaimSpace(Database* database, bool may_copy, std::atomic<bool>* stop) {
  RETURN_IF_ERROR(FromRocksStatus(
      database->db().Flush(rocksdb::FlushOptions(), database->families()), "writing buffers out"));
  for (rocksdb::ColumnFamilyHandle* family : {database->use(), database->ac(), database->cas()}) {
    RETURN_IF_ERROR(Compact(database, family, 0, stop));
    if (!may_copy || family == database->use()) continue;
    const double share = WorthCopying(database, family);
    if (share > 0) RETURN_IF_ERROR(Compact(database, family, share, stop));
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::store
