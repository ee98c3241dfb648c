#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeCuda() {
  return {
      .name = "cuda",
      .title = "CUDA",
      .syntax = code::Language::kC,
      .by_default = true,
      // CUTLASS and CuTe, CK, CCCL, RAFT, PyTorch.
      .qualifiers = {.kernel = {"__global__", "CUTLASS_GLOBAL", "_CCCL_KERNEL_ATTRIBUTES",
                                "RAFT_KERNEL"},
                     .device = {"__device__", "CUTLASS_DEVICE", "CUTLASS_HOST_DEVICE",
                                "CUTE_DEVICE", "CUTE_HOST_DEVICE", "CK_TILE_DEVICE",
                                "CK_TILE_HOST_DEVICE", "_CCCL_DEVICE", "_CCCL_HOST_DEVICE",
                                "C10_DEVICE", "C10_HOST_DEVICE"}},
      .markers = {"__global__", "__device__", "CUTLASS_GLOBAL", "CUTLASS_DEVICE",
                  "CUTLASS_HOST_DEVICE", "CUTE_DEVICE", "CUTE_HOST_DEVICE", "CK_TILE_DEVICE",
                  "CK_TILE_HOST_DEVICE", "_CCCL_KERNEL_ATTRIBUTES", "_CCCL_DEVICE",
                  "_CCCL_HOST_DEVICE", "C10_DEVICE", "C10_HOST_DEVICE", "RAFT_KERNEL"},
      .hints = {"threadIdx", "blockIdx", "__shared__"},
  };
}

}  // namespace kernelmill::dsl
