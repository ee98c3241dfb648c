#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUTILE_TILE_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUTILE_TILE_TRIES_H_

#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/tries.h"

namespace kernelmill::compiler::cutile {

// The arguments that a kernel of cuTile may have. A parameter is a constant if its annotation says
// so (ct.Constant[int], or a name of the module for that), an array if the kernel, or a helper that
// gets it, takes it as one, and else a number. The rules are those of signature/rules.h, and:
//
//   constants: launch, default, launch:likely, name:FRAGMENT, then
//     guess:int     64, 16 in the last tries
//     guess:flag    False, then True: also an integer whose name is a flag's, as 0 and 1
//     guess:float   1.0
//   arrays, "array<fp16, 2>", with as many dimensions as the kernel takes indices. Their elements:
//     launch:dtype, name:FRAGMENT, then guess:float: fp16, fp32, bf16 by the try
//   numbers: launch:type, annotation, name:FRAGMENT, then guess:int: i32, fp32 in late tries
//
// Missing are "type:x", an array whose number of dimensions nothing tells; "constexpr:x", a
// constant of another type; "function". Deterministic. DEADLINE_EXCEEDED as Inference::Infer.
absl::StatusOr<Tries> MakeTileTries(const v1::Kernel& kernel);

}  // namespace kernelmill::compiler::cutile

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUTILE_TILE_TRIES_H_
