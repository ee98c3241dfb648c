#include "common/rocksdb/backup.h"

#include <rocksdb/utilities/backup_engine.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/rocksdb/rocksdb.h"

// A backup is a folder of RocksDB's BackupEngine. It holds one state of the database at a time.
//
// A restore writes into data_dir/restoring, checks all files, and then moves them up one by one,
// CURRENT last. It cannot rename the whole folder, since data_dir may be a mount point. The
// subfolder is removed last: while it exists, data_dir is not a database, and CheckRestored refuses
// it.

namespace kernelmill {
namespace {

namespace fs = std::filesystem;

constexpr char kRestoring[] = "restoring";
constexpr char kRestored[] = "restored";  // an empty file

// Tables are shared between the backups of one folder, so a repeated backup copies only new ones.
rocksdb::BackupEngineOptions EngineOptions(const std::string& dir, rocksdb::Logger* log) {
  rocksdb::BackupEngineOptions options(dir);
  options.share_table_files = true;
  options.share_files_with_checksum = true;
  options.sync = true;
  options.info_log = log;
  return options;
}

absl::StatusOr<std::unique_ptr<rocksdb::BackupEngineReadOnly>> OpenToRead(const std::string& dir,
                                                                          rocksdb::Logger* log) {
  rocksdb::BackupEngineReadOnly* opened = nullptr;
  RETURN_IF_ERROR(FromRocksStatus(rocksdb::BackupEngineReadOnly::Open(
                                      rocksdb::Env::Default(), EngineOptions(dir, log), &opened),
                                  dir));
  return std::unique_ptr<rocksdb::BackupEngineReadOnly>(opened);
}

// Moves the files of `from` into `to`; CURRENT last, because its presence makes `to` a database.
absl::Status MoveUp(const fs::path& from, const fs::path& to) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(from, error)) files.push_back(entry.path());
  if (error) return ErrnoStatus(error.value(), from.string());
  for (const bool current : {false, true}) {
    for (const fs::path& file : files) {
      if ((file.filename() == "CURRENT") != current) continue;
      fs::rename(file, to / file.filename(), error);
      if (error) return ErrnoStatus(error.value(), file.string());
    }
  }
  return absl::OkStatus();
}

// Refuses a backup of another kind, since its files would be lost or misread. A folder without a
// backup is of any kind.
absl::Status CheckKind(const std::string& kind, const std::string& dir) {
  const absl::StatusOr<BackupState> state = ReadBackup(dir);
  if (!state.ok() || state->kind == kind) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(dir, " has a backup of a ", state->kind,
                                                    ", not of a ", kind,
                                                    ": each server needs a folder of its own"));
}

absl::Status CheckEmpty(const std::string& dir) {
  RETURN_IF_ERROR(CreatePrivateFolder(dir));
  std::error_code error;
  const bool empty = fs::is_empty(dir, error);
  if (error) return ErrnoStatus(error.value(), dir);
  if (empty) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(dir, ": not empty; restore into an empty folder"));
}

// NOT_FOUND: the folder has no backup. DATA_LOSS: its backup is damaged.
absl::Status Restore(const std::string& backup_dir, const std::string& data_dir) {
  const std::shared_ptr<rocksdb::Logger> log = NewProcessLogger();
  ASSIGN_OR_RETURN(const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine,
                   OpenToRead(backup_dir, log.get()));
  std::vector<rocksdb::BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  if (backups.empty()) {
    std::vector<rocksdb::BackupID> damaged;
    engine->GetCorruptedBackups(&damaged);
    if (!damaged.empty()) return absl::DataLossError(absl::StrCat(backup_dir, ": damaged"));
    return absl::NotFoundError(absl::StrCat(backup_dir, ": no backup"));
  }
  const fs::path work = fs::path(data_dir) / kRestoring;
  std::error_code error;
  if (!fs::create_directory(work, error)) return ErrnoStatus(error.value(), work.string());
  RETURN_IF_ERROR(
      FromRocksStatus(engine->RestoreDBFromLatestBackup(work.string(), work.string()), backup_dir));
  RETURN_IF_ERROR(MoveUp(work, data_dir));
  RETURN_IF_ERROR(WriteFile((fs::path(data_dir) / kRestored).string(), ""));
  fs::remove(work, error);
  return error ? ErrnoStatus(error.value(), work.string()) : absl::OkStatus();
}

}  // namespace

