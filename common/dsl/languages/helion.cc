#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeHelion() {
  return {
      .name = "helion",
      .title = "Helion",
      .makers = {{"helion",
                  {"kernel", "jit", "aot_kernel", "experimental.aot_kernel"},
                  MakerRole::kKernel}},
      .markers = {"helion"},
      .decorator = "@helion.kernel",
      .packages = {"helion"},
      .runs_by_call = true,
  };
}

}  // namespace kernelmill::dsl
