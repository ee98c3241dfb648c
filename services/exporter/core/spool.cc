#include "services/exporter/core/spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::exporter {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

}  // namespace

absl::StatusOr<Spool> Spool::Create(const std::string& dir) {
  std::string name = absl::StrCat(dir, "/.spool-XXXXXX");
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, name);
  Spool spool(fd);
  if (::unlink(name.c_str()) != 0) return ErrnoStatus(errno, name);
  return spool;
}

Spool::Spool(Spool&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      written_(other.written_),
      buffer_(std::move(other.buffer_)) {}

Spool::~Spool() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<Spool::Extent> Spool::Append(absl::string_view bytes) {
  const Extent extent = {written_ + static_cast<int64_t>(buffer_.size()),
                         static_cast<int64_t>(bytes.size())};
  absl::StrAppend(&buffer_, bytes);
  if (buffer_.size() >= kBufferBytes) RETURN_IF_ERROR(Flush());
  return extent;
}

absl::Status Spool::Flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::pwrite(fd_, buffer_.data() + done, buffer_.size() - done, written_ + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "temporary file");
    done += n;
  }
  written_ += static_cast<int64_t>(done);
  buffer_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> Spool::Read(Extent extent) {
  RETURN_IF_ERROR(Flush());
  std::string bytes(extent.size, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(fd_, bytes.data() + done, bytes.size() - done, extent.offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "temporary file");
    if (n == 0) return absl::DataLossError("the temporary file is shorter than what was written");
    done += n;
  }
  return bytes;
}

absl::Status Spool::Clear() {
  buffer_.clear();
  written_ = 0;
  if (::ftruncate(fd_, 0) != 0) return ErrnoStatus(errno, "temporary file");
  return absl::OkStatus();
}

}  // namespace kernelmill::exporter
