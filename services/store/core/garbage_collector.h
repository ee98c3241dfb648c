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

// What was evicted.
struct Collected {
  int64_t blobs = 0;
  int64_t results = 0;
  int64_t bytes = 0;
};

// Keeps the database under its limit in the background, ends holds whose time is over, and deletes
// what broken uploads left. It evicts what was used longest ago until a part of the limit is free,
// gives the room back to the disk, and measures again; where nothing may be evicted, writers are
// told so. Thread-safe.
class GarbageCollector {
 public:
  struct Options {
    absl::Duration interval = absl::Seconds(1);
    // Where recency alone keeps a full store from evicting anything, the epoch, which no write
    // moves on, advances so often.
    absl::Duration unblock_after = absl::Seconds(5);
  };

  // `store` must outlive this.
  GarbageCollector(LruStore* store, const Options& options);
  ~GarbageCollector();

  // Begins to work in a thread of its own; without it, Pass does.
  void Start();

  // Ends what is going on, soon, and does nothing more; for good.
  void Stop();

  // One round; whether there is more to do at once.
  absl::StatusOr<bool> Pass();

  // Evicts all that is not held until no more than `target` bytes of blobs are left; recency keeps
  // only what is used from now on.
  absl::StatusOr<Collected> Collect(int64_t target);

  // What Collect would evict, now. Changes nothing.
  absl::StatusOr<Collected> WouldCollect(int64_t target);

  // Since the start of the process.
  Collected total() const;

 private:
  void Run();
  absl::Status EnforceLimit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  // How much is to go, to come to `target`; of 0 everything.
  int64_t BytesAbove(int64_t target) const;
  absl::StatusOr<Collected> EvictUpTo(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  absl::Status MeasureFree() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  absl::StatusOr<int64_t> Measure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  // Without a limit: broken uploads and mended blobs leave garbage, too.
  absl::Status ReclaimGarbage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);
  // Nothing may be evicted.
  absl::Status ReportFull(int64_t disk_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_);

  LruStore* const store_;
  const Options options_;
  absl::Mutex pass_;
  absl::Duration unblocked_at_ ABSL_GUARDED_BY(pass_) = -absl::InfiniteDuration();
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
