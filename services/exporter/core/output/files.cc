#include "services/exporter/core/output/files.h"

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

absl::StatusOr<FileWriter> FileWriter::Create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return ErrnoStatus(errno, path);
  return FileWriter(path, fd);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
}

absl::Status FileWriter::Append(absl::string_view bytes) {
  absl::StrAppend(&buffer_, bytes);
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status FileWriter::Flush() {
  absl::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path_);
    rest.remove_prefix(n);
  }
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status FileWriter::Close() {
  RETURN_IF_ERROR(Flush());
  if (::fsync(fd_) != 0) return ErrnoStatus(errno, path_);
  if (::close(std::exchange(fd_, -1)) != 0) return ErrnoStatus(errno, path_);
  return absl::OkStatus();
}

absl::StatusOr<TempFile> TempFile::Create(const std::string& dir) {
  std::string name = absl::StrCat(dir, "/.temp-XXXXXX");
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, name);
  TempFile file(fd);
  if (::unlink(name.c_str()) != 0) return ErrnoStatus(errno, name);
  return file;
}

TempFile::TempFile(TempFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      written_(other.written_),
      buffer_(std::move(other.buffer_)) {}

TempFile::~TempFile() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<TempFile::Extent> TempFile::Append(absl::string_view bytes) {
  const Extent extent = {written_ + static_cast<int64_t>(buffer_.size()),
                         static_cast<int64_t>(bytes.size())};
  absl::StrAppend(&buffer_, bytes);
  if (buffer_.size() >= kBufferBytes) RETURN_IF_ERROR(Flush());
  return extent;
}

absl::Status TempFile::Flush() {
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

absl::StatusOr<std::string> TempFile::Read(Extent extent) {
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

absl::Status TempFile::Clear() {
  buffer_.clear();
  written_ = 0;
  if (::ftruncate(fd_, 0) != 0) return ErrnoStatus(errno, "temporary file");
  return absl::OkStatus();
}

}  // namespace kernelmill::exporter
