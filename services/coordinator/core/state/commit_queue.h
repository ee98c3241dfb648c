#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_COMMIT_QUEUE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_COMMIT_QUEUE_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// Group commit: changes are queued in the order in which they were made, and one of the threads
// that wait for them writes all that is queued in one go, so that one sync serves many. What is on
// disk is thus at all times a prefix of what happened in memory. Thread-safe.
//
// The first write that fails ends it: every wait, then and later, returns that error. Memory is
// then ahead of the disk, so the owner must stop and start again from the disk.
class CommitQueue {
 public:
  // `synced`: told, with no lock held, of each write with a sync how long it took; may be null.
  explicit CommitQueue(StateStore& store, std::function<void(double seconds)> synced = nullptr)
      : store_(store), synced_to_disk_(std::move(synced)) {}

  // Queues a change; returns its ticket. An empty change has the ticket of the last one queued.
  uint64_t Append(Change change);
  // The ticket of the last change queued.
  uint64_t last() const;
  // Returns once the changes up to `ticket` are kept; `sync`: against a loss of power too.
  absl::Status Wait(uint64_t ticket, bool sync);
  // OK, or why nothing can be written any more.
  absl::Status status() const;

 private:
  bool Settled(uint64_t ticket, bool sync) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !status_.ok() || (sync ? synced_ : written_) >= ticket;
  }

  StateStore& store_;
  const std::function<void(double)> synced_to_disk_;
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  std::vector<Change> queue_ ABSL_GUARDED_BY(mutex_);
  uint64_t appended_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t written_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t synced_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t sync_wanted_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_STATE_COMMIT_QUEUE_H_
