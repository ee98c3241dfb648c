#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MODULE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MODULE_H_

#include <cstddef>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// Sets the kernel's module and the record's fields about it: pieces, imports, free and unresolved
// names, dropped_decorators, replaced_texts, self_contained, prompt_context. Returns the number of
// bytes that were read.
//
// A decorator above the kernel's jit stays if all that it needs can be had within bounds: the
// module must lack the same names with it as without it. Each decorator is tried alone. An
// autotuner that cannot stay is replaced by its configurations if these are known; any other
// decorator is dropped.
size_t MakeModule(SourceScope& scope, size_t max_bytes, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MODULE_H_
