#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SHARD_BATCHES_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SHARD_BATCHES_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"

namespace kernelmill::deduplicator {

// Reads the blobs of `digests` that `shards` numbers, and calls callback(shard number, message) for
// each, in order. It holds a few blobs in memory at a time. Returns the store's errors, and the
// callback's with the shard's number added.
template <typename Message, typename Callback>
absl::Status ForEachShard(cas::BlobStore& store, const std::vector<cas::Digest>& digests,
                          const std::vector<size_t>& shards, Callback callback) {
  constexpr size_t kBatch = 8;  // some MiB of shards
  Message message;              // reused, so that its memory is allocated once
  for (size_t begin = 0; begin < shards.size(); begin += kBatch) {
    const size_t end = std::min(begin + kBatch, shards.size());
    std::vector<cas::Digest> batch;
    for (size_t i = begin; i < end; ++i) batch.push_back(digests[shards[i]]);
    ASSIGN_OR_RETURN(std::vector<std::string> blobs, store.Get(batch));
    for (size_t i = begin; i < end; ++i) {
      RETURN_IF_ERROR(cas::ParseInto(blobs[i - begin], batch[i - begin], &message));
      RETURN_IF_ERROR(Annotate(callback(shards[i], message), absl::StrCat("shard ", shards[i])));
    }
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SHARD_BATCHES_H_
