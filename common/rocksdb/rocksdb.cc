#include "common/rocksdb/rocksdb.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/log.h"

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

std::shared_ptr<rocksdb::Logger> NewProcessLogger() { return std::make_shared<ProcessLogger>(); }

}  // namespace kernelmill
