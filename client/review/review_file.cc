#include "client/review/review_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/job/review_list.h"
#include "common/manifest/curated_pairs.h"

namespace kernelmill::client {
namespace {

bool Names(const v1::KernelReference& reference, const FlaggedKernel& flagged) {
  return manifest::NamesKernel(reference, flagged.repository, flagged.kernel);
}

bool IsOn(const v1::Review& review, const FlaggedItem& item) {
  if (review.flag() != item.flag) return false;
  if (item.flag != job::kFlagPair) return Names(review.kernel(), item.kernels[0]);
  return Names(review.cuda(), item.kernels[0]) && Names(review.triton(), item.kernels[1]);
}

}  // namespace

absl::StatusOr<ReviewFile> ReviewFile::Open(const std::string& path) {
  ReviewFile file;
  file.path_ = path;
  absl::StatusOr<std::vector<v1::Review>> reviews = job::ReadReviewList(path);
  if (absl::IsNotFound(reviews.status())) return file;
  RETURN_IF_ERROR(reviews.status());
  file.reviews_ = *std::move(reviews);
  return file;
}

const v1::Review* ReviewFile::Find(const FlaggedItem& item) const {
  for (auto review = reviews_.rbegin(); review != reviews_.rend(); ++review) {
    if (IsOn(*review, item)) return &*review;
  }
  return nullptr;
}

absl::Status ReviewFile::Add(const v1::Review& review) {
  RETURN_IF_ERROR(job::CheckReview("review", review));
  const std::string line = job::ReviewLine(review);
  const FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0) return absl::ErrnoToStatus(errno, "cannot write " + path_);
  // One write of one line: whoever else appends comes before it or after it.
  if (::flock(file.get(), LOCK_EX) != 0 ||
      ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fsync(file.get()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot write " + path_);
  }
  reviews_.push_back(review);
  return absl::OkStatus();
}

}  // namespace kernelmill::client
