#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MODULE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MODULE_H_

#include <cstddef>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// Sets the kernel's module and what the record says of it: pieces, imports, free and unresolved
// names, dropped_decorators, replaced_texts, self_contained, prompt_context. Returns how many bytes
// were looked through.
//
// A decorator above the kernel's jit stays where all that it needs can be had in bounds. Each is
// asked alone: with it and without it the module must lack the same names. An autotuner that cannot
// stay is replaced by its configurations, where these are known; any other is dropped.
size_t MakeModule(SourceScope& scope, size_t max_bytes, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MODULE_H_
