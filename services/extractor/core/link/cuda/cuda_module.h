#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_MODULE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_MODULE_H_

#include <cstddef>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/cuda/source.h"

namespace kernelmill::extractor::cuda {

// Makes a CUDA function stand on its own, as far as its source can: sets module, pieces, imports,
// free_names, unresolved_names and self_contained. Returns how many bytes were looked through.
//
// The module is: #includes, what the function needs (CudaClosure) in the order in which the
// preprocessor meets it, the function. Around each piece stand the namespaces and the conditionals
// that it stands in, but for the conditionals that the function itself stands in: they hold. A
// function of a class is its class. Of #includes the module has those of known headers that declare
// a name in it, as the source writes them or, if it does not, made up; those of packages whose
// names it uses; and, where a name is missing that nobody knows of, all others of the files that
// it is taken from. The latter two are among the unresolved names. Line ends are \n.
//
// Over `max_bytes` what is left out is "too_large".
size_t FillInCudaModule(const Source& source, size_t max_bytes, v1::Kernel& kernel);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_MODULE_H_
