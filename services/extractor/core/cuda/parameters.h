#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_PARAMETERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_PARAMETERS_H_

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Sets the kernel's parameters, in order: the name, empty where there is none; as annotation the
// type without the name, with one blank wherever blanks or comments stand; the default value; and
// the role with the rule that gave it, the first of
//
//   role     rule                 holds if
//   pointer  annotation:pointer   its type is a pointer or an array
//   pointer  annotation:accessor  its type names an accessor, a tensor or a descriptor of one
//   stride   name:FRAGMENT        an integer whose name says so: stride, lda and so on
//   size     usage:compared       an integer that is ordered against something, as in i < n
//   size     name:FRAGMENT        an integer whose name says so: n, rows, num_heads and so on
//   other    none
//
// An integer is so by its type's words: int, size_t, uint32_t, index_t and so on. Usage is that in
// the function's own body. What stands in a template header is CudaFunction.template_parameters.
void AddCudaParameters(const Code& code, const Brackets& brackets, const Function& function,
                       v1::Kernel& kernel);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_PARAMETERS_H_
