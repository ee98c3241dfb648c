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
  // The most text that is read for one kernel, and for all kernels of a shard together. A kernel
  // over these bounds gets a module with only itself. Definitions of other files are left out
  // before that.
  size_t max_module_bytes = 512u << 10;
  size_t max_shard_bytes = 64u << 20;
  // The most text of a source that is held at a time; more is left out: definitions that only
  // kernels of other files may use, and functions that launch kernels of other files.
  size_t max_importable_bytes = 256u << 20;
  size_t max_launch_bytes = 64u << 20;
  // The threads on which shards are read and linked. The result does not depend on their number;
  // memory holds up to two shards more.
  int threads = 1;
};

// The extracted shards of one source. Each is read twice, so that they do not have to fit into
// memory together. Calls come from all threads.
struct SourceShards {
  size_t count = 0;
  std::function<absl::StatusOr<v1::KernelShard>(size_t shard)> read;
};

// A source whose helpers modules may take in (v1::Source.uses), with its extracted shards.
struct UsedSourceShards {
  std::string name;  // as records name it
  v1::SourceTree tree;
  SourceShards shards;
};

// Receives each linked shard once, with its place among the source's shards. Calls come from all
// threads, in any order.
using ShardWriter = std::function<absl::Status(size_t shard, v1::KernelShard)>;

// Links the kernels of a source to what its other files define. It decides which candidates are
// kernels; gives kernels their launchers in other files and the source's requirement of Triton; and
// sets module, pieces, imports, free_names and self_contained. It drops all that only linking
// needs, and the kernels of support files (FileEntry.support). Returns how many candidates became
// kernels, without those that were dropped. Errors are those of `shards` and `write`.
//
// A module holds, in this order: imports, the definitions that the kernel needs (see Closure), the
// kernel, and the statement that makes it a kernel if no decorator does. The module of a kernel in
// a string (Kernel.string_begin) is made from this string only. link/cuda/cuda_module.h describes
// the modules of CUDA functions.
//
// Only the definitions of `used` sources count, for absolute imports that the source itself cannot
// resolve.
absl::StatusOr<int64_t> LinkSource(const v1::SourceTree& tree, const SourceShards& shards,
                                   const std::vector<UsedSourceShards>& used,
                                   const ShardWriter& write, const LinkOptions& options = {});

// Links a source that is one shard and has no other files. `languages`: as of Source.
absl::StatusOr<v1::KernelShard> LinkSource(const v1::KernelShard& shard,
                                           const LinkOptions& options = {},
                                           const std::vector<std::string>& languages = {});

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LINK_H_
