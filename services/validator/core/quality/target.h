#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TARGET_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TARGET_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/validator/core/quality/kind.h"

namespace kernelmill::validator {

// Whose hardware a word of a path or a name speaks of: "ascend" and "npu", "gfx942", "sm80"; empty
// of others. "cuda" and "gpu" are none: Triton kernels for every GPU lie in folders of that name.
absl::string_view TargetOfWord(absl::string_view word);

// Whose hardware the kernel is written for. The first of these rules that names one target alone
// decides; the lists stand in target.cc.
//
//   rule           holds if
//   path:SEGMENT   the innermost folder, or the file, has a target's word: _ascend, amd, gfx950
//   name:NAME      the kernel's name has one: softplus_npu
//   call:NAME      it calls, or is made a kernel by, what only one target has:
//                  triton.language.extra.hip.*, triton.experimental.gluon.language.nvidia.*,
//                  jax.experimental.pallas.tpu.*, __builtin_amdgcn_*
//   import:NAME    its module imports a vendor's package: torch_npu; of CUDA and HIP, it includes
//                  one vendor's headers: hip/hip_fp16.h
//   asm:WORD       its inline assembly is PTX, or AMD's
//   file:NAME      its file imports what only one target has; of Gluon and Pallas
//   language:cuda  it is CUDA, and nothing says HIP: nvidia
//
// "generic", without a rule: nothing says so. `imports` is TargetOfImports of its file.
Label TargetOf(const v1::Kernel& kernel, const Label& imports);

// What the imports of a Python file say of its kernels: one target alone, or no word. Linear.
Label TargetOfImports(absl::string_view file);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_TARGET_H_
