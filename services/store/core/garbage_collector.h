#ifndef KERNELMILL_SERVICES_STORE_CORE_GARBAGE_COLLECTOR_H_
#define KERNELMILL_SERVICES_STORE_CORE_GARBAGE_COLLECTOR_H_

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/store/core/lru_store.h"

namespace kernelmill::store {

// Counts of evicted items.
struct Collected {
  int64_t blobs = 0;
  int64_t results = 0;
  int64_t bytes = 0;
};

// Keeps the database below its limit in the background, ends expired holds, and deletes abandoned
// uploads. Thread-safe.
//
// The basic idea: when the database is above the high water (Admission), the collector reclaims
// garbage first. If that is not enough, it evicts the least recently used items until the database
// is below the low water, reclaims again and measures. If nothing may be evicted, it tells
// Admission, which then refuses writers.
class GarbageCollector {
 public:
  struct Options {
    absl::Duration interval = absl::Seconds(1);
    // How often the epoch of a full store advances if recency alone prevents eviction. Writes,
    // which normally advance it, are refused then.
    absl::Duration unblock_after = absl::Seconds(5);
    // How long a full store holds everything for jobs whose uses may be lost (LruStore::Load).
    absl::Duration trust_uses_after = absl::Seconds(30);
  };

  // `store` must outlive this.
  GarbageCollector(LruStore* store, const Options& options);
  ~GarbageCollector();

  // Starts a thread that calls Pass regularly.
  void Start();

  // Stops the current pass soon, and all later ones.
  void Stop();

  // Runs one round. Returns whether more work is due at once.
  absl::StatusOr<bool> Pass();

  // Evicts items that are not held until at most `target` bytes of blobs are left. Recent uses
  // protect nothing, except uses from now on. INVALID_ARGUMENT: the target is negative.
  absl::StatusOr<Collected> Collect(int64_t target);

  // Returns what Collect would evict now. Changes nothing.
  absl::StatusOr<Collected> WouldCollect(int64_t target);

  // The evictions since the process started.
  Collected total() const;

 private:
  void Run();
  absl::Status EnforceLimit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  // Returns how many bytes must be evicted to reach `target`; 0 evicts everything.
  int64_t BytesAbove(int64_t target) const;
  absl::StatusOr<Collected> EvictUpTo(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  absl::Status MeasureFree() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  absl::StatusOr<int64_t> Measure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  // Reclaims garbage of a store without a limit: broken uploads and repaired blobs leave some.
  absl::Status ReclaimGarbage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  // Tells Admission that nothing may be evicted, and makes something evictable if that can help.
  absl::Status ReportFull(int64_t disk_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);

  LruStore* const store_;
  const Options options_;
  absl::Mutex pass_;
  absl::Duration unblocked_at_ ABSL_GUARDED_BY(pass_) = -absl::InfiniteDuration();
  absl::Duration full_since_ ABSL_GUARDED_BY(pass_) = absl::InfiniteDuration();
  absl::Duration looked_at_ ABSL_GUARDED_BY(pass_) = -absl::InfiniteDuration();
  bool above_ ABSL_GUARDED_BY(pass_) = false;
  std::atomic<int64_t> blobs_{0};
  std::atomic<int64_t> results_{0};
  std::atomic<int64_t> bytes_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_GARBAGE_COLLECTOR_H_
