#include "common/rocksdb/status.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kernelmill {
namespace {

absl::StatusCode CodeOf(const rocksdb::Status& status) {
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

}  // namespace

absl::Status FromRocksStatus(const rocksdb::Status& status, absl::string_view context) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(CodeOf(status), absl::StrCat(context, ": ", status.ToString()));
}

absl::Status FromOpenStatus(const rocksdb::Status& status, absl::string_view dir) {
  const std::string text = status.ToString();
  // RocksDB has no code for this; the file's name is in the message on every platform.
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

}  // namespace kernelmill
