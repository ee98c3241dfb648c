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

// Decides whether a write fits: below the store's limit, and on the disk. Writers may exceed the
// limit by an eighth; then they wait for the garbage collector. A part of the disk stays free for
// compaction and eviction, which need room themselves. Thread-safe.
class Admission {
 public:
  // `limit_bytes` 0: no limit. `keep_free_bytes` 0: no part stays free.
  explicit Admission(int64_t limit_bytes, absl::Duration max_wait = absl::Seconds(10),
                     int64_t keep_free_bytes = 0)
      : limit_(limit_bytes), max_wait_(max_wait), keep_free_(keep_free_bytes) {}

  // Waits for room for at most `max_wait`, and counts the bytes as written. RESOURCE_EXHAUSTED: the
  // disk is full, nothing can be evicted, or the garbage collector is too slow.
  absl::Status Admit(int64_t bytes);

  // Takes the garbage collector's measurement. If `refusal` is not OK, writers get it until the
  // next measurement.
  void Measured(int64_t disk_bytes, const absl::Status& refusal);

  // Takes the free space of the disk.
  void FreeMeasured(int64_t free_bytes);
  // Notes the status of a write, for HasRoom, and returns it.
  absl::Status Noted(const absl::Status& written);
  // Returns whether writes find room. RESOURCE_EXHAUSTED: the disk or the store is full, or a write
  // found no room in the last seconds. UNAVAILABLE: the database is damaged and takes no writes.
  absl::Status HasRoom() const;

  // Returns the estimated size of the database now.
  int64_t Estimate() const;
  // Returns how many writers were refused since the last call.
  int64_t TakeRefused();

  // Notified when the garbage collector should run.
  Notifier& wake_collector() { return wake_collector_; }
  int64_t limit() const { return limit_; }
  // The garbage collector starts at the high water, so that writers rarely reach the limit. It
  // stops at the low water, which is some way below: each collection rewrites all keys of the
  // database.
  int64_t high_water() const { return limit_ - limit_ / 16; }
  int64_t low_water() const { return limit_ - limit_ / 16 * 3; }

 private:
  const int64_t limit_;
  const absl::Duration max_wait_;
  const int64_t keep_free_;
  std::atomic<bool> disk_is_full_{false};  // true if full_ is an error
  mutable absl::Mutex mutex_;
  int64_t measured_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t since_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  absl::Status full_ ABSL_GUARDED_BY(mutex_);     // an error if too little is free
  absl::Status damaged_ ABSL_GUARDED_BY(mutex_);  // an error once the database takes no writes
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);   // the last write that found no room
  absl::Duration failed_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  Notifier wake_collector_;
  Notifier measured_again_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_ADMISSION_H_
