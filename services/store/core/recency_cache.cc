#include "services/store/core/recency_cache.h"

#include <algorithm>
#include <utility>

namespace kernelmill::store {

RecencyCache::RecencyCache(size_t max_entries)
    : max_young_(std::max<size_t>(max_entries / kShards / 2, 1)) {}

RecencyCache::Shard& RecencyCache::ShardOf(const BlobId& id) {
  return shards_[static_cast<unsigned char>(id.hash[0]) % kShards];
}

Epoch RecencyCache::Get(const BlobId& id) {
  Shard& shard = ShardOf(id);
  absl::MutexLock lock(&shard.mutex);
  if (const auto at = shard.young.find(id); at != shard.young.end()) return at->second;
  const auto at = shard.old.find(id);
  if (at == shard.old.end()) return 0;
  const Epoch epoch = at->second;
  Insert(shard, id, epoch);
  return epoch;
}

void RecencyCache::Note(const BlobId& id, Epoch epoch) {
  Shard& shard = ShardOf(id);
  absl::MutexLock lock(&shard.mutex);
  Insert(shard, id, epoch);
}

void RecencyCache::Insert(Shard& shard, const BlobId& id, Epoch epoch) {
  if (shard.young.size() >= max_young_ && !shard.young.contains(id)) {
    shard.old = std::exchange(shard.young, Map());
  }
  shard.young[id] = epoch;
}

void RecencyCache::Erase(const BlobId& id) {
  Shard& shard = ShardOf(id);
  absl::MutexLock lock(&shard.mutex);
  shard.young.erase(id);
  shard.old.erase(id);
}

}  // namespace kernelmill::store
