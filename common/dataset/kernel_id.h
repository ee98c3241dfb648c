#ifndef KERNELMILL_COMMON_DATASET_KERNEL_ID_H_
#define KERNELMILL_COMMON_DATASET_KERNEL_ID_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {

// The name of a kernel across jobs: 32 hexadecimal digits of SHA-256 over repository, commit, path,
// first line, content hash and any JSON pointer, a NUL between them.
std::string KernelId(absl::string_view repository, absl::string_view commit,
                     const v1::Kernel& kernel);

// Gives the kernels of a source's shard their ids. Stages do not: a shard whose files a commit left
// alone is the same blob for both commits, and what was made of it is found again. A shard that has
// ids, as shards once had, keeps them: they are these.
void SetKernelIds(const v1::SourceTree& tree, v1::KernelShard* shard);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_COMMON_DATASET_KERNEL_ID_H_
