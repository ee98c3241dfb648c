#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_KNOWN_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_KNOWN_NAMES_H_

#include "absl/strings/string_view.h"
#include "common/dsl/language.h"

namespace kernelmill::extractor::cuda {

// clang-format off
// A name that is known without the source: the compiler's, the standard library's, the CUDA
// toolkit's, HIP's, or a package's.
//
//   names                                       count as
//   keywords, threadIdx, __shfl_sync, __x       built in: no header
//   dim3, float4, atomicAdd, sinf, cudaError_t  built in: nvcc and hipcc include their runtime
//   half, __half2float, uint32_t, std::max ...  a header's, by the table in the .cc
//   at::, c10::, torch::, cub::, thrust::,      a package's
//   cutlass::, cute::, AT_X, TORCH_X ...
// clang-format on
struct KnownName {
  enum Kind { kUnknown, kBuiltIn, kHeader, kPackage };
  Kind kind = kUnknown;
  absl::string_view header;   // the header that declares it, as in <...>
  absl::string_view package;  // the prefix of its headers' paths: "ATen/"; empty if not known
};

// Looks up a name with the namespaces that it is written with: "std::max".
KnownName LookUpKnown(absl::string_view path);
// The same for a text in a language of C, whose library has its header's names.
KnownName LookUpKnown(absl::string_view path, const dsl::Language& language);

// Returns CUDA's vector type that a name means: "float4" for float4 and make_float4; else nothing.
// CUDA has no operators for them, so sources bring their own.
absl::string_view FindVectorType(absl::string_view name);

// Returns whether a header belongs to a package of the table.
bool IsPackageHeader(absl::string_view path);

// Returns whether a header belongs to the package whose paths begin with `package`. Packages that
// are used together (ATen, c10 and torch; cutlass and cute) count as one.
bool IsHeaderOf(absl::string_view path, absl::string_view package);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_KNOWN_NAMES_H_
