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

// A queue of changes with group commit. Thread-safe.
//
// The basic idea: changes are queued in the order in which they were made. One of the threads that
// wait for them writes the whole queue at once, so that one sync serves many threads. So the disk
// always has a prefix of the changes in memory.
//
// After the first failed write every wait, also later ones, returns its error. Memory is then ahead
// of the disk, and the owner must restart from the disk.
class CommitQueue {
 public:
  // `synced`: called after each write with a sync, without locks, with the duration. May be null.
  explicit CommitQueue(StateStore& store, std::function<void(double seconds)> synced = nullptr)
      : store_(store), synced_to_disk_(std::move(synced)) {}

  // Queues a change and returns its ticket; for an empty change the last ticket.
  uint64_t Append(Change change);
  // Returns the ticket of the last queued change.
  uint64_t last() const;
  // Waits until the changes up to `ticket` are stored; `sync`: so that they survive a loss of
  // power.
  absl::Status Wait(uint64_t ticket, bool sync);
  // OK, or the error of the first failed write.
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
