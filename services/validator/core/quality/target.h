#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TARGET_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TARGET_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/validator/core/quality/kind.h"

namespace kernelmill::validator {

// Returns the vendor that a word of a path or a name means: "ascend" and "npu", "gfx942", "sm80";
// empty for other words. "cuda" and "gpu" mean no vendor, since Triton kernels for every GPU are in
// folders of that name.
absl::string_view TargetOfWord(absl::string_view word);

// Finds the vendor whose hardware the kernel is written for. The first rule that gives exactly one
// target decides; the lists are in target.cc.
//
//   rule           holds if
//   path:SEGMENT   the innermost folder, or the file, has a target's word: _ascend, amd, gfx950;
//                  "other": it is the folder of another vendor, backend/_VENDOR/
//   name:NAME      the kernel's name has one: softplus_npu
//   call:NAME      it calls, or is made a kernel by, something that only one target has:
//                  triton.language.extra.hip.*, triton.experimental.gluon.language.nvidia.*,
//                  jax.experimental.pallas.tpu.*, __builtin_amdgcn_*
//   import:NAME    its module imports a vendor's package: torch_npu; for CUDA and HIP, it includes
//                  one vendor's headers: hip/hip_fp16.h
//   asm:WORD       its inline assembly is PTX, or AMD's
//   file:NAME      its file imports something that only one target has; Gluon and Pallas only
//   language:cuda  it is CUDA without a sign of HIP: nvidia
//
// "generic", without a rule, if no rule holds. `imports` is TargetOfImports of its file.
Label FindTarget(const v1::Kernel& kernel, const Label& imports);

// Returns the one target that the imports of a Python file mean; an empty word if they mean none or
// several. Linear.
Label TargetOfImports(absl::string_view file);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TARGET_H_
