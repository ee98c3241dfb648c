#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

struct LinkOptions {
  // A kernel that needs more text than this of its file gets itself alone as its module; as do the
  // rest of a shard's kernels once this much was looked through for them together.
  size_t max_module_bytes = 512u << 10;
  size_t max_shard_bytes = 64u << 20;
};

// Makes every kernel of a shard stand on its own: sets id, module, imports, free_names and
// self_contained, and drops the definitions. Definitions of the kernel's own file alone are used,
// or of its own string (Kernel.string_begin).
//
// What a CUDA function needs is in headers that nobody has: its module is its own text.
//
// The basic idea: from the kernel's free names, follow definitions and what they use in turn. A
// name that is bound more than once means the nearest binding above the kernel, and those before it
// that it builds on; else the first one below. The module then is: imports, the other definitions
// in the order of the file, the kernel.
void LinkShard(absl::string_view repository, absl::string_view commit, v1::KernelShard& shard,
               const LinkOptions& options = {});

// The name of a kernel across jobs: 32 hexadecimal digits of SHA-256 over repository, commit, path,
// first line and content hash, each but the last with a NUL after it.
std::string KernelId(absl::string_view repository, absl::string_view commit,
                     const v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_H_
