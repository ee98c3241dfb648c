#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_KERNELS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_KERNELS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor {

// Returns whether the path has an extension of C++, CUDA or HIP.
bool IsCudaPath(absl::string_view path);

// Returns whether a C++ text can define a kernel or a device function. Cheap; most texts cannot.
bool MayHoldCuda(absl::string_view text);

// Adds the text to the shard's definitions, from which the link stage builds modules.
void AddCudaText(absl::string_view path, absl::string_view text, v1::KernelShard& shard);

// Adds the __global__ and __device__ functions of a text to the shard, and the file's numbers to
// `entry`. Returns RESOURCE_EXHAUSTED, and adds nothing, if functions within functions repeat more
// than `max_bytes` of text; the message is the reason in the ledger.
absl::Status AddCudaKernels(absl::string_view path, absl::string_view text, size_t max_bytes,
                            v1::ExtractedFile& entry, v1::KernelShard& shard);

namespace cuda {

// clang-format off
// Adds the kernel's parameters, in order: the name, empty for an unnamed one; the type without the
// name as annotation, with one blank wherever there are blanks or comments; the default value; and
// the role with the first rule that gives it:
//
//   role     rule                 holds if
//   pointer  annotation:pointer   its type is a pointer or an array
//   pointer  annotation:accessor  its type names an accessor, a tensor or a descriptor of one
//   stride   name:FRAGMENT        an integer with a stride's name: stride, lda and so on
//   size     usage:compared       an integer that is ordered against something, as in i < n
//   size     name:FRAGMENT        an integer with a size's name: n, rows, num_heads and so on
//   other    none
//
// A type is an integer by its words: int, size_t, uint32_t, index_t and so on. Usage is searched
// for in the function's own body. The parameters of a template header go to
// CudaFunction.template_parameters instead.
// clang-format on
void AddCudaParameters(const Code& code, const Brackets& brackets, const Function& function,
                       v1::Kernel& kernel);

// Returns the names before parentheses in a body, with the namespaces that they are written with:
// f(...), n::g<T>(...), method(...) of x.method(...). Leaves out variables that are declared this
// way, as in `T x(1)`. Sorted, without repetitions.
std::vector<std::string> CalledNames(const Code& code, const Brackets& brackets,
                                     const Function& function);

}  // namespace cuda
}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_KERNELS_H_
