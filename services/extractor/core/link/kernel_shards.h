#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Puts the kernels in the order of their paths and lines, those of a JSON file in the order of its
// strings first; what stands on one line keeps its order.
void SortKernels(v1::KernelShard& shard);

// Appends what was extracted of the next piece to what was of those before it.
void JoinPieces(v1::KernelShard next, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_
