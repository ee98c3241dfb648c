#include "services/store/core/admission.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"

namespace kernelmill::store {
namespace {

// How long HasRoom reports a write that found no room.
constexpr absl::Duration kFailureLasts = absl::Seconds(5);

}  // namespace

// The basic idea: the size of the database is the last measurement (measured_) plus the bytes
// admitted since then (since_). A writer passes while the sum is at most 9/8 of the limit; else it
// wakes the collector and waits for the next measurement.
absl::Status Admission::Admit(int64_t bytes) {
  if (disk_is_full_) {
    absl::MutexLock lock(&mutex_);
    if (!full_.ok()) return full_;
  }
  if (limit_ == 0) return absl::OkStatus();
  const absl::Duration give_up = MonotonicNow() + max_wait_;
  for (;;) {
    const uint64_t seen = measured_again_.generation();
    {
      absl::MutexLock lock(&mutex_);
      if (!refusal_.ok()) {
        ++refused_;
        return refusal_;
      }
      const int64_t taken = measured_ + since_ + bytes;
      if (taken <= limit_ + limit_ / 8) {
        since_ += bytes;
        if (taken > high_water() && taken - bytes <= high_water()) wake_collector_.Notify();
        return absl::OkStatus();
      }
    }
    wake_collector_.Notify();
    const absl::Duration left = give_up - MonotonicNow();
    if (left <= absl::ZeroDuration()) {
      return absl::ResourceExhaustedError(absl::StrCat("the store is over its limit of ", limit_,
                                                       " bytes and is evicting; try again later"));
    }
    measured_again_.WaitFor(seen, left);
  }
}

void Admission::Measured(int64_t disk_bytes, const absl::Status& refusal) {
  {
    absl::MutexLock lock(&mutex_);
    measured_ = disk_bytes;
    since_ = 0;
    refusal_ = refusal;
  }
  measured_again_.Notify();
}

void Admission::FreeMeasured(int64_t free_bytes) {
  absl::MutexLock lock(&mutex_);
  // Hysteresis: a full disk needs a quarter more to count as free again.
  const int64_t enough = full_.ok() ? keep_free_ : keep_free_ + keep_free_ / 4;
  full_ = free_bytes >= enough ? absl::OkStatus()
                               : absl::ResourceExhaustedError(absl::StrCat(
                                     "the store's disk is full: ", free_bytes, " bytes are free, ",
                                     enough, " must stay free (--keep-free-bytes)"));
  disk_is_full_ = !full_.ok();
}

absl::Status Admission::Noted(const absl::Status& written) {
  if (!absl::IsResourceExhausted(written) && !absl::IsUnavailable(written)) return written;
  absl::MutexLock lock(&mutex_);
  if (absl::IsUnavailable(written)) {
    damaged_ = written;
    return written;
  }
  failed_ = written;
  failed_at_ = MonotonicNow();
  return written;
}

absl::Status Admission::HasRoom() const {
  absl::MutexLock lock(&mutex_);
  if (!damaged_.ok()) return damaged_;
  if (!full_.ok()) return full_;
  if (!refusal_.ok()) return refusal_;
  return MonotonicNow() - failed_at_ < kFailureLasts ? failed_ : absl::OkStatus();
}

int64_t Admission::Estimate() const {
  absl::MutexLock lock(&mutex_);
  return measured_ + since_;
}

int64_t Admission::TakeRefused() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(refused_, 0);
}

}  // namespace kernelmill::store
