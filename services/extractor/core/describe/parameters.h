#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

// Sets the kernel's parameters, each with its role and the rule that gave it: the first of
//
//   role       rule                    holds if
//   constexpr  annotation:constexpr    its annotation names constexpr
//   pointer    annotation:pointer      its annotation names a pointer or a descriptor
//   pointer    usage:descriptor        its methods load or store
//   pointer    usage:address           memory is accessed at an address that begins with it
//   stride     name:stride             its name says so
//   stride     usage:strides           it is in a block pointer's or tensor descriptor's strides
//   pointer    name:FRAGMENT           its name has ptr, pointer or desc in it
//   size       usage:shape             it is in a block pointer's or tensor descriptor's shape
//   size       usage:cdiv              it is in an argument of cdiv
//   size       usage:range             it is in a bound or step of a loop
//   size       usage:compared          it bounds an index, as in a mask
//   size       name:FRAGMENT           its name says so: N, n_elements, seq_len, numel and so on
//   other      none
//
// Usage is that in the kernel's own body: see ParameterUsage.
void AddParameters(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_PARAMETERS_H_
