#ifndef KERNELMILL_SERVICES_STORE_CORE_RECENCY_CACHE_H_
#define KERNELMILL_SERVICES_STORE_CORE_RECENCY_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// What was used lately, and in which epoch: answers without the storage for what is asked for
// again. An entry says that the storage has the item recorded as used in that epoch. Bounded: each
// shard keeps two generations, and forgets the older one when the younger is full. Thread-safe.
class RecencyCache {
 public:
  explicit RecencyCache(size_t max_entries);

  // The epoch noted; 0: none.
  Epoch Get(const BlobId& id);
  void Note(const BlobId& id, Epoch epoch);
  void Erase(const BlobId& id);

 private:
  static constexpr size_t kShards = 64;
  using Map = absl::flat_hash_map<BlobId, Epoch, BlobIdHash>;
  struct alignas(64) Shard {
    absl::Mutex mutex;
    Map young ABSL_GUARDED_BY(mutex);
    Map old ABSL_GUARDED_BY(mutex);
  };

  Shard& ShardOf(const BlobId& id);
  void Insert(Shard& shard, const BlobId& id, Epoch epoch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);

  const size_t max_young_;
  std::array<Shard, kShards> shards_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_RECENCY_CACHE_H_
