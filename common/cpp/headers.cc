#include "common/cpp/headers.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::cpp {
namespace {

using absl::string_view;

string_view Extension(string_view path) {
  const size_t dot = path.rfind('.');
  return dot == string_view::npos ? string_view() : path.substr(dot + 1);
}

template <size_t n>
bool IsAmong(const string_view (&words)[n], string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

bool IsHeaderPath(string_view path) {
  static constexpr string_view kExtensions[] = {"cuh", "h", "hh", "hpp", "hxx", "inl", "inc"};
  return IsAmong(kExtensions, Extension(path));
}

bool IsCppPath(string_view path) {
  static constexpr string_view kExtensions[] = {"cu", "hip", "cc", "cpp", "cxx"};
  return IsAmong(kExtensions, Extension(path)) || IsHeaderPath(path);
}

std::string CanonicalHeader(string_view path) {
  static const auto& twins = *new absl::flat_hash_set<string_view>{
      "assert", "ctype",  "errno", "float",  "limits", "math", "signal",  "stdarg",
      "stddef", "stdint", "stdio", "stdlib", "string", "time", "inttypes"};
  string_view stem = path;
  if (absl::ConsumeSuffix(&stem, ".h") && twins.contains(stem)) return absl::StrCat("c", stem);
  if (path == "cuda_fp16.hpp") return "cuda_fp16.h";
  return std::string(path);
}

bool IsHipHeader(string_view path) { return absl::StartsWith(path, "hip/"); }

bool IsRuntimeHeader(string_view path) {
  return path == "cuda_runtime.h" || path == "cuda.h" || path == "cuda_runtime_api.h" ||
         path == "device_launch_parameters.h" || path == "hip/hip_runtime.h";
}

bool IsKnownHeader(string_view path) {
  static const auto& plain = *new absl::flat_hash_set<string_view>{"algorithm",
                                                                   "any",
                                                                   "array",
                                                                   "atomic",
                                                                   "bit",
                                                                   "bitset",
                                                                   "chrono",
                                                                   "climits",
                                                                   "cmath",
                                                                   "complex",
                                                                   "concepts",
                                                                   "condition_variable",
                                                                   "cfloat",
                                                                   "cassert",
                                                                   "cctype",
                                                                   "cerrno",
                                                                   "cinttypes",
                                                                   "cstdarg",
                                                                   "cstddef",
                                                                   "cstdint",
                                                                   "cstdio",
                                                                   "cstdlib",
                                                                   "cstring",
                                                                   "ctime",
                                                                   "deque",
                                                                   "exception",
                                                                   "filesystem",
                                                                   "fstream",
                                                                   "functional",
                                                                   "future",
                                                                   "initializer_list",
                                                                   "iomanip",
                                                                   "ios",
                                                                   "iosfwd",
                                                                   "iostream",
                                                                   "istream",
                                                                   "iterator",
                                                                   "limits",
                                                                   "list",
                                                                   "map",
                                                                   "memory",
                                                                   "mutex",
                                                                   "new",
                                                                   "numeric",
                                                                   "optional",
                                                                   "ostream",
                                                                   "queue",
                                                                   "random",
                                                                   "ranges",
                                                                   "ratio",
                                                                   "regex",
                                                                   "set",
                                                                   "shared_mutex",
                                                                   "span",
                                                                   "sstream",
                                                                   "stack",
                                                                   "stdexcept",
                                                                   "string",
                                                                   "string_view",
                                                                   "system_error",
                                                                   "thread",
                                                                   "tuple",
                                                                   "type_traits",
                                                                   "typeinfo",
                                                                   "typeindex",
                                                                   "unordered_map",
                                                                   "unordered_set",
                                                                   "utility",
                                                                   "valarray",
                                                                   "variant",
                                                                   "vector",
                                                                   "version",
                                                                   "mma.h",
                                                                   "math_constants.h",
                                                                   "math_functions.h",
                                                                   "vector_types.h",
                                                                   "vector_functions.h",
                                                                   "builtin_types.h",
                                                                   "cuComplex.h",
                                                                   "cublas_v2.h",
                                                                   "cublasLt.h",
                                                                   "nvrtc.h",
                                                                   "library_types.h",
                                                                   "driver_types.h",
                                                                   "sm_20_intrinsics.h",
                                                                   "sm_30_intrinsics.h",
                                                                   "sm_60_atomic_functions.h",
                                                                   "device_functions.h",
                                                                   "device_atomic_functions.h",
                                                                   "texture_fetch_functions.h",
                                                                   "cusparse.h",
                                                                   "cusolverDn.h",
                                                                   "cufft.h",
                                                                   "unistd.h",
                                                                   "malloc.h",
                                                                   "memory.h",
                                                                   "strings.h"};
  if (plain.contains(path) || IsRuntimeHeader(path)) return true;
  const std::string canonical = CanonicalHeader(path);
  if (canonical != path && plain.contains(canonical)) return true;
  for (const string_view prefix : {"cuda_", "curand", "cooperative_groups", "cuda/", "nv/", "crt/",
                                   "hip/", "nvtx", "cudaTypedefs", "sys/", "bits/"}) {
    if (absl::StartsWith(path, prefix)) return prefix != "cuda_" || absl::StrContains(path, ".h");
  }
  return false;
}

}  // namespace kernelmill::cpp
