#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeTvm() {
  return {
      .name = "tvm",
      .title = "TVM",
      .makers = {{"tvm.script.tir", {"prim_func"}, MakerRole::kKernel},
                 {"tvm.script.tir", {"macro"}, MakerRole::kDevice}},
      .markers = {"tvm.script", "tvm import script"},
      .decorator = "@T.prim_func",
      .packages = {"tvm"},
      .installs_numpy = true,
      .inner_are_parts = true,
  };
}

}  // namespace kernelmill::dsl
