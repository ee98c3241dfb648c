#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeCute() {
  return {
      .name = "cute",
      .title = "CuTe DSL",
      .makers =
          {{"cutlass.cute", {"kernel"}, MakerRole::kKernel},
           {"cutlass.cute", {"jit"}, MakerRole::kHostOrDevice},
           {"cutlass.cute.experimental", {"kernel"}, MakerRole::kKernel},
           {"cutlass.cute.experimental", {"jit"}, MakerRole::kHostOrDevice},
           {.module = "cute", .names = {"kernel"}, .role = MakerRole::kKernel, .as_written = true},
           {.module = "cute",
            .names = {"jit"},
            .role = MakerRole::kHostOrDevice,
            .as_written = true}},
      .markers = {"cutlass", "cute."},
      .decorator = "@cute.kernel",
      .packages = {"cutlass", "cuda.bindings"},
      .target = "nvidia",
  };
}

}  // namespace kernelmill::dsl
