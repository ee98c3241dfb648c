#include "services/store/adapters/rocksdb/database.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"
#include "services/store/adapters/rocksdb/backup.h"
#include "services/store/adapters/rocksdb/log_tail.h"
#include "services/store/adapters/rocksdb/records.h"
#include "services/store/adapters/rocksdb/tuning.h"

namespace kernelmill::store {
namespace {

constexpr char kClean[] = "clean";

// Which start of the machine this is; empty where the system does not say.
std::string BootId() {
  const absl::StatusOr<std::string> id = ReadFile("/proc/sys/kernel/random/boot_id", 100);
  return id.ok() ? std::string(absl::StripAsciiWhitespace(*id)) : "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& dir,
                                                         const RocksDbOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return ErrnoStatus(error.value(), dir);
  RETURN_IF_ERROR(CheckRestored(dir));
  std::unique_ptr<Database> database(new Database);
  database->dir_ = dir;
  RETURN_IF_ERROR(database->OpenDb(options));
  RETURN_IF_ERROR(Annotate(database->CheckFormat(), dir));
  RETURN_IF_ERROR(database->counters_.Load(database->db_.get(), database->use()));
  RETURN_IF_ERROR(Annotate(database->ReadClock(), dir));
  RETURN_IF_ERROR(Annotate(database->NoteBoot(), dir));
  return database;
}

absl::Status Database::OpenDb(const RocksDbOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<SyncedSizes> sizes, SyncedSizes::Open(dir_));
  ASSIGN_OR_RETURN(const LogTails tails, CheckLogTails(dir_, *sizes));
  if (tails.lost_bytes > 0) {
    tail_was_lost_ = true;
    LogError("the end of the log is gone: the disk did not keep what it had synced",
             {{"data", dir_}, {"lost_bytes", tails.lost_bytes}});
  }
  const SyncedSizes& found = *sizes;
  log_ = std::make_shared<LogGuard>(
      options.file_system ? options.file_system : rocksdb::FileSystem::Default(), std::move(sizes),
      options.on_broken_log);
  env_ = rocksdb::NewCompositeEnv(log_);
  rocksdb::DBOptions db_options = TunedDbOptions(options);
  db_options.env = env_.get();
  db_options.listeners.push_back(NewFailureListener(log_));
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = TunedFamilies(options);
  rocksdb::DB* db = nullptr;
  rocksdb::Status opened = rocksdb::DB::Open(db_options, dir_, families, &families_, &db);
  if (opened.IsCorruption()) {
    const absl::StatusOr<LogTails> cut = CutTornTails(dir_, found);
    if (!cut.ok() || cut->torn_bytes == 0) return FromOpenStatus(opened, dir_);
    tail_was_lost_ = true;
    LogWarning("cut off a torn tail of the log, of which nothing had been acknowledged",
               {{"data", dir_}, {"bytes", cut->torn_bytes}});
    opened = rocksdb::DB::Open(db_options, dir_, families, &families_, &db);
  }
  if (!opened.ok()) return FromOpenStatus(opened, dir_);
  db_.reset(db);
  return absl::OkStatus();
}

Database::~Database() {
  if (db_ == nullptr) return;
  rocksdb::WriteBatch batch;
  batch.Put(main(), kBootKey, kClean);
  if (const absl::Status noted = WriteDurably(batch, "boot"); !noted.ok()) {
    LogWarning("the end could not be noted", {{"error", noted.ToString()}});
  }
  for (rocksdb::ColumnFamilyHandle* handle : families_) db_->DestroyColumnFamilyHandle(handle);
  if (const rocksdb::Status closed = db_->Close(); !closed.ok()) {
    LogError("closing the database failed", {{"error", closed.ToString()}});
  }
}

absl::Status Database::CheckFormat() {
  rocksdb::PinnableSlice found;
  const absl::Status status = Get(main(), kFormatKey, &found, "format");
  rocksdb::WriteBatch batch;
  batch.Put(main(), kFormatKey, kFormat);
  if (absl::IsNotFound(status)) return WriteDurably(batch, "format");
  RETURN_IF_ERROR(status);
  if (ToView(found) == kFormat) return absl::OkStatus();
  if (ToView(found) == kFormatWithoutUses) {
    batch.Put(main(), kSettleKey, absl::StrCat("c", kHeaderPrefix));
    return WriteDurably(batch, "format");
  }
  return absl::FailedPreconditionError(
      absl::StrCat("format ", ToView(found), "; this program knows format ", kFormat));
}

absl::Status Database::ReadClock() {
  rocksdb::PinnableSlice value;
  const absl::Status status = Get(main(), kClockKey, &value, "clock");
  if (status.ok()) {
    ASSIGN_OR_RETURN(clock_, ParseClock(ToView(value)));
  } else if (!absl::IsNotFound(status)) {
    return status;
  }
  // A mark is never ahead of the clock, unless a torn log lost the clock alone.
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), use()));
  it->SeekForPrev(IndexBound(kNotHeld));
  if (it->Valid() && it->key().size() > IndexBound(0).size() &&
      it->key().starts_with(ToSlice(kIndexPrefix))) {
    clock_.tick = std::max(clock_.tick, TickOfIndexKey(ToView(it->key())));
  }
  return FromRocksStatus(it->status(), "reading the last use");
}

