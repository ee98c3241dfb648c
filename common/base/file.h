#ifndef KERNELMILL_COMMON_BASE_FILE_H_
#define KERNELMILL_COMMON_BASE_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Reads a whole regular file, or /dev/stdin of any kind. NOT_FOUND; PERMISSION_DENIED;
// FAILED_PRECONDITION: not a regular file; RESOURCE_EXHAUSTED: larger than `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// Creates or replaces a file, and syncs it. RESOURCE_EXHAUSTED: the disk is full.
absl::Status WriteFile(const std::string& path, absl::string_view content);

// Makes a status from errno, with `context` before its message. ENOENT is NOT_FOUND, ENOSPC is
// RESOURCE_EXHAUSTED, and so on.
absl::Status ErrnoStatus(int error, absl::string_view context);

// Writes all of `bytes` at the descriptor's offset. `what` names the file in errors.
// RESOURCE_EXHAUSTED: the disk is full.
absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view what);

// An open file or socket, which the destructor closes; -1 if nothing is open. Movable.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Returns the descriptor and no longer owns it.
  int Release() { return std::exchange(fd_, -1); }
  // Closes the descriptor and returns close(2)'s result; 0 if nothing is open.
  int Close();

 private:
  int fd_;
};

// A new directory, which the destructor removes with its content. Movable.
class TempDir {
 public:
  // Creates a directory in `parent`, or in the system's temporary folder if `parent` is empty. Its
  // path is absolute, so that a child process in another directory can use it.
  static absl::StatusOr<TempDir> Create(const std::string& parent = "");
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  const std::string& path() const { return path_; }
  // Returns the path; the directory is no longer removed.
  std::string Release();

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_FILE_H_
