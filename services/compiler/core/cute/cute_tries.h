#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUTE_CUTE_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUTE_CUTE_TRIES_H_

#include "absl/status/statusor.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/tries.h"

namespace kernelmill::compiler::cute {

// The arguments that a kernel of CuTe DSL is compiled with. A kernel takes layouts and copy atoms
// that only its launcher makes. So the first tries are arguments of the launcher, which the
// compiler starts: the option "entry" names it. Those of a method have arguments of its class's
// constructor as well, as "__init__.NAME". The last tries, with "kernel" for "entry", are the
// kernel's own arguments, if it takes tensors, numbers and constants alone. The rules:
//
//   numbers: annotation (Int32: "i32", a stream: "stream")
//   tensors, "tensor<fp16[?, ?]>", compact, the last mode innermost. A try has all sizes unknown or
//   all 128. As many modes as code takes indices, else 2, 3, 1 or 4 by the try. Their elements:
//     usage:compared  what code compares x.element_type with
//     name:FRAGMENT, guess:float: fp16, fp32, bf16 by the try
//   an optional tensor: guess:none, "none", in the first tries
//   pointers, "*fp16": as elements
//   constants: default, name:FRAGMENT, then guess:flag False, True; guess:int 64, 128;
//     guess:float 1.0; guess:type cutlass.Float16; guess:tuple (1, 1) for a cluster, (128, 128)
//
// Missing are "type:x" and "constexpr:x", for which no rule gives an argument; "launcher", which
// the kernel needs, and whose text is not known; "function". Deterministic. DEADLINE_EXCEEDED as
// Inference::Infer.
absl::StatusOr<Tries> MakeCuteTries(const v1::Kernel& kernel);

}  // namespace kernelmill::compiler::cute

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUTE_CUTE_TRIES_H_
