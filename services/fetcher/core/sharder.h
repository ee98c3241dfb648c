#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SHARDER_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SHARDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

struct ShardLimits {
  int64_t bytes = 1 << 20;
  size_t files = 256;
};

struct ShardItem {
  absl::string_view path;
  int64_t bytes;
};

// Cuts files into shards by extendible hashing: all files start in one bucket, and a bucket over a
// limit is split in two by the next bit of its paths' hashes. Which bucket a file is in depends on
// its own path and on how full its neighbourhood is, so adding, changing or removing a file touches
// the shard that it is in and, at a split or merge, that one's sibling; the others keep their
// bytes. A file over the limit ends alone in a shard.
//
// Answers with indexes into `items`: shards in the order of their hashes, files in each sorted by
// path. No shard is empty.
std::vector<std::vector<size_t>> CutShards(const std::vector<ShardItem>& items,
                                           const ShardLimits& limits);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SHARDER_H_
