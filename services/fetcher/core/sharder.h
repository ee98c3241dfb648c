#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SHARDER_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SHARDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// Bounds on one shard.
struct ShardLimits {
  int64_t bytes = 1 << 20;
  size_t files = 256;
};

// A file to put into a shard.
struct ShardItem {
  absl::string_view path;
  int64_t bytes;
};

// Cuts files into shards by extendible hashing: all files start in one bucket, and a bucket over a
// limit is split in two by the next bit of its paths' hashes. A file's bucket depends on its own
// path and on how full its neighbourhood is. So adding, changing or removing a file changes only
// the shard that it is in and, at a split or merge, that shard's sibling; all others keep their
// bytes and their cached results. A file over the limit gets a shard of its own.
//
// Returns indexes into `items`: the shards in the order of their hashes, the files of each sorted
// by path. No shard is empty.
std::vector<std::vector<size_t>> CutShards(const std::vector<ShardItem>& items,
                                           const ShardLimits& limits);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SHARDER_H_
