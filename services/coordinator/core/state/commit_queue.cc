#include "services/coordinator/core/state/commit_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/status.h"

namespace kernelmill::coordinator {

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
