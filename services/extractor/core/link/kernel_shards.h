#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_

#include <vector>

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Sorts the kernels by path and line. Kernels of a JSON file are sorted by string before line. A
// whole file comes before its kernels. Kernels on one line keep their order.
void SortKernels(v1::KernelShard& shard);

// Takes the whole files out of the shard's kernels, since linking does not concern them.
std::vector<v1::Kernel> TakeWholeFiles(v1::KernelShard& shard);

// Puts them back in the order of SortKernels.
void PutWholeFiles(std::vector<v1::Kernel> files, v1::KernelShard& shard);

// Appends the extracted next piece to the pieces before it.
void JoinPieces(v1::KernelShard next, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_SHARDS_H_
