#ifndef KERNELMILL_COMMON_CPP_HEADERS_H_
#define KERNELMILL_COMMON_CPP_HEADERS_H_

#include <string>

#include "absl/strings/string_view.h"

// What is known of files and headers of C++, CUDA and HIP by their paths.
namespace kernelmill::cpp {

// Whether a path's extension is one of C++'s, CUDA's or HIP's.
bool IsCppPath(absl::string_view path);

// Whether it is one of those that are mostly included.
bool IsHeaderPath(absl::string_view path);

// Whether a header, as #include names it, comes with the compiler, the standard library, the CUDA
// toolkit or HIP. CUB, Thrust and CUTLASS are packages like others.
bool IsKnownHeader(absl::string_view path);

// The name that all spellings of a known header share: "cstdint" of stdint.h and cstdint.
std::string CanonicalHeader(absl::string_view path);

// Whether it is one of HIP's.
bool IsHipHeader(absl::string_view path);

// Known headers that make a file one of CUDA or HIP, whatever it uses of them.
bool IsRuntimeHeader(absl::string_view path);

}  // namespace kernelmill::cpp

#endif  // KERNELMILL_COMMON_CPP_HEADERS_H_
