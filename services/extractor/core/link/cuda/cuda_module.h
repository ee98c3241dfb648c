#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_MODULE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_MODULE_H_

#include <cstddef>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/cuda/source.h"

namespace kernelmill::extractor::cuda {

// Makes the module of a CUDA function, as far as its source has all that it needs: sets module,
// pieces, imports, free_names, unresolved_names and self_contained. Returns the number of bytes
// that were read.
//
// A module holds, in this order: #includes; the items that the function needs (CudaClosure), in the
// order in which the preprocessor meets them; the function. Each piece is written with the
// namespaces and the conditionals around it, except the conditionals around the function itself:
// these hold. For a function in a class the pieces are the class's lines, without the methods that
// the closure leaves out.
//
// The #includes are
//   - known headers that declare a name in the module, as the source writes them, or generated if
//   the
//     source does not include them;
//   - headers of packages whose names the module uses;
//   - if a missing name is unknown, all other headers of the files that the pieces come from.
// The last two kinds are listed among the unresolved names as well.
//
// The libraries that the module is written with become features (dsl::FindLibraries).
//
// Line ends are \n. Names that are left out to stay below `max_bytes` are "too_large".
size_t FillInCudaModule(const Source& source, size_t max_bytes, v1::Kernel& kernel);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_MODULE_H_
