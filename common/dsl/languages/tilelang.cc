#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeTilelang() {
  return {
      .name = "tilelang",
      .title = "TileLang",
      .makers =
          {{"tilelang", {"jit", "lazy_jit", "language.prim_func"}, MakerRole::kKernel},
           {"tilelang", {"language.macro"}, MakerRole::kDevice},
           {.module = "T", .names = {"prim_func"}, .role = MakerRole::kKernel, .as_written = true},
           {.module = "T", .names = {"macro"}, .role = MakerRole::kDevice, .as_written = true}},
      .markers = {"tilelang", "prim_func", "T.macro"},
      .decorator = "@tilelang.jit",
      .packages = {"tilelang", "tvm"},
      .inner_are_parts = true,
  };
}

}  // namespace kernelmill::dsl
