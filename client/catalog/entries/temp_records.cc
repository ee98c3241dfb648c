// Records in one temp file, one after the other; only their ends are in memory. Record i has the
// bytes from ends_[i] to ends_[i + 1]. The file and its folder are deleted with the object.

#include "client/catalog/entries/temp_records.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

constexpr size_t kWriteBytes = 1 << 20;

std::string PathIn(const TempDir& temp) { return absl::StrCat(temp.path(), "/records"); }

}  // namespace

absl::StatusOr<TempRecords> TempRecords::Create(const std::string& temp_parent) {
  ASSIGN_OR_RETURN(TempDir temp, TempDir::Create(temp_parent));
  const std::string path = PathIn(temp);
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  return TempRecords(std::move(temp), std::move(file));
}

absl::Status TempRecords::Add(absl::string_view bytes) {
  absl::StrAppend(&buffer_, bytes);
  ends_.push_back(ends_.back() + bytes.size());
  return buffer_.size() < kWriteBytes ? absl::OkStatus() : Flush();
}

absl::Status TempRecords::Flush() {
  RETURN_IF_ERROR(WriteAll(file_.get(), buffer_, PathIn(temp_)));
  buffer_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> TempRecords::Read(uint32_t number) {
  if (!buffer_.empty()) RETURN_IF_ERROR(Flush());
  std::string bytes(ends_[number + 1] - ends_[number], '\0');
  // pread may return less than asked for, and a signal may interrupt it.
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = pread(file_.get(), &bytes[done], bytes.size() - done,
                              static_cast<off_t>(ends_[number] + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, PathIn(temp_));
    if (got == 0) return absl::DataLossError(absl::StrCat(PathIn(temp_), " ends too early"));
    done += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace kernelmill::client
