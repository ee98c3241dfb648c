#ifndef KERNELMILL_SERVICES_COMPILER_CORE_TILELANG_TILELANG_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_TILELANG_TILELANG_TRIES_H_

#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/tries.h"

namespace kernelmill::compiler::tilelang {

// The values that a kernel of TileLang is made with: those of the function that makes it, and of
// the functions around that one, by name. A parameter with a default gets none. The rules:
//
//   guess:type   'float16', 'float32', 'bfloat16' by the try; 'float32' of sums
//   guess:flag   False, then True
//   guess:float  1.0
//   guess:int    as tilelang_tries.cc says by the parts of its name, else a size by the try
//
// Missing are "constexpr:x", of a type for which there is no rule, such as a tensor; "function".
// Deterministic. DEADLINE_EXCEEDED as Inference::Infer.
absl::StatusOr<Tries> MakeTilelangTries(const v1::Kernel& kernel);

}  // namespace kernelmill::compiler::tilelang

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_TILELANG_TILELANG_TRIES_H_
