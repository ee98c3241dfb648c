#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeWarp() {
  return {
      .name = "warp",
      .title = "Warp",
      .makers =
          {{"warp", {"kernel", "fem.cache.dynamic_kernel"}, MakerRole::kKernel},
           {"warp",
            {"func", "func_native", "func_grad", "func_replay", "fem.integrand",
             "fem.cache.dynamic_func"},
            MakerRole::kDevice},
           // Its public modules import these.
           {"warp._src", {"fem.cache.dynamic_kernel"}, MakerRole::kKernel},
           {"warp._src", {"fem.cache.dynamic_func", "fem.operator.integrand"}, MakerRole::kDevice},
           {.module = "wp", .names = {"kernel"}, .role = MakerRole::kKernel, .as_written = true},
           {.module = "wp",
            .names = {"func", "func_native", "func_grad", "func_replay"},
            .role = MakerRole::kDevice,
            .as_written = true}},
      // "warp" is a word of half of all GPU code, so only its import is a marker.
      .markers = {"import warp", "from warp", "wp.kernel", "wp.func"},
      .decorator = "@wp.kernel",
      .packages = {"warp"},
      .installs_numpy = true,
  };
}

}  // namespace kernelmill::dsl
