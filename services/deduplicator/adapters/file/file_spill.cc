#include "services/deduplicator/adapters/file/file_spill.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

class FileSpill final : public SpillSpace {
 public:
  explicit FileSpill(std::string parent) : parent_(std::move(parent)) {}
  ~FileSpill() override {
    if (file_ >= 0) ::close(file_);
  }

  absl::Status Append(absl::string_view bytes) override {
    if (file_ < 0) RETURN_IF_ERROR(Open());
    buffer_.append(bytes.data(), bytes.size());
    return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
  }

  absl::Status Read(uint64_t offset, absl::Span<char> bytes) override {
    RETURN_IF_ERROR(Flush());
    while (!bytes.empty()) {
      const ssize_t n = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, absl::StrCat("spill file in ", parent_));
      if (n == 0) return absl::InternalError("a set was not spilled");
      bytes.remove_prefix(n);
      offset += n;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Open() {
    ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create(parent_));
    const std::string path = dir.path() + "/sets";
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return file_ < 0 ? ErrnoStatus(errno, path) : absl::OkStatus();
  }

  absl::Status Flush() {
    absl::string_view rest = buffer_;
    while (!rest.empty()) {
      const ssize_t n = ::write(file_, rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        return ErrnoStatus(errno, absl::StrCat("spill file in ", parent_,
                                               "; --spill-dir names a folder with more room"));
      }
      rest.remove_prefix(n);
    }
    buffer_.clear();
    return absl::OkStatus();
  }

  const std::string parent_;
  int file_ = -1;
  std::string buffer_;  // not written yet
};

}  // namespace

std::unique_ptr<SpillSpace> NewFileSpill(const std::string& parent) {
  return std::make_unique<FileSpill>(parent);
}

}  // namespace kernelmill::deduplicator
