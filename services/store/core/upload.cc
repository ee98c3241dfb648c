#include "services/store/core/upload.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::store {

Upload::Upload(std::unique_ptr<BlobWriter> writer, std::unique_ptr<Decoder> decoder,
               int64_t max_received)
    : max_received_(max_received), writer_(std::move(writer)), decoder_(std::move(decoder)) {}

uint64_t Upload::Attach() {
  absl::MutexLock lock(&mutex_);
  return ++ticket_;
}

absl::Status Upload::Check(uint64_t ticket) const {
  if (ticket != ticket_) return absl::AbortedError("another stream has taken this upload over");
  if (finished_) return absl::AbortedError("this upload has been finished");
  return failure_;
}

absl::Status Upload::Append(uint64_t ticket, int64_t offset, absl::string_view bytes) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Check(ticket));
  if (offset < 0 || offset > received_) {
    return absl::InvalidArgumentError(
        absl::StrCat("write offset ", offset, ", but ", received_, " bytes have arrived"));
  }
  bytes.remove_prefix(std::min<int64_t>(received_ - offset, bytes.size()));
  failure_ = Take(bytes);
  return failure_;
}

absl::Status Upload::Take(absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > max_received_ - received_) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", max_received_, " bytes for this blob"));
  }
  if (decoder_ == nullptr) {
    RETURN_IF_ERROR(writer_->Append(bytes));
  } else {
    BlobWriter& writer = *writer_;
    RETURN_IF_ERROR(decoder_->Decode(
        bytes, [&writer](absl::string_view piece) { return writer.Append(piece); }));
  }
  received_ += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status Upload::Finish(uint64_t ticket) {
  absl::MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Check(ticket));
  failure_ = Store();
  finished_ = failure_.ok();
  return failure_;
}

absl::Status Upload::Store() {
  if (decoder_ != nullptr) RETURN_IF_ERROR(decoder_->Finish());
  return writer_->Finish();
}

int64_t Upload::received() const {
  absl::MutexLock lock(&mutex_);
  return received_;
}

bool Upload::failed() const {
  absl::MutexLock lock(&mutex_);
  return !failure_.ok();
}

}  // namespace kernelmill::store
