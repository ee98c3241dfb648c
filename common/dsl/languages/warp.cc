#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeWarp() {
  return {
      .name = "warp",
      .title = "Warp",
      .makers = {{"warp", {"kernel"}, MakerRole::kKernel}, {"warp", {"func"}, MakerRole::kDevice}},
      // "warp" is a word of half of all GPU code, so only its import is a marker.
      .markers = {"import warp", "from warp"},
      .decorator = "@wp.kernel",
      .packages = {"warp"},
  };
}

}  // namespace kernelmill::dsl
