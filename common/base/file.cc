#include "common/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill {

absl::Status ErrnoStatus(int error, absl::string_view context) {
  absl::StatusCode code = absl::ErrnoToStatusCode(error);
  if (error == ENOSPC || error == EDQUOT) code = absl::StatusCode::kResourceExhausted;
  return absl::Status(code, absl::StrCat(context, ": ", std::generic_category().message(error)));
}

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, path);
  auto closer = absl::MakeCleanup([fd] { ::close(fd); });
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof(buffer));
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

absl::Status WriteFile(const std::string& path, absl::string_view content) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return ErrnoStatus(errno, path);
  auto closer = absl::MakeCleanup([fd] { ::close(fd); });
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path);
    content.remove_prefix(n);
  }
  if (::fsync(fd) != 0) return ErrnoStatus(errno, path);
  return absl::OkStatus();
}

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

TempDir::~TempDir() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kernelmill
