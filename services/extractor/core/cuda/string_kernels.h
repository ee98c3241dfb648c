#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_KERNELS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_KERNELS_H_

#include <cstddef>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"

namespace kernelmill::extractor {

// Bounds on the strings of one Python file.
struct CudaStringLimits {
  size_t max_strings = 4096;  // literals; a file with more has none of them: "too_many_strings"
  size_t max_overlap = 8;     // texts in sizes of the file, and records in sizes of their text
};

// Adds the kernels and device functions of CUDA and Metal in the string literals of a Python file,
// with the texts from which the link stage builds modules (cuda/cuda_strings.h). Their form is
// STRING.
//
// A function's source is the whole lines of the file around it, which must belong to one literal
// alone; else skipped_strings has its literal as "not_verbatim" or "shared_line". If the literal
// has escape sequences, the source has them too, and the module has their values. The source of a
// kernel that a library makes of its body is the body. A string that the file fills in, or an
// f-string's function with fields that are not constants, is a TEMPLATE.
//
// The launcher of a __global__ function is the function of the file that launches it, if there is
// one (cuda/string_uses.h).
void AddCudaStrings(const ParsedFile& file, const CudaStringLimits& limits,
                    v1::ExtractedFile& entry, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_KERNELS_H_
