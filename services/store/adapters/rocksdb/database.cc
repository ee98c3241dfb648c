#include "services/store/adapters/rocksdb/database.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/status.h"
#include "services/store/adapters/rocksdb/backup.h"
#include "services/store/adapters/rocksdb/records.h"
#include "services/store/adapters/rocksdb/tuning.h"

namespace kernelmill::store {

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& dir,
                                                         size_t block_cache_bytes) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return ErrnoStatus(error.value(), dir);
  RETURN_IF_ERROR(CheckRestored(dir));
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()},
      {"cas", TunedCasOptions(block_cache_bytes)},
      {"ac", TunedResultOptions(block_cache_bytes / 8)}};
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status opened = rocksdb::DB::Open(TunedDbOptions(), dir, families, &handles, &db);
  if (!opened.ok()) return FromOpenStatus(opened, dir);
  std::unique_ptr<Database> database(new Database);
  database->db_.reset(db);
  database->default_ = handles[0];
  database->cas_ = handles[1];
  database->ac_ = handles[2];
  RETURN_IF_ERROR(Annotate(database->CheckFormat(), dir));
  return database;
}

Database::~Database() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : {default_, cas_, ac_}) {
    db_->DestroyColumnFamilyHandle(handle);
  }
  if (const rocksdb::Status closed = db_->Close(); !closed.ok()) {
    LogError("closing the database failed", {{"error", closed.ToString()}});
  }
}

absl::Status Database::CheckFormat() {
  rocksdb::PinnableSlice found;
  const absl::Status status = Get(default_, kFormatKey, &found, "format");
  if (absl::IsNotFound(status)) {
    rocksdb::WriteBatch batch;
    batch.Put(default_, kFormatKey, kFormat);
    return WriteDurably(batch, "format");
  }
  RETURN_IF_ERROR(status);
  if (ToView(found) == kFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("format ", ToView(found), "; this program knows format ", kFormat));
}

absl::Status Database::WriteDurably(rocksdb::WriteBatch& batch, absl::string_view context) {
  rocksdb::WriteOptions options;
  options.sync = true;
  return FromRocksStatus(db_->Write(options, &batch), context);
}

absl::Status Database::WriteLazily(rocksdb::WriteBatch& batch, absl::string_view context) {
  return FromRocksStatus(db_->Write(rocksdb::WriteOptions(), &batch), context);
}

absl::Status Database::Get(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                           rocksdb::PinnableSlice* value, absl::string_view context) {
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  return FromRocksStatus(db_->Get(options, family, ToSlice(key), value), context);
}

absl::Mutex& Database::CommitMutex(const BlobId& id) {
  return commit_mutexes_[static_cast<unsigned char>(id.hash[0]) % commit_mutexes_.size()];
}

}  // namespace kernelmill::store
