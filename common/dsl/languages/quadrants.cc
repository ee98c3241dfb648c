#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeQuadrants() {
  return {
      .name = "quadrants",
      .title = "Quadrants",
      .makers = {{"quadrants", {"kernel", "lang.kernel_impl.kernel"}, MakerRole::kKernel},
                 {"quadrants",
                  {"func", "real_func", "lang.kernel_impl.func", "lang.kernel_impl.real_func"},
                  MakerRole::kDevice}},
      .markers = {"quadrants"},
      .decorator = "@qd.kernel",
      .packages = {"quadrants"},
      .installs_numpy = true,
      .runs_by_call = true,
  };
}

}  // namespace kernelmill::dsl
