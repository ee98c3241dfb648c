#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeHelion() {
  return {
      .name = "helion",
      .title = "Helion",
      .makers = {{"helion", {"kernel", "jit"}, MakerRole::kKernel}},
      .markers = {"helion"},
      .decorator = "@helion.kernel",
      .packages = {"helion"},
      .runs_by_call = true,
  };
}

}  // namespace kernelmill::dsl
