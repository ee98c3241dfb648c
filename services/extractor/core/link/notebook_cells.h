#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_NOTEBOOK_CELLS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_NOTEBOOK_CELLS_H_

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Makes the places of kernels in notebooks places in their cells: lines and offsets count in the
// text of the cell that json_pointer names, and string_begin is that text's offset in the file. The
// same for the kernels' launchers, launches and pieces. Before, they count in the text of all
// cells, by which link finds what a kernel uses of other cells. Drops the lists of cells and
// restores the order of the shard.
void MoveToCells(v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_NOTEBOOK_CELLS_H_
