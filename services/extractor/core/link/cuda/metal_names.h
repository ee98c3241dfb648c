#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_METAL_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_METAL_NAMES_H_

#include "absl/strings/string_view.h"
#include "services/extractor/core/link/cuda/known_names.h"

namespace kernelmill::extractor::cuda {

// Looks up a name as LookUpKnown does, for a text in Metal: the language's types, address spaces
// and attributes are built in, and those of its standard library have <metal_stdlib>, in namespace
// metal.
KnownName LookUpMetal(absl::string_view path);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_METAL_NAMES_H_
