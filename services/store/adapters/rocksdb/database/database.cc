#include "services/store/adapters/rocksdb/database/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/rocksdb/format.h"
#include "common/rocksdb/rocksdb.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/adapters/rocksdb/database/upgrades.h"
#include "services/store/adapters/rocksdb/database/wal.h"

namespace kernelmill::store {
namespace {

constexpr char kClean[] = "clean";  // the value of kBootKey after a clean close

// Returns `bytes`, or a sixteenth of the limit if that is less: with small buffers and files, a
// small database has room for content, and deleting one file frees only a part of it.
size_t Fit(const RocksDbOptions& options, int64_t bytes) {
  if (options.limit_bytes == 0) return bytes;
  return std::clamp<int64_t>(options.limit_bytes / 16, 256 << 10, bytes);
}

// Returns the options of a family that is read by exact keys, mostly keys that do not exist.
rocksdb::ColumnFamilyOptions PointLookups(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;  // so that the cache bounds the memory
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));  // most lookups find nothing
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;

  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kZSTD;
  options.level_compaction_dynamic_level_bytes = true;
  options.force_consistency_checks = true;
  return options;
}

// Stores values in blob files, so that compaction does not rewrite them. RocksDB's own garbage
// collection of blob files stays off: it would read damaged content and then stop all writes.
// RocksDbDisk::Reclaim (rocksdb_storage.cc) collects them.
void UseBlobFiles(rocksdb::ColumnFamilyOptions* options, uint64_t min_bytes, uint64_t file_bytes) {
  options->enable_blob_files = true;
  options->min_blob_size = min_bytes;
  options->blob_file_size = file_bytes;
  options->blob_compression_type = rocksdb::kZSTD;
}

rocksdb::DBOptions TunedDbOptions(const RocksDbOptions& wanted) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  // After a crash the log's tail may be incomplete. It was never acknowledged: each acknowledged
  // write synced the log up to its own end. Damage before the tail is different: the default mode,
  // kPointInTimeRecovery, would silently drop everything after it, acknowledged or not. This mode
  // tolerates an incomplete tail only, and otherwise refuses to open. CheckWalTails and
  // CutTornTails (wal.h) correct what RocksDB takes for a tail.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // RocksDB also notices when a whole log file is missing.
  options.track_and_verify_wals_in_manifest = true;
  options.verify_sst_unique_id_in_manifest = true;
  options.max_total_wal_size = Fit(wanted, 128 << 20);  // bounds the replay at start
  // Opening must not touch every file of a large store.
  options.max_open_files = 512;
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.max_background_jobs = 4;
  options.bytes_per_sync = 1 << 20;
  options.info_log = NewProcessLogger();
  return options;
}

// Returns the column families in the order of Database's accessors: default, cas, ac, use, hold.
std::vector<rocksdb::ColumnFamilyDescriptor> TunedFamilies(const RocksDbOptions& wanted) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(wanted.block_cache_bytes);
  const rocksdb::ColumnFamilyOptions lookups = PointLookups(cache);

  rocksdb::ColumnFamilyOptions cas = lookups;
  // After a full disk, RocksDB resumes writing when the largest buffer fits.
  cas.write_buffer_size = Fit(wanted, 32 << 20);
  cas.max_write_buffer_number = 3;
  // 2048 is more than any header, which has kMaxInlineBytes and a few.
  UseBlobFiles(&cas, 2048, Fit(wanted, 256 << 20));
  cas.blob_compression_type = rocksdb::kNoCompression;  // packing.h compresses
  cas.level0_file_num_compaction_trigger = 8;           // each flush of a large blob adds a file

  rocksdb::ColumnFamilyOptions ac = lookups;
  ac.write_buffer_size = Fit(wanted, 16 << 20);
  UseBlobFiles(&ac, 16 << 10, Fit(wanted, 64 << 20));  // results carry counters and may be large

  rocksdb::ColumnFamilyOptions use = lookups;
  use.write_buffer_size = Fit(wanted, 16 << 20);

  rocksdb::ColumnFamilyOptions hold = lookups;
  hold.write_buffer_size = Fit(wanted, 8 << 20);

  rocksdb::ColumnFamilyOptions main;
  main.write_buffer_size = 1 << 20;
  return {{rocksdb::kDefaultColumnFamilyName, main},
          {"cas", cas},
          {"ac", ac},
          {"use", use},
          {"hold", hold}};
}

// Converts the status of a write. A full disk gets the words that operators search for.
absl::Status FromWrite(const rocksdb::Status& status, absl::string_view context) {
  const absl::Status written = FromRocksStatus(status, context);
  return absl::IsResourceExhausted(written) ? Annotate(written, "the store's disk is full")
                                            : written;
}

// Returns an id of the machine's current boot, or an empty string if the system has none.
std::string BootId() {
  const absl::StatusOr<std::string> id = ReadFile("/proc/sys/kernel/random/boot_id", 100);
  return id.ok() ? std::string(absl::StripAsciiWhitespace(*id)) : "";
}

}  // namespace

