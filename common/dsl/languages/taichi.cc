#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeTaichi() {
  return {
      .name = "taichi",
      .title = "Taichi",
      .makers = {{"taichi", {"kernel"}, MakerRole::kKernel},
                 {"taichi", {"func"}, MakerRole::kDevice}},
      .markers = {"taichi"},
      .decorator = "@ti.kernel",
      .packages = {"taichi"},
  };
}

}  // namespace kernelmill::dsl
