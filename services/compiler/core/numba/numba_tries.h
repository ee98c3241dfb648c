#ifndef KERNELMILL_SERVICES_COMPILER_CORE_NUMBA_NUMBA_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_NUMBA_NUMBA_TRIES_H_

#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/tries.h"

namespace kernelmill::compiler::numba {

// The types that a kernel of Numba is compiled with, as Numba writes them: "float32[:, ::1]". The
// rules:
//
//   annotation    of a signature: @cuda.jit("void(float32[:], int32)"), cuda.jit(signature)(kernel).
//                 A signature that cannot be read, such as one that names a type of the module,
//                 gives a try without arguments: the module has them
//   arrays: what the kernel indexes, or whose members it reads; as many dimensions as it has
//   indices, else 1 or 2 by the try. Their elements:
//     launch:dtype, name:FRAGMENT, then guess:float: float32, float64, int32, int64 by the try
//   numbers: name:FRAGMENT, then guess:int: int64, float64 in later tries
//
// Missing is "function", or nothing. Deterministic. DEADLINE_EXCEEDED as Inference::Infer.
absl::StatusOr<Tries> MakeNumbaTries(const v1::Kernel& kernel);

}  // namespace kernelmill::compiler::numba

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_NUMBA_NUMBA_TRIES_H_
