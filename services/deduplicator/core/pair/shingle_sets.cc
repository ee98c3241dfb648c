// The basic idea: sets are numbered and stored one after the other, first in a vector, then in a
// file. ends_ has the end of each set over both, so that a set's place is a subtraction. Appends
// are buffered; the first read flushes the buffer, and reads are plain preads.

#include "services/deduplicator/core/pair/shingle_sets.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::deduplicator {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;  // appended before a write to the file

}  // namespace

absl::Status ShingleSets::Add(absl::Span<const uint64_t> set) {
  const uint64_t begin = ends_.empty() ? 0 : ends_.back();
  const bool fits = shingles_.size() + set.size() <= options_.memory_bytes / sizeof(uint64_t);
  if (spilled() == 0 && fits) {
    shingles_.insert(shingles_.end(), set.begin(), set.end());
    ++in_memory_;
  } else {
    RETURN_IF_ERROR(Append(absl::string_view(reinterpret_cast<const char*>(set.data()),
                                             set.size() * sizeof(uint64_t))));
  }
  ends_.push_back(begin + set.size());
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const uint64_t>> ShingleSets::Get(size_t index,
                                                            std::vector<uint64_t>* buffer) {
  const uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  const size_t size = ends_[index] - begin;
  if (index < in_memory_) return absl::MakeConstSpan(shingles_).subspan(begin, size);
  buffer->resize(size);
  RETURN_IF_ERROR(
      Read((begin - shingles_.size()) * sizeof(uint64_t),
           absl::MakeSpan(reinterpret_cast<char*>(buffer->data()), size * sizeof(uint64_t))));
  return absl::MakeConstSpan(*buffer);
}

// Opens the temp file. Leaving the scope removes its folder and so its name; the open descriptor
// keeps the content.
absl::Status ShingleSets::OpenFile() {
  ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create(options_.folder));
  const std::string path = dir.path() + "/sets";
  file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file_.is_open() ? absl::OkStatus() : ErrnoStatus(errno, path);
}

absl::Status ShingleSets::Append(absl::string_view bytes) {
  if (!file_.is_open()) RETURN_IF_ERROR(OpenFile());
  unwritten_.append(bytes.data(), bytes.size());
  return unwritten_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status ShingleSets::Flush() {
  RETURN_IF_ERROR(WriteAll(file_.get(), unwritten_,
                           absl::StrCat("temp file in ", options_.folder,
                                        "; set --spill-dir to a folder with more space")));
  unwritten_.clear();
  return absl::OkStatus();
}

absl::Status ShingleSets::Read(uint64_t offset, absl::Span<char> bytes) {
  RETURN_IF_ERROR(Flush());
  while (!bytes.empty()) {
    const ssize_t n = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, absl::StrCat("temp file in ", options_.folder));
    if (n == 0) return absl::InternalError("the temp file ends before a set");
    bytes.remove_prefix(n);
    offset += n;
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
