#include "common/rocksdb/rocksdb.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/crc32c.h"

namespace kernelmill {
namespace {

absl::StatusCode ToCode(const rocksdb::Status& status) {
  if (status.IsNoSpace()) return absl::StatusCode::kResourceExhausted;
  switch (status.code()) {
    case rocksdb::Status::kNotFound:
      return absl::StatusCode::kNotFound;
    case rocksdb::Status::kCorruption:
      return absl::StatusCode::kDataLoss;
    case rocksdb::Status::kInvalidArgument:
      return absl::StatusCode::kInvalidArgument;
    case rocksdb::Status::kNotSupported:
      return absl::StatusCode::kUnimplemented;
    case rocksdb::Status::kIOError:
    case rocksdb::Status::kShutdownInProgress:
    case rocksdb::Status::kTimedOut:
    case rocksdb::Status::kBusy:
    case rocksdb::Status::kTryAgain:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

namespace fs = std::filesystem;

// RocksDB writes this manifest before the first CURRENT, and replaces it when the first opening
// ends. It is alone in the folder only if the process was killed in between.
constexpr char kFirstManifest[] = "MANIFEST-000001";

// Returns whether RocksDB keeps data, or the list of the files with data, in a file of this name.
// The other files (IDENTITY, LOCK, OPTIONS-*, *.dbtmp) can be made again.
bool HoldsData(const fs::path& name) {
  const std::string extension = name.extension().string();
  return extension == ".sst" || extension == ".ldb" || extension == ".blob" ||
         extension == ".log" || absl::StartsWith(name.string(), "MANIFEST-");
}

class ProcessLogger : public rocksdb::Logger {
 public:
  ProcessLogger() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  // Messages without a level are a log file's header; there is no file here.
  void Logv(const char*, va_list) override {}
  void LogHeader(const char*, va_list) override {}

  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    char text[1024];  // a longer line is cut
    std::vsnprintf(text, sizeof(text), format, arguments);
    Log(level == rocksdb::InfoLogLevel::WARN_LEVEL ? LogLevel::kWarning : LogLevel::kError,
        "rocksdb", {{"text", absl::StripAsciiWhitespace(text)}});
  }
};

}  // namespace

absl::Status FromRocksStatus(const rocksdb::Status& status, absl::string_view context) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(ToCode(status), absl::StrCat(context, ": ", status.ToString()));
}

absl::Status FromOpenStatus(const rocksdb::Status& status, absl::string_view dir) {
  const std::string text = status.ToString();
  // RocksDB has no code for a held lock, but its message always contains the file's name.
  if (status.IsIOError() && absl::StrContains(text, "/LOCK") && absl::StrContains(text, "lock ")) {
    return absl::FailedPreconditionError(
        absl::StrCat(dir, ": another process has it open (", text, ")"));
  }
  if (status.IsCorruption()) {
    return absl::DataLossError(absl::StrCat(
        dir,
        ": damaged; refusing to start, since serving it could lose acknowledged data: ", text));
  }
  return FromRocksStatus(status, dir);
}

absl::Status CreatePrivateFolder(const std::string& dir) {
  std::error_code ignored;
  if (fs::is_directory(dir, ignored)) return absl::OkStatus();
  fs::path folder = dir;
  if (!folder.has_filename()) folder = folder.parent_path();  // without a final slash
  if (folder.has_parent_path()) {
    RETURN_IF_ERROR(CreatePrivateFolder(folder.parent_path().string()));
  }
  if (::mkdir(folder.c_str(), 0700) == 0) return absl::OkStatus();
  const int failed = errno;
  // Another process may have created it just now; DB::Open's lock decides between the two.
  if (failed == EEXIST && fs::is_directory(folder, ignored)) return absl::OkStatus();
  return ErrnoStatus(failed, dir);
}

absl::Status PrepareDatabaseFolder(const std::string& dir) {
  UseCrc32cInstruction();
  RETURN_IF_ERROR(CreatePrivateFolder(dir));
  std::error_code error;
  const bool has_current = fs::exists(fs::path(dir) / "CURRENT", error);
  if (error) return ErrnoStatus(error.value(), dir);
  if (has_current) return absl::OkStatus();
  std::vector<std::string> left;
  for (fs::directory_iterator entry(dir, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (HoldsData(name)) left.push_back(name.string());
  }
  if (error) return ErrnoStatus(error.value(), dir);
  if (left.empty() || left == std::vector<std::string>{kFirstManifest}) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      dir,
      ": damaged: the file CURRENT is missing, but other files of a database are here, such as ",
      *std::min_element(left.begin(), left.end()),
      "; refusing to start, since a new database would delete them. Put CURRENT back or restore a "
      "backup into an empty folder; to start without the old data, move the files away"));
}

std::shared_ptr<rocksdb::Logger> NewProcessLogger() { return std::make_shared<ProcessLogger>(); }

}  // namespace kernelmill
