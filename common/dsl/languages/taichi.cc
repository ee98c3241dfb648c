#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeTaichi() {
  return {
      .name = "taichi",
      .title = "Taichi",
      .makers = {{"taichi", {"kernel", "lang.kernel_impl.kernel"}, MakerRole::kKernel},
                 {"taichi",
                  {"func", "pyfunc", "real_func", "experimental.real_func", "lang.kernel_impl.func",
                   "lang.kernel_impl.pyfunc", "lang.kernel_impl.real_func"},
                  MakerRole::kDevice}},
      .markers = {"taichi"},
      .decorator = "@ti.kernel",
      .packages = {"taichi"},
      .installs_numpy = true,
      .runs_by_call = true,
  };
}

}  // namespace kernelmill::dsl
