// Extendible hashing without a directory: the files are sorted by the hash of their path, so that
// all files whose hashes share their first bits are one run. Cut() walks the binary tree of those
// runs with a stack of its own, left half first, and emits a run as soon as it is within the
// limits. The hash is part of the dataset's identity and must not change.
#include "services/fetcher/core/sharder.h"

#include <algorithm>
#include <utility>

#include "common/base/hash.h"

namespace kernelmill::fetcher {
namespace {

struct Hashed {
  uint64_t hash;
  size_t index;
};

// A run of files, in the order of their hashes, that share their first `bits` bits.
struct Bucket {
  size_t begin;
  size_t end;
  int bits;
};

// A file that joins or leaves the source changes only the shard of its run, or splits or joins this
// one; all others keep their files and so their cached results.
class Cutter {
 public:
  Cutter(const std::vector<ShardItem>& items, const ShardLimits& limits)
      : items_(items), limits_(limits) {
    for (size_t i = 0; i < items.size(); ++i) files_.push_back({StableHash64(items[i].path), i});
    std::sort(files_.begin(), files_.end(), [&](const Hashed& a, const Hashed& b) {
      return std::make_pair(a.hash, items_[a.index].path) <
             std::make_pair(b.hash, items_[b.index].path);
    });
  }

  std::vector<std::vector<size_t>> Cut() {
    std::vector<Bucket> open = {{0, files_.size(), 0}};
    while (!open.empty()) {
      const Bucket bucket = open.back();
      open.pop_back();
      if (Fits(bucket)) {
        Emit(bucket.begin, bucket.end);
      } else if (bucket.bits == 64) {
        EmitInTurn(bucket);
      } else {
        const uint64_t bit = uint64_t{1} << (63 - bucket.bits);
        const auto split =
            std::partition_point(files_.begin() + bucket.begin, files_.begin() + bucket.end,
                                 [bit](const Hashed& file) { return (file.hash & bit) == 0; });
        const size_t middle = split - files_.begin();
        open.push_back({middle, bucket.end, bucket.bits + 1});
        open.push_back({bucket.begin, middle, bucket.bits + 1});
      }
    }
    return std::move(shards_);
  }

 private:
  // A single file always fits, since it cannot be cut.
  bool Fits(const Bucket& bucket) const {
    if (bucket.end - bucket.begin <= 1) return true;
    if (bucket.end - bucket.begin > limits_.files) return false;
    int64_t bytes = 0;
    for (size_t i = bucket.begin; i < bucket.end; ++i) bytes += items_[files_[i].index].bytes;
    return bytes <= limits_.bytes;
  }

  void Emit(size_t begin, size_t end) {
    if (begin == end) return;
    std::vector<size_t> shard;
    for (size_t i = begin; i < end; ++i) shard.push_back(files_[i].index);
    std::sort(shard.begin(), shard.end(),
              [&](size_t a, size_t b) { return items_[a].path < items_[b].path; });
    shards_.push_back(std::move(shard));
  }

  // Cuts paths whose hashes are equal in all 64 bits, which only a hostile tree has, in the order
  // of the paths.
  void EmitInTurn(const Bucket& bucket) {
    size_t begin = bucket.begin;
    int64_t bytes = 0;
    for (size_t i = bucket.begin; i < bucket.end; ++i) {
      const int64_t size = items_[files_[i].index].bytes;
      if (i > begin && (bytes + size > limits_.bytes || i - begin >= limits_.files)) {
        Emit(begin, i);
        begin = i;
        bytes = 0;
      }
      bytes += size;
    }
    Emit(begin, bucket.end);
  }

  const std::vector<ShardItem>& items_;
  const ShardLimits limits_;
  std::vector<Hashed> files_;
  std::vector<std::vector<size_t>> shards_;
};

}  // namespace

std::vector<std::vector<size_t>> CutShards(const std::vector<ShardItem>& items,
                                           const ShardLimits& limits) {
  return Cutter(items, limits).Cut();
}

}  // namespace kernelmill::fetcher
