#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LINK_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {

struct LinkOptions {
  // A kernel that needs more text than this of its file gets itself alone as its module; as do the
  // rest of a shard's kernels once this much was looked through for them together. What other files
  // have is left out before that.
  size_t max_module_bytes = 512u << 10;
  size_t max_shard_bytes = 64u << 20;
  // Held of a source at a time, and left out beyond: definitions that only kernels of other files
  // may use, and functions that launch kernels of other files.
  size_t max_importable_bytes = 256u << 20;
  size_t max_launch_bytes = 64u << 20;
};

// The extracted shards of one source. Each is read twice, so that they need not fit into memory
// together.
struct SourceShards {
  size_t count = 0;
  std::function<absl::StatusOr<v1::KernelShard>(size_t shard)> read;
};

// A source whose helpers modules may take in (v1::Source.uses): its tree, and its shards as
// extracted.
struct UsedSourceShards {
  std::string name;  // as records name it
  v1::SourceTree tree;
  SourceShards shards;
};

// Takes the linked shards in their order.
using ShardWriter = std::function<absl::Status(v1::KernelShard)>;

// Links the kernels of a source to what its other files define: decides which candidates are
// kernels, gives kernels their launchers in other files and the source's requirement of Triton, and
// makes each stand on its own. It sets module, pieces, imports, free_names and self_contained, and
// drops what was there for linking alone: also the kernels of files that are there for others alone
// (FileEntry.support). Returns how many candidates became kernels, without those that were dropped.
// Errors are those of `shards` and `write`.
//
// The module is: imports, what else the kernel needs (Closure says what and in which order), the
// kernel, the statement that makes it one if no decorator does. Of a kernel in a string
// (Kernel.string_begin) it is made from that string alone. That of a CUDA function: see
// link/cuda/cuda_module.h.
// Of `used` definitions alone count, for what the source imports absolutely and does not have
// itself.
absl::StatusOr<int64_t> LinkSource(const v1::SourceTree& tree, const SourceShards& shards,
                                   const std::vector<UsedSourceShards>& used,
                                   const ShardWriter& write, const LinkOptions& options = {});

// The same for a source that is one shard, and of which no other files are known.
absl::StatusOr<v1::KernelShard> LinkSource(const v1::KernelShard& shard,
                                           const LinkOptions& options = {});

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LINK_H_
