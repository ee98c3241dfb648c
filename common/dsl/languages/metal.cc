#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeMetal() {
  return {
      .name = "metal",
      .title = "Metal",
      .syntax = code::Language::kC,
      .qualifiers = {.kernel = {"kernel"}, .device = {}},
      .endings = {".metal", ".h", ".hpp"},
      .markers = {"kernel void", "[[kernel", "[[ kernel", "metal_stdlib"},
      // "kernel void" alone may be OpenCL.
      .string_markers = {"[[kernel", "[[ kernel", "metal_stdlib", "[[thread_position",
                         "[[threadgroup_position", "[[buffer("},
      // MLX also hands on shapes and strides that the body names.
      .body_makers = {{.package = "mlx",
                       .function = "metal_kernel",
                       .name = {"name", 0},
                       .body = {"source", 3},
                       .preamble = {"header", 4},
                       .head = "[[kernel]] void $",
                       .parameters = {{{"input_names", 1}, "const device #* $", ""},
                                      {{"output_names", 2}, "device #* $", ""}},
                       .implied = {"uint dispatch_quadgroups_per_threadgroup",
                                   "uint dispatch_simdgroups_per_threadgroup",
                                   "uint3 dispatch_threads_per_threadgroup",
                                   "uint3 grid_origin",
                                   "uint3 grid_size",
                                   "uint quadgroup_index_in_threadgroup",
                                   "uint quadgroups_per_threadgroup",
                                   "uint simdgroup_index_in_threadgroup",
                                   "uint simdgroups_per_threadgroup",
                                   "uint thread_execution_width",
                                   "uint thread_index_in_quadgroup",
                                   "uint thread_index_in_simdgroup",
                                   "uint thread_index_in_threadgroup",
                                   "uint3 thread_position_in_grid",
                                   "uint3 thread_position_in_threadgroup",
                                   "uint3 threadgroup_position_in_grid",
                                   "uint3 threadgroups_per_grid",
                                   "uint3 threads_per_grid",
                                   "uint threads_per_simdgroup",
                                   "uint3 threads_per_threadgroup"}}},
      .target = "apple",
  };
}

}  // namespace kernelmill::dsl
