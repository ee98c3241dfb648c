#ifndef KERNELMILL_SERVICES_FETCHER_CORE_ASSEMBLE_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_ASSEMBLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/core/selection/snapshot.h"
#include "services/fetcher/core/selection/support_files.h"
#include "services/fetcher/core/sharder.h"

namespace kernelmill::fetcher {

struct ContentLimits {
  int64_t file_bytes = 16 << 20;           // larger ones are skipped as "too_large"
  int64_t license_bytes = 256 << 10;       // larger licence files are left out
  int64_t requirement_bytes = 1 << 20;     // and so are larger files that state requirements
  int64_t total_bytes = int64_t{8} << 30;  // of all files read; over it the source fails
  ShardLimits shard;
  SupportLimits support;
};

// Reads every selected file of a snapshot once and says what becomes of it. They are
// listing().files with the headers of listing() that those with CUDA functions include. Contents
// are not kept: ReadShard reads again those that go on, be it because kernels may stand in them,
// because such files import from them or because the source keeps files, whole.
absl::StatusOr<v1::SourceTree> DescribeTree(Snapshot& snapshot, absl::string_view repository,
                                            const ContentLimits& limits,
                                            v1::SourceKeep keep = v1::SOURCE_KEEP_KERNELS);

// The indexes of the tree's sharded files, shard by shard.
std::vector<std::vector<size_t>> ShardsOf(const v1::SourceTree& tree, const ShardLimits& limits);

// ABORTED: a file's content is no longer the one that `tree` describes.
absl::StatusOr<v1::FileShard> ReadShard(Snapshot& snapshot, const v1::SourceTree& tree,
                                        const std::vector<size_t>& files);

// The ledger of the tree's files: files.seen, and files.sharded, files.skipped.<reason> and
// files.failed.<reason>, whose sum it is. Beside it files.support: of the sharded ones, those that
// are there for others alone.
std::map<std::string, int64_t> CountFiles(const v1::SourceTree& tree);

// 64 hexadecimal digits that name what a tree holds, whatever it is called and wherever it came
// from: SHA-256 over its selected files' and licence files' paths, fates and contents, and what it
// requires.
std::string ContentHash(const v1::SourceTree& tree);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_ASSEMBLE_H_
