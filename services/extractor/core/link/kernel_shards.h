#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_

#include <vector>

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Puts the kernels in the order of their paths and lines, those of a JSON file in the order of its
// strings first, and a whole file before all of its own; what stands on one line keeps its order.
void SortKernels(v1::KernelShard& shard);

// Takes the whole files out of the shard's kernels: linking is not about them.
std::vector<v1::Kernel> TakeWholeFiles(v1::KernelShard& shard);

// Puts them back where SortKernels has them.
void PutWholeFiles(std::vector<v1::Kernel> files, v1::KernelShard& shard);

// Appends what was extracted of the next piece to what was of those before it.
void JoinPieces(v1::KernelShard next, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_
