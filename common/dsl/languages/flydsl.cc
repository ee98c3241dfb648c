#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeFlydsl() {
  return {
      .name = "flydsl",
      .title = "FlyDSL",
      .makers =
          {{"flydsl.compiler", {"kernel"}, MakerRole::kKernel},
           {"flydsl.compiler", {"jit"}, MakerRole::kHostOrDevice},
           {.module = "flyc", .names = {"kernel"}, .role = MakerRole::kKernel, .as_written = true},
           {.module = "flyc",
            .names = {"jit"},
            .role = MakerRole::kHostOrDevice,
            .as_written = true}},
      .markers = {"flydsl", "flyc"},
      .decorator = "@flyc.kernel",
      .packages = {"flydsl"},
      .target = "amd",
  };
}

}  // namespace kernelmill::dsl