// Writes a backup while the server runs. The backup before it is deleted only when the new one is
// complete. `stop` is looked at after each piece of progress.
absl::StatusOr<int64_t> BackUp(rocksdb::DB* db, const std::string& kind,
                               const std::string& backup_dir, const std::atomic<bool>& stop) {
  if (stop) return absl::CancelledError("the server is shutting down");
  std::error_code error;
  if (fs::exists(backup_dir, error)) RETURN_IF_ERROR(CheckKind(kind, backup_dir));
  fs::create_directories(backup_dir, error);
  if (error) return ErrnoStatus(error.value(), backup_dir);
  const std::shared_ptr<rocksdb::Logger> log = NewProcessLogger();
  rocksdb::BackupEngine* opened = nullptr;
  RETURN_IF_ERROR(
      FromRocksStatus(rocksdb::BackupEngine::Open(rocksdb::Env::Default(),
                                                  EngineOptions(backup_dir, log.get()), &opened),
                      backup_dir));
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  rocksdb::CreateBackupOptions options;
  // Moves the log's content into tables first: each backup copies the log again, but not the
  // tables.
  options.flush_before_backup = true;
  options.progress_callback = [&] {
    if (stop) engine->StopBackup();
  };
  rocksdb::BackupID id = 0;
  const rocksdb::Status created = engine->CreateNewBackupWithMetadata(options, db, kind, &id);
  if (!created.ok() && stop) return absl::CancelledError("the server is shutting down");
  RETURN_IF_ERROR(FromRocksStatus(created, backup_dir));
  RETURN_IF_ERROR(FromRocksStatus(engine->PurgeOldBackups(1), backup_dir));
  rocksdb::BackupInfo info;
  RETURN_IF_ERROR(FromRocksStatus(engine->GetBackupInfo(id, &info), backup_dir));
  return static_cast<int64_t>(info.size);
}

absl::StatusOr<BackupState> ReadBackup(const std::string& backup_dir) {
  const std::shared_ptr<rocksdb::Logger> log = NewProcessLogger();
  ASSIGN_OR_RETURN(const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine,
                   OpenToRead(backup_dir, log.get()));
  std::vector<rocksdb::BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  if (backups.empty()) return absl::NotFoundError(absl::StrCat(backup_dir, ": no backup"));
  const std::string& kind = backups.back().app_metadata;
  return BackupState{.bytes = static_cast<int64_t>(backups.back().size),
                     .made_unix_ms = backups.back().timestamp * 1000,
                     .kind = kind.empty() ? kStoreDatabase : kind};
}

// Restores into an empty or new folder. If the restore fails, the folder is empty again.
absl::Status RestoreBackup(const std::string& kind, const std::string& backup_dir,
                           const std::string& data_dir) {
  std::error_code error;
  // BackupEngine::Open would create the folder.
  if (!fs::is_directory(backup_dir, error)) {
    return absl::NotFoundError(absl::StrCat(backup_dir, ": no such folder"));
  }
  RETURN_IF_ERROR(CheckKind(kind, backup_dir));
  RETURN_IF_ERROR(CheckEmpty(data_dir));
  absl::Status restored = Restore(backup_dir, data_dir);
  if (restored.ok()) return restored;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(data_dir, error)) left.push_back(entry.path());
  for (const fs::path& path : left) fs::remove_all(path, error);
  return restored;
}

absl::Status CheckRestored(const std::string& data_dir) {
  std::error_code error;
  if (!fs::exists(fs::path(data_dir) / kRestoring, error)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      data_dir, ": contains an unfinished restore; empty the folder and restore again"));
}

bool IsRestored(const std::string& data_dir) {
  std::error_code error;
  return fs::exists(fs::path(data_dir) / kRestored, error);
}

absl::Status ForgetRestore(const std::string& data_dir) {
  const fs::path mark = fs::path(data_dir) / kRestored;
  std::error_code error;
  fs::remove(mark, error);
  return error ? ErrnoStatus(error.value(), mark.string()) : absl::OkStatus();
}

}  // namespace kernelmill
