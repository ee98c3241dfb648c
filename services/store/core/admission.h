#ifndef KERNELMILL_SERVICES_STORE_CORE_ADMISSION_H_
#define KERNELMILL_SERVICES_STORE_CORE_ADMISSION_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"

namespace kernelmill::store {

// Whether there is room for a write: under the limit, and on the disk. Writers may run ahead of the
// garbage collector by an eighth of the limit; then they wait for it. Of the disk a part is left
// free, so that the database's own work, and the eviction of content, has the room that it needs.
// Thread-safe.
class Admission {
 public:
  // `limit_bytes` 0: no limit; `keep_free_bytes` 0: nothing is left free.
  explicit Admission(int64_t limit_bytes, absl::Duration max_wait = absl::Seconds(10),
                     int64_t keep_free_bytes = 0)
      : limit_(limit_bytes), max_wait_(max_wait), keep_free_(keep_free_bytes) {}

  // Counts the bytes as written; waits for room at most `max_wait`. RESOURCE_EXHAUSTED: the disk is
  // full, all that is there is held, or the garbage collector does not keep up.
  absl::Status Admit(int64_t bytes);

  // The garbage collector has measured the disk; `refusal`, if not OK, is what writers get until
  // the next time.
  void Measured(int64_t disk_bytes, const absl::Status& refusal);

  // So much was found free on the disk.
  void FreeMeasured(int64_t free_bytes);
  // Takes note of what a write ended with: of a disk without room. Returns it.
  absl::Status Noted(const absl::Status& written);
  // Whether writes find room. RESOURCE_EXHAUSTED: the disk or the store is full, or was just now.
  absl::Status HasRoom() const;

  // What the disk holds by now, about.
  int64_t Estimate() const;
  // Writers that were refused since the last call.
  int64_t TakeRefused();

  // Wakes the garbage collector where there is something for it to do.
  Notifier& wake_collector() { return wake_collector_; }
  int64_t limit() const { return limit_; }
  // The garbage collector begins where so much is taken, so that writers should not reach the limit
  // at all, and ends where so much is left: each time, the keys of the whole database are written
  // anew.
  int64_t high_water() const { return limit_ - limit_ / 16; }
  int64_t low_water() const { return limit_ - limit_ / 16 * 3; }

 private:
  const int64_t limit_;
  const absl::Duration max_wait_;
  const int64_t keep_free_;
  std::atomic<bool> disk_is_full_{false};  // full_ is an error
  mutable absl::Mutex mutex_;
  int64_t measured_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t since_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  absl::Status full_ ABSL_GUARDED_BY(mutex_);    // too little is free
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);  // of the last write that found no room
  absl::Duration failed_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  Notifier wake_collector_;
  Notifier measured_again_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_ADMISSION_H_
