#include "services/coordinator/core/state/commit_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/status.h"

namespace kernelmill::coordinator {

// Group commit: a caller appends its change and gets a ticket, the number of changes so far. One of
// the waiting threads becomes the writer: it takes all appended changes, writes them as one batch
// without the lock, and wakes the others. While it writes, the next batch gathers. So the number of
// syncs depends on the disk's speed, not on the number of callers.
//
// written_ and synced_ are the tickets up to which all changes are written or synced. An empty
// change gets the last ticket: its caller waits for the changes that it may have seen.
uint64_t CommitQueue::Append(Change change) {
  absl::MutexLock lock(&mutex_);
  if (change.empty()) return appended_;
  queue_.push_back(std::move(change));
  return ++appended_;
}

uint64_t CommitQueue::last() const {
  absl::MutexLock lock(&mutex_);
  return appended_;
}

absl::Status CommitQueue::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

// Returns when the change is stored (with `sync`: on the disk). An error is final: it stays in
// status_, and all later calls return it.
absl::Status CommitQueue::Wait(uint64_t ticket, bool sync) {
  absl::MutexLock lock(&mutex_);
  if (sync) sync_wanted_ = std::max(sync_wanted_, ticket);
  while (!Settled(ticket, sync)) {
    if (writing_) {
      changed_.Wait(&mutex_);
      continue;
    }
    // This thread writes for all. An empty batch still syncs the earlier writes.
    writing_ = true;
    std::vector<Change> batch = std::exchange(queue_, {});
    const uint64_t up_to = appended_;
    const bool with_sync = sync_wanted_ > synced_;
    mutex_.Unlock();
    const auto start = std::chrono::steady_clock::now();
    const absl::Status written = store_.Write(batch, with_sync);
    if (with_sync && synced_to_disk_) {
      synced_to_disk_(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    batch
        .clear();  // without the lock, since the end of a large job has a hundred thousand failures
    mutex_.Lock();
    writing_ = false;
    if (written.ok()) {
      written_ = up_to;
      if (with_sync) synced_ = up_to;
    } else {
      status_ = Annotate(written, "cannot store the coordinator's state");
    }
    changed_.SignalAll();
  }
  return status_;
}

}  // namespace kernelmill::coordinator
