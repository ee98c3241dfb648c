#ifndef KERNELMILL_SERVICES_STORE_CORE_KEY_LOCKS_H_
#define KERNELMILL_SERVICES_STORE_CORE_KEY_LOCKS_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// Write locks by blob: two writers of one blob take turns, so that the second finds the blob that
// the first has stored. Thread-safe.
class KeyLocks {
 public:
  // A lock on a set of blobs. It takes all of them at once, so that two locks never deadlock.
  class Lock {
   public:
    // Waits until no other lock contains any of the blobs.
    Lock(KeyLocks* locks, absl::Span<const BlobId> ids)
        : locks_(locks), ids_(ids.begin(), ids.end()) {
      absl::MutexLock lock(&locks_->mutex_);
      while (locks_->AnyLocked(ids_)) locks_->released_.Wait(&locks_->mutex_);
      locks_->locked_.insert(ids_.begin(), ids_.end());
    }
    ~Lock() {
      absl::MutexLock lock(&locks_->mutex_);
      for (const BlobId& id : ids_) locks_->locked_.erase(id);
      locks_->released_.SignalAll();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    KeyLocks* const locks_;
    const std::vector<BlobId> ids_;
  };

 private:
  bool AnyLocked(absl::Span<const BlobId> ids) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const BlobId& id : ids) {
      if (locked_.contains(id)) return true;
    }
    return false;
  }

  absl::Mutex mutex_;
  absl::CondVar released_;
  absl::flat_hash_set<BlobId, BlobIdHash> locked_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_KEY_LOCKS_H_
