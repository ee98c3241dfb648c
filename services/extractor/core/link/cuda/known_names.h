#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_KNOWN_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_KNOWN_NAMES_H_

#include "absl/strings/string_view.h"

namespace kernelmill::extractor::cuda {

// What is known of names and headers without the source: the compiler's, the standard library's,
// the CUDA toolkit's and HIP's; and those of packages.
//
//   what                                        counts as
//   keywords, threadIdx, __shfl_sync, __x       built in: no header
//   dim3, float4, atomicAdd, sinf, cudaError_t  built in: nvcc and hipcc include their runtime
//   half, __half2float, uint32_t, std::max ...  a header's: the table in the .cc says which
//   at::, c10::, torch::, cub::, thrust::,      a package's
//   cutlass::, cute::, AT_X, TORCH_X ...
struct KnownName {
  enum Kind { kUnknown, kBuiltIn, kHeader, kPackage };
  Kind kind = kUnknown;
  absl::string_view header;   // that declares it, as in <...>
  absl::string_view package;  // how its headers' paths begin: "ATen/"; empty: not known
};

// Of a name with the namespaces that it is written with: "std::max".
KnownName LookUpKnown(absl::string_view path);

// Whether a header's path is one of a package that the table has.
bool IsPackageHeader(absl::string_view path);

// Whether a header is a package's whose paths begin with `package`; of several spellings any.
bool IsHeaderOf(absl::string_view path, absl::string_view package);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_KNOWN_NAMES_H_
