#include "dataset/output/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

// FileWriter writes a file of an export from its beginning to its end. TempFile holds what does not
// fit into memory: bytes are appended by one thread, and many threads read them back by place.
namespace kernelmill::dataset {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kDirectBytes = 128 << 10;  // more are written without a copy in the buffer

}  // namespace

// O_EXCL: each file of an export is written once, into a new folder. An existing one is a mistake.
absl::StatusOr<FileWriter> FileWriter::Create(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  return FileWriter(path, std::move(file));
}

// Small texts gather in a buffer; a large one is written from where it is.
absl::Status FileWriter::Append(absl::string_view bytes) {
  if (bytes.size() >= kDirectBytes) {
    RETURN_IF_ERROR(Flush());
    return Write(bytes);
  }
  absl::StrAppend(&buffer_, bytes);
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status FileWriter::Write(absl::string_view bytes) {
  RETURN_IF_ERROR(WriteAll(file_.get(), bytes, path_));
  // The disk may begin, so that the sync at the end has little to wait for.
  const auto size = static_cast<off64_t>(bytes.size());
  ::sync_file_range(file_.get(), written_, size, SYNC_FILE_RANGE_WRITE);
  written_ += size;
  return absl::OkStatus();
}

absl::Status FileWriter::Flush() {
  RETURN_IF_ERROR(Write(buffer_));
  buffer_.clear();
  return absl::OkStatus();
}

// close() can report an error of an earlier write, so its result counts. There is no sync here: the
// staging folder syncs the whole file system once.
absl::Status FileWriter::Close() {
  RETURN_IF_ERROR(Flush());
  if (file_.Close() != 0) return ErrnoStatus(errno, path_);
  return absl::OkStatus();
}

// The file has no name any more once it is open, so it disappears with the process, however that
// ends.
absl::StatusOr<TempFile> TempFile::Create(const std::string& dir) {
  std::string name = absl::StrCat(dir, "/.temp-XXXXXX");
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.is_open()) return ErrnoStatus(errno, name);
  if (::unlink(name.c_str()) != 0) return ErrnoStatus(errno, name);
  return TempFile(std::move(file));
}

// Returns where the bytes will be. They can be read after the next Flush.
absl::StatusOr<TempFile::Extent> TempFile::Append(absl::string_view bytes) {
  const Extent extent = {written_ + static_cast<int64_t>(buffer_.size()),
                         static_cast<int64_t>(bytes.size())};
  if (bytes.size() >= kDirectBytes) {
    RETURN_IF_ERROR(Flush());
    RETURN_IF_ERROR(Write(bytes));
    return extent;
  }
  absl::StrAppend(&buffer_, bytes);
  if (buffer_.size() >= kBufferBytes) RETURN_IF_ERROR(Flush());
  return extent;
}

// Writes at the end by an explicit offset; the descriptor's own position is never used.
absl::Status TempFile::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file_.get(), bytes.data(), bytes.size(), written_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "temporary file");
    written_ += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status TempFile::Flush() {
  RETURN_IF_ERROR(Write(buffer_));
  buffer_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> TempFile::Read(Extent extent) const {
  std::string bytes;
  RETURN_IF_ERROR(Read(extent, &bytes));
  return bytes;
}

// Appends the bytes to `out`. pread has no position that threads would share.
absl::Status TempFile::Read(Extent extent, std::string* out) const {
  const size_t begin = out->size();
  const auto size = static_cast<size_t>(extent.size);
  out->resize(begin + size);
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::pread(file_.get(), out->data() + begin + done, size - done,
                              extent.offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "temporary file");
    if (n == 0) return absl::DataLossError("the temporary file is shorter than what was written");
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

// Gives the disk's space back. Extents from before must not be read any more.
absl::Status TempFile::Clear() {
  buffer_.clear();
  written_ = 0;
  if (::ftruncate(file_.get(), 0) != 0) return ErrnoStatus(errno, "temporary file");
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