// Opens the database in this order: check the log's tail before RocksDB replays the log, open, then
// upgrade the format, load the counters and the epoch, and find out whether uses were lost.
absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& dir,
                                                         const RocksDbOptions& options) {
  RETURN_IF_ERROR(PrepareDatabaseFolder(dir));
  std::unique_ptr<Database> database(new Database);
  database->dir_ = dir;
  RETURN_IF_ERROR(database->OpenDb(options));
  RETURN_IF_ERROR(Annotate(
      UpgradeFormat(*database->db_, dir, StoreFormats(database->db_.get(), database->use())), dir));
  RETURN_IF_ERROR(database->counters_.Load(database->db_.get(), database->use()));
  RETURN_IF_ERROR(Annotate(database->ReadEpoch(), dir));
  RETURN_IF_ERROR(Annotate(database->NoteBoot(), dir));
  return database;
}

// RocksDB refuses a log whose tail is torn in a way that it takes for damage. If SYNCED proves that
// no acknowledged write is in the torn part, the tail is cut off, and the opening is tried once
// more.
absl::Status Database::OpenDb(const RocksDbOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<SyncedSizes> sizes, SyncedSizes::Open(dir_));
  ASSIGN_OR_RETURN(const WalTails tails, CheckWalTails(dir_, *sizes));
  if (tails.lost_bytes > 0) {
    tail_was_lost_ = true;
    LogError("the end of the write-ahead log is missing: the disk lost data that it had synced",
             {{"data", dir_}, {"lost_bytes", tails.lost_bytes}});
  }
  const SyncedSizes& found = *sizes;
  log_ = std::make_shared<WalMonitor>(
      options.file_system ? options.file_system : rocksdb::FileSystem::Default(), std::move(sizes),
      options.on_broken_log);
  env_ = rocksdb::NewCompositeEnv(log_);
  rocksdb::DBOptions db_options = TunedDbOptions(options);
  db_options.env = env_.get();
  // Counters only: they are counted per processor, without reading a clock.
  statistics_ = rocksdb::CreateDBStatistics();
  statistics_->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  db_options.statistics = statistics_;
  on_synced_ = options.on_synced;
  db_options.listeners.push_back(NewFailureListener(log_, [this](const rocksdb::Status& damage) {
    NoteDamage(FromRocksStatus(damage, "background work")).IgnoreError();
  }));
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = TunedFamilies(options);
  rocksdb::DB* db = nullptr;
  rocksdb::Status opened = rocksdb::DB::Open(db_options, dir_, families, &families_, &db);
  if (opened.IsCorruption()) {
    const absl::StatusOr<WalTails> cut = CutTornTails(dir_, found);
    if (!cut.ok() || cut->torn_bytes == 0) return FromOpenStatus(opened, dir_);
    tail_was_lost_ = true;
    LogWarning("cut off a torn tail of the write-ahead log; no write in it was acknowledged",
               {{"data", dir_}, {"bytes", cut->torn_bytes}});
    opened = rocksdb::DB::Open(db_options, dir_, families, &families_, &db);
  }
  if (!opened.ok()) return FromOpenStatus(opened, dir_);
  db_.reset(db);
  return absl::OkStatus();
}

Database::~Database() {
  if (db_ == nullptr) return;
  if (opened_) NoteCleanEnd();
  for (rocksdb::ColumnFamilyHandle* handle : families_) db_->DestroyColumnFamilyHandle(handle);
  if (const rocksdb::Status closed = db_->Close(); !closed.ok()) {
    LogError("closing the database failed", {{"error", closed.ToString()}});
  }
}

// Notes a clean close. Not called if opening failed: the previous process may have crashed, and the
// next one must find that out.
void Database::NoteCleanEnd() {
  rocksdb::WriteBatch batch;
  batch.Put(main(), kBootKey, kClean);
  if (const absl::Status noted = WriteDurably(batch, "boot"); !noted.ok()) {
    LogWarning("cannot note the clean close", {{"error", noted.ToString()}});
  }
}

absl::Status Database::ReadEpoch() {
  rocksdb::PinnableSlice value;
  absl::Status status = Get(main(), kEpochKey, &value, "epoch");
  if (status.ok()) {
    ASSIGN_OR_RETURN(epoch_, ParseEpoch(ToView(value)));
  } else if (!absl::IsNotFound(status)) {
    return status;
  }
  // A use is never later than the epoch, unless a torn log lost the epoch's record but not the
  // use's.
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), use()));
  it->SeekForPrev(IndexBound(kNoEpoch));
  if (it->Valid() && it->key().size() > IndexBound(0).size() &&
      it->key().starts_with(ToSlice(kIndexPrefix))) {
    epoch_.epoch = std::max(epoch_.epoch, IndexKeyEpoch(ToView(it->key())));
  }
  return FromRocksStatus(it->status(), "reading the last use");
}

