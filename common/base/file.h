#ifndef KERNELMILL_COMMON_BASE_FILE_H_
#define KERNELMILL_COMMON_BASE_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Reads a whole file. NOT_FOUND, PERMISSION_DENIED; RESOURCE_EXHAUSTED if it is larger than
// `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// Writes a whole new or replaced file and syncs it. RESOURCE_EXHAUSTED: the disk is full.
absl::Status WriteFile(const std::string& path, absl::string_view content);

// A status for errno with `context` before it, e.g. ENOENT -> NOT_FOUND, ENOSPC ->
// RESOURCE_EXHAUSTED.
absl::Status ErrnoStatus(int error, absl::string_view context);

// Writes all of `bytes` at the descriptor's offset. `what` names the file in errors.
// RESOURCE_EXHAUSTED: the disk is full.
absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view what);

// An open file, socket or the like, closed when this object goes; -1: none. Movable.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Hands over what is open.
  int Release() { return std::exchange(fd_, -1); }
  // What close(2) answers; 0 if nothing is open.
  int Close();

 private:
  int fd_;
};

// A new directory that is removed, with all that is in it, when this object goes. Movable.
class TempDir {
 public:
  // Under `parent`, or the system's temporary folder if that is empty. Its path is absolute, so
  // that it means the same to a child process that runs elsewhere.
  static absl::StatusOr<TempDir> Create(const std::string& parent = "");
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  const std::string& path() const { return path_; }
  // Leaves the directory in place and hands over its path.
  std::string Release();

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_FILE_H_
