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
      .body_makers = {{.package = "mlx",
                       .function = "cuda_kernel",
                       .name = {"name", 0},
                       .body = {"source", 3},
                       .preamble = {"header", 4},
                       .head = "__global__ void $",
                       .parameters = {{{"input_names", 1}, "const #* $", ""},
                                      {{"output_names", 2}, "#* $", ""}}},
                      {.package = "cupy",
                       .function = "ElementwiseKernel",
                       .name = {"name", 3},
                       .body = {"operation", 2},
                       .preamble = {"preamble", 5},
                       .head = "extern \"C\" __global__ void $",
                       .parameters = {{{"in_params", 0},
                                       "CArray<#> _raw_$",
                                       "const # &$ = _raw_$[_ind.get()];",
                                       "CArray<#> $"},
                                      {{"out_params", 1},
                                       "CArray<#> _raw_$",
                                       "# &$ = _raw_$[_ind.get()];",
                                       "CArray<#> $"}},
                       .last = "CIndexer<1> _ind",
                       .opening = "CUPY_FOR(i, _ind.size()) {\n_ind.set(i);",
                       .closing = "}"}},
      .hints = {"threadIdx", "blockIdx", "__shared__"},
  };
}

}  // namespace kernelmill::dsl
