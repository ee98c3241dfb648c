#ifndef KERNELMILL_SERVICES_COMPILER_CORE_PALLAS_PALLAS_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_PALLAS_PALLAS_TRIES_H_

#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/tries.h"

namespace kernelmill::compiler::pallas {

// The arguments that the launcher of a Pallas kernel is started with. The compiler runs it up to
// the kernel's call, which has all else. A parameter with a default gets none. The rules:
//
//   launch:likely  the first values of a test's decorator: product(wait=[False, True])
//   arrays, "tensor<fp32[128, 128]>": by annotation, or what the launcher takes as one, or hands
//   on.
//     As many dimensions as code takes, else 2, 3, 4 or 1 by the try, of indices 1, all of one
//     size. Elements: name:FRAGMENT, guess:float: fp32, bf16 by the try
//   constants: guess:none of what may be None, guess:flag, name:FRAGMENT, guess:int, guess:float,
//     guess:type jnp.float32
//
// Missing are "constexpr:x", of a type for which there is no rule; "launcher", whose text is not
// known. Deterministic. DEADLINE_EXCEEDED as Inference::Infer.
absl::StatusOr<Tries> MakePallasTries(const v1::Kernel& kernel);

}  // namespace kernelmill::compiler::pallas

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_PALLAS_PALLAS_TRIES_H_