// Finds out whether uses may be lost: they are written without a sync, so a crash of the machine
// (another boot, no clean close) or a lost tail of the log loses them. Then notes this boot.
absl::Status Database::NoteBoot() {
  rocksdb::PinnableSlice found;
  absl::Status status = Get(main(), kBootKey, &found, "boot");
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  const std::string boot = BootId();
  const bool same_boot = !boot.empty() && ToView(found) == boot;
  epoch_.uses_lost = tail_was_lost_ || (status.ok() && ToView(found) != kClean && !same_boot);
  rocksdb::WriteBatch batch;
  batch.Put(main(), kBootKey, boot);
  RETURN_IF_ERROR(WriteDurably(batch, "boot"));
  opened_ = true;
  return absl::OkStatus();
}

// Writes the batch and the new value of a counter slot at once; the counters in memory follow only
// when the write succeeded.
absl::Status Database::Write(rocksdb::WriteBatch& batch, bool sync, absl::string_view context,
                             const Usage& delta) {
  RETURN_IF_ERROR(log_->status());
  Counters::Change change(&counters_, delta, &batch);
  rocksdb::WriteOptions options;
  options.sync = sync;
  const auto start = std::chrono::steady_clock::now();
  const absl::Status written = FromWrite(db_->Write(options, &batch), context);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  // Checked even if this write's own sync succeeded: after a failure the log's content is unknown.
  RETURN_IF_ERROR(log_->status());
  if (absl::IsDataLoss(written)) return NoteDamage(written);
  RETURN_IF_ERROR(written);
  change.Commit();
  if (sync && on_synced_) on_synced_(taken.count());
  return absl::OkStatus();
}

// UNAVAILABLE, so that clients wait for the repair: none of their blobs is known to be lost.
absl::Status Database::NoteDamage(const absl::Status& damage) {
  absl::MutexLock lock(&damage_mutex_);
  if (damage_.ok()) {
    damage_ = absl::UnavailableError(
        absl::StrCat("a table of the store is damaged; stop the store and run `kernelmill-store "
                     "repair`: ",
                     damage.message()));
    LogError("a table is damaged; the store takes no writes until it is repaired",
             {{"data", dir_}, {"error", damage.message()}});
  }
  return damage_;
}

absl::Status Database::damage() const {
  absl::MutexLock lock(&damage_mutex_);
  return damage_;
}

absl::Status Database::WriteDurably(rocksdb::WriteBatch& batch, absl::string_view context,
                                    const Usage& delta) {
  return Write(batch, /*sync=*/true, context, delta);
}

absl::Status Database::WriteLazily(rocksdb::WriteBatch& batch, absl::string_view context,
                                   const Usage& delta) {
  return Write(batch, /*sync=*/false, context, delta);
}

// Writes without the log: the content is durable only after FlushContent.
absl::Status Database::WriteUnlogged(rocksdb::WriteBatch& batch, absl::string_view context) {
  RETURN_IF_ERROR(log_->status());
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  absl::Status written = FromWrite(db_->Write(options, &batch), context);
  return absl::IsDataLoss(written) ? NoteDamage(written) : written;
}

// Group flush: each caller takes a number. One caller flushes for all numbers that are taken when
// its flush starts; the others wait until a flush covers their number.
absl::Status Database::FlushContent() {
  absl::MutexLock lock(&flush_mutex_);
  const uint64_t request = ++flushes_wanted_;
  while (flushing_ && flushes_done_ < request) flush_ended_.Wait(&flush_mutex_);
  if (flushes_done_ >= request) return flushed_;  // another caller's flush covered this request
  flushing_ = true;
  const uint64_t met = flushes_wanted_;
  flush_mutex_.Unlock();
  absl::Status status = FromWrite(db_->Flush(rocksdb::FlushOptions(), cas()), "flushing content");
  if (absl::IsDataLoss(status)) status = NoteDamage(status);
  flush_mutex_.Lock();
  flushing_ = false;
  flushes_done_ = met;
  flushed_ = status;
  flush_ended_.SignalAll();
  return status;
}

absl::Status Database::Get(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                           rocksdb::PinnableSlice* value, absl::string_view context) {
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  return GetWith(options, family, key, value, context);
}

absl::Status Database::GetUnchecked(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                                    rocksdb::PinnableSlice* value, absl::string_view context) {
  rocksdb::ReadOptions options;
  options.verify_checksums = false;
  return GetWith(options, family, key, value, context);
}

// NOT_FOUND: the key does not exist. DATA_LOSS: a checksum does not match, or a file is missing.
absl::Status Database::GetWith(const rocksdb::ReadOptions& options,
                               rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                               rocksdb::PinnableSlice* value, absl::string_view context) {
  const rocksdb::Status status = db_->Get(options, family, ToSlice(key), value);
  if (status.IsIOError() && status.subcode() == rocksdb::Status::kPathNotFound) {
    return absl::DataLossError(absl::StrCat(context, ": a file is missing: ", status.ToString()));
  }
  return FromRocksStatus(status, context);
}

}  // namespace kernelmill::store
