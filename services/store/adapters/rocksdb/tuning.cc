#include "services/store/adapters/rocksdb/tuning.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <memory>

#include "common/rocksdb/process_logger.h"

namespace kernelmill::store {
namespace {

rocksdb::ColumnFamilyOptions PointLookups(size_t block_cache_bytes) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(block_cache_bytes);
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

}  // namespace

rocksdb::DBOptions TunedDbOptions() {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  // What the log's tail may lack after a crash was never acknowledged: each acknowledged write
  // synced the log up to its own end. Damage before the tail is another matter: the default mode,
  // kPointInTimeRecovery, would silently drop all that follows it, acknowledged or not. This mode
  // forgives the tail alone and refuses to open otherwise.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // A whole log file that is gone is noticed, too.
  options.track_and_verify_wals_in_manifest = true;
  options.verify_sst_unique_id_in_manifest = true;
  options.max_total_wal_size = 256 << 20;  // bounds the replay at start
  // Opening must not touch every file of a large store.
  options.max_open_files = 512;
  options.skip_stats_update_on_db_open = true;
  options.max_background_jobs = 4;
  options.bytes_per_sync = 1 << 20;
  options.info_log = NewProcessLogger();
  return options;
}

rocksdb::ColumnFamilyOptions TunedCasOptions(size_t block_cache_bytes) {
  rocksdb::ColumnFamilyOptions options = PointLookups(block_cache_bytes);
  options.write_buffer_size = 64 << 20;
  options.enable_blob_files = true;  // content is written once and never merged again
  options.min_blob_size = 2048;      // above every header: kMaxInlineBytes and a few
  options.blob_compression_type = rocksdb::kZSTD;
  options.blob_file_size = 256 << 20;
  options.enable_blob_garbage_collection = true;
  return options;
}

rocksdb::ColumnFamilyOptions TunedResultOptions(size_t block_cache_bytes) {
  rocksdb::ColumnFamilyOptions options = PointLookups(block_cache_bytes);
  options.write_buffer_size = 16 << 20;
  options.enable_blob_files = true;  // results carry their counters and may be large
  options.min_blob_size = 16 << 10;
  options.blob_compression_type = rocksdb::kZSTD;
  options.enable_blob_garbage_collection = true;
  return options;
}

}  // namespace kernelmill::store
