#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_REEXPORTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_REEXPORTS_H_

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// Describes the kernel by what its names are in truth where it gets Triton, or another installed
// package, from a file of the source: from .utils import tl. Its calls say triton.language.load
// then, and its features follow them. The file's extraction could not know.
void ResolveReexports(SourceScope& scope, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_REEXPORTS_H_
