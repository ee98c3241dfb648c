#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeWarp() {
  return {
      .name = "warp",
      .title = "Warp",
      .makers =
          {{"warp", {"kernel"}, MakerRole::kKernel},
           {"warp", {"func"}, MakerRole::kDevice},
           {.module = "wp", .names = {"kernel"}, .role = MakerRole::kKernel, .as_written = true},
           {.module = "wp", .names = {"func"}, .role = MakerRole::kDevice, .as_written = true}},
      // "warp" is a word of half of all GPU code, so only its import is a marker.
      .markers = {"import warp", "from warp", "wp.kernel", "wp.func"},
      .decorator = "@wp.kernel",
      .packages = {"warp"},
      .installs_numpy = true,
  };
}

}  // namespace kernelmill::dsl
