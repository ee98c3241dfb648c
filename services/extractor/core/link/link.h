#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LINK_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LINK_H_

#include <cstddef>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

struct LinkOptions {
  // A kernel that needs more text than this of its file gets itself alone as its module; as do the
  // rest of a shard's kernels once this much was looked through for them together. What other files
  // have is left out before that.
  size_t max_module_bytes = 512u << 10;
  size_t max_shard_bytes = 64u << 20;
};

// Makes every kernel of a shard stand on its own: sets module, pieces, imports, free_names and
// self_contained, and drops the definitions and launches. `scope` has those of the whole source.
//
// What a CUDA function needs is in headers that nobody has: its module is its own text.
//
// The module is: imports, what else the kernel needs (Closure says what and in which order), the
// kernel, the statement that makes it one if no decorator does. Of a kernel in a string
// (Kernel.string_begin) it is made from that string alone.
void LinkShard(SourceScope& scope, v1::KernelShard& shard, const LinkOptions& options = {});

// The same for a shard that is a whole source.
void LinkShard(v1::KernelShard& shard, const LinkOptions& options = {});

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LINK_H_
