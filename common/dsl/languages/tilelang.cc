#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeTilelang() {
  return {
      .name = "tilelang",
      .title = "TileLang",
      // Each backend has a `language` of its own: tilelang.rocm.language.prim_func.
      .makers =
          {{"tilelang", {"jit", "lazy_jit", "jit.jit", "jit.lazy_jit"}, MakerRole::kKernel},
           {.module = "tilelang",
            .names = {"prim_func"},
            .role = MakerRole::kKernel,
            .in_submodules = true},
           {.module = "tilelang",
            .names = {"macro"},
            .role = MakerRole::kDevice,
            .in_submodules = true},
           {.module = "T", .names = {"prim_func"}, .role = MakerRole::kKernel, .as_written = true},
           {.module = "T", .names = {"macro"}, .role = MakerRole::kDevice, .as_written = true}},
      .markers = {"tilelang", "prim_func", "T.macro"},
      .decorator = "@tilelang.jit",
      .packages = {"tilelang", "tvm"},
      .installs_numpy = true,
      .runs_by_call = true,
      .preparing_methods = {"compile"},
      .running_methods = {"get_profiler"},
      .inner_are_parts = true,
  };
}

}  // namespace kernelmill::dsl
