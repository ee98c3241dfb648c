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

// Bounds on the files of one source.
struct ContentLimits {
  int64_t file_bytes = 16 << 20;           // larger files are skipped as "too_large"
  int64_t license_bytes = 256 << 10;       // larger licence files are left out
  int64_t requirement_bytes = 1 << 20;     // larger files that state requirements are left out
  int64_t total_bytes = int64_t{8} << 30;  // all files read; a source with more fails
  ShardLimits shard;
  SupportLimits support;
};

// The fields of a source that decide which of its files go on; see v1::Source.
struct TreeOptions {
  v1::SourceKeep keep = v1::SOURCE_KEEP_KERNELS;
  v1::SourceRole role = v1::SOURCE_ROLE_CANDIDATE;
  std::vector<std::string> languages = {};
};

// Reads every selected file of a snapshot once and decides what becomes of it. The selected files
// are listing().files and those headers of listing() that files with CUDA functions include.
//
// Contents are not kept: ReadShard reads the files that go on again. A file goes on because it may
// hold kernels, because such a file imports from it, because the source keeps whole files, or
// because it has evidence.
absl::StatusOr<v1::SourceTree> DescribeTree(Snapshot& snapshot, absl::string_view repository,
                                            const ContentLimits& limits,
                                            const TreeOptions& options = {});

// Returns the indexes of the tree's sharded files, shard by shard.
std::vector<std::vector<size_t>> ListShards(const v1::SourceTree& tree, const ShardLimits& limits);

// Reads the files of one shard. ABORTED: a file's content is not the one that `tree` describes any
// more.
absl::StatusOr<v1::FileShard> ReadShard(Snapshot& snapshot, const v1::SourceTree& tree,
                                        const std::vector<size_t>& files);

// Counts the tree's files: files.seen is the sum of files.sharded, files.skipped.<reason> and
// files.failed.<reason>. files.support counts the sharded files that go on only for others.
std::map<std::string, int64_t> CountFiles(const v1::SourceTree& tree);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_ASSEMBLE_H_
