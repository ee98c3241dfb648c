#include "common/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill {

// A full disk and a full quota are RESOURCE_EXHAUSTED: they may pass, and callers retry that code.
absl::Status ErrnoStatus(int error, absl::string_view context) {
  absl::StatusCode code = absl::ErrnoToStatusCode(error);
  if (error == ENOSPC || error == EDQUOT) code = absl::StatusCode::kResourceExhausted;
  return absl::Status(code, absl::StrCat(context, ": ", std::generic_category().message(error)));
}

namespace {

// Opens a regular file to read it. O_NONBLOCK, which regular files ignore, makes open(2) return at
// once for a pipe that has no writer.
absl::StatusOr<FileDescriptor> OpenRegular(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int failed = errno;
  struct stat found = {};
  if (!file.is_open() && failed != ENXIO) return ErrnoStatus(failed, path);
  // A socket, and a device that is not there, cannot be opened (ENXIO).
  const int looked = file.is_open() ? ::fstat(file.get(), &found) : ::stat(path.c_str(), &found);
  if (looked != 0) return ErrnoStatus(errno, path);
  if (S_ISREG(found.st_mode) && file.is_open()) return file;
  const char* kind = "device";
  if (S_ISDIR(found.st_mode)) kind = "folder";
  if (S_ISFIFO(found.st_mode)) kind = "pipe";
  if (S_ISSOCK(found.st_mode)) kind = "socket";
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": must be a regular file, not a ", kind));
}

}  // namespace

// Readers name standard input /dev/stdin. It may be a pipe or a terminal, and they wait for it.
//
// Does not ask for the size first: a pipe or a file of /proc has none, and a regular file may grow
// meanwhile. The bound is checked before each piece is appended.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  FileDescriptor file;
  if (path == "/dev/stdin") {
    file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return ErrnoStatus(errno, path);
  } else {
    ASSIGN_OR_RETURN(file, OpenRegular(path));
  }
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path);
    if (n == 0) return content;
    if (static_cast<int64_t>(content.size()) + n > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": larger than ", max_bytes, " bytes"));
    }
    content.append(buffer, n);
  }
}

// Replaces the content and waits until it is on the disk. A crash meanwhile can leave a part of it;
// callers that must not see that write another file and rename it.
absl::Status WriteFile(const std::string& path, absl::string_view content) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  RETURN_IF_ERROR(WriteAll(file.get(), content, path));
  if (::fsync(file.get()) != 0) return ErrnoStatus(errno, path);
  return absl::OkStatus();
}

// write(2) may take only a part, and a signal may interrupt it; neither is an error.
absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view what) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, what);
    bytes.remove_prefix(n);
  }
  return absl::OkStatus();
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

// Gives the descriptor up before it closes: after an error of close() Linux has released it too,
// and a second close could hit another file.
int FileDescriptor::Close() { return is_open() ? ::close(Release()) : 0; }

// The path is absolute, so that it stays valid if the process changes its folder.
absl::StatusOr<TempDir> TempDir::Create(const std::string& parent) {
  std::error_code error;
  const std::string given =
      parent.empty() ? std::filesystem::temp_directory_path(error).string() : parent;
  if (error) return ErrnoStatus(error.value(), "temporary folder");
  const std::string root = std::filesystem::absolute(given, error).string();
  if (error) return ErrnoStatus(error.value(), "current folder");
  std::filesystem::create_directories(root, error);
  if (error) return ErrnoStatus(error.value(), root);
  std::string pattern = absl::StrCat(root, "/kernelmill-XXXXXX");
  if (::mkdtemp(pattern.data()) == nullptr) return ErrnoStatus(errno, pattern);
  return TempDir(std::move(pattern));
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, "")) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

std::string TempDir::Release() { return std::exchange(path_, ""); }

// A failure cannot be reported here; what is left is in a folder for temporary files.
TempDir::~TempDir() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kernelmill