absl::Status Database::NoteBoot() {
  rocksdb::PinnableSlice found;
  const absl::Status status = Get(main(), kBootKey, &found, "boot");
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  const std::string boot = BootId();
  const bool same_boot = !boot.empty() && ToView(found) == boot;
  clock_.marks_lost = tail_was_lost_ || (status.ok() && ToView(found) != kClean && !same_boot);
  rocksdb::WriteBatch batch;
  batch.Put(main(), kBootKey, boot);
  return WriteDurably(batch, "boot");
}

absl::Status Database::Write(rocksdb::WriteBatch& batch, bool sync, absl::string_view context,
                             const Usage& delta) {
  RETURN_IF_ERROR(log_->status());
  Counters::Change change(&counters_, delta, &batch);
  rocksdb::WriteOptions options;
  options.sync = sync;
  const absl::Status written = FromRocksStatus(db_->Write(options, &batch), context);
  // Whether its own sync went well or not: the log failed, so that nobody knows what it holds.
  RETURN_IF_ERROR(log_->status());
  RETURN_IF_ERROR(written);
  change.Commit();
  return absl::OkStatus();
}

absl::Status Database::WriteDurably(rocksdb::WriteBatch& batch, absl::string_view context,
                                    const Usage& delta) {
  return Write(batch, /*sync=*/true, context, delta);
}

absl::Status Database::WriteLazily(rocksdb::WriteBatch& batch, absl::string_view context,
                                   const Usage& delta) {
  return Write(batch, /*sync=*/false, context, delta);
}

absl::Status Database::WriteUnlogged(rocksdb::WriteBatch& batch, absl::string_view context) {
  RETURN_IF_ERROR(log_->status());
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return FromRocksStatus(db_->Write(options, &batch), context);
}

absl::Status Database::FlushContent() {
  absl::MutexLock lock(&flush_mutex_);
  const uint64_t wish = ++flushes_wanted_;
  while (flushing_ && flushes_done_ < wish) flush_ended_.Wait(&flush_mutex_);
  if (flushes_done_ >= wish) return flushed_;  // one that began after the wish met it
  flushing_ = true;
  const uint64_t met = flushes_wanted_;
  flush_mutex_.Unlock();
  const absl::Status status =
      FromRocksStatus(db_->Flush(rocksdb::FlushOptions(), cas()), "writing content out");
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

absl::Status Database::GetWith(const rocksdb::ReadOptions& options,
                               rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                               rocksdb::PinnableSlice* value, absl::string_view context) {
  const rocksdb::Status status = db_->Get(options, family, ToSlice(key), value);
  if (status.IsIOError() && status.subcode() == rocksdb::Status::kPathNotFound) {
    return absl::DataLossError(absl::StrCat(context, ": a file is gone: ", status.ToString()));
  }
  return FromRocksStatus(status, context);
}

}  // namespace kernelmill::store
