#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeCutile() {
  return {
      .name = "cutile",
      .title = "cuTile",
      .makers = {{"cuda.tile", {"kernel"}, MakerRole::kKernel},
                 {"cuda.tile", {"function"}, MakerRole::kDevice},
                 {"cuda.tile_experimental", {"kernel"}, MakerRole::kKernel},
                 {"cuda.tile_experimental", {"function"}, MakerRole::kDevice}},
      .markers = {"cuda.tile", "cuda import tile"},
      .decorator = "@ct.kernel",
      .packages = {"cuda.tile", "cuda.tile_experimental"},
      .target = "nvidia",
      .launchers = {"exhaustive_search"},
      .preparing_methods = {"replace_hints"},
  };
}

}  // namespace kernelmill::dsl
