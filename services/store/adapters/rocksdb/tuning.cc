#include "services/store/adapters/rocksdb/tuning.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "common/rocksdb/process_logger.h"

namespace kernelmill::store {
namespace {

// `wished`, or less where the whole database is to take little: buffers and files of a sixteenth of
// the limit leave room for content, and come back to the disk one by one.
size_t Fit(const RocksDbOptions& options, int64_t wished) {
  if (options.limit_bytes == 0) return wished;
  return std::clamp<int64_t>(options.limit_bytes / 16, 256 << 10, wished);
}

rocksdb::ColumnFamilyOptions PointLookups(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;  // so that the cache bounds the memory
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));  // most questions are answered "no"
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;

  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kZSTD;
  options.level_compaction_dynamic_level_bytes = true;
  options.force_consistency_checks = true;
  return options;
}

// Content is written once and never merged again. Files of it are not collected in passing: that
// would read damaged content, upon which RocksDB stops all writing. reclaim.cc does it.
void UseBlobFiles(rocksdb::ColumnFamilyOptions* options, uint64_t min_bytes, uint64_t file_bytes) {
  options->enable_blob_files = true;
  options->min_blob_size = min_bytes;
  options->blob_file_size = file_bytes;
  options->blob_compression_type = rocksdb::kZSTD;
}

}  // namespace

rocksdb::DBOptions TunedDbOptions(const RocksDbOptions& wish) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  // What the log's tail may lack after a crash was never acknowledged: each acknowledged write
  // synced the log up to its own end. Damage before the tail is another matter: the default mode,
  // kPointInTimeRecovery, would silently drop all that follows it, acknowledged or not. This mode
  // forgives the tail alone and refuses to open otherwise. What it takes for a tail, and what not,
  // log_tail.h mends.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // A whole log file that is gone is noticed, too.
  options.track_and_verify_wals_in_manifest = true;
  options.verify_sst_unique_id_in_manifest = true;
  options.max_total_wal_size = Fit(wish, 128 << 20);  // bounds the replay at start
  // Opening must not touch every file of a large store.
  options.max_open_files = 512;
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.max_background_jobs = 4;
  options.bytes_per_sync = 1 << 20;
  options.info_log = NewProcessLogger();
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> TunedFamilies(const RocksDbOptions& wish) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(wish.block_cache_bytes);
  const rocksdb::ColumnFamilyOptions lookups = PointLookups(cache);

  rocksdb::ColumnFamilyOptions cas = lookups;
  // After a full disk, RocksDB writes again once there is room for the largest buffer.
  cas.write_buffer_size = Fit(wish, 32 << 20);
  cas.max_write_buffer_number = 3;
  UseBlobFiles(&cas, 2048, Fit(wish, 256 << 20));  // above every header: kMaxInlineBytes and a few
  cas.blob_compression_type = rocksdb::kNoCompression;  // done before, by packing.h
  cas.level0_file_num_compaction_trigger = 8;           // a large blob's flush leaves a small file

  rocksdb::ColumnFamilyOptions ac = lookups;
  ac.write_buffer_size = Fit(wish, 16 << 20);
  UseBlobFiles(&ac, 16 << 10, Fit(wish, 64 << 20));  // results carry counters and may be large

  rocksdb::ColumnFamilyOptions use = lookups;
  use.write_buffer_size = Fit(wish, 16 << 20);

  rocksdb::ColumnFamilyOptions hold = lookups;
  hold.write_buffer_size = Fit(wish, 8 << 20);

  rocksdb::ColumnFamilyOptions main;
  main.write_buffer_size = 1 << 20;
  return {{rocksdb::kDefaultColumnFamilyName, main},
          {"cas", cas},
          {"ac", ac},
          {"use", use},
          {"hold", hold}};
}

}  // namespace kernelmill::store
