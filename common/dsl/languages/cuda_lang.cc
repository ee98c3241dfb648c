#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeCudaLang() {
  return {
      .name = "cuda_lang",
      .title = "cuda.lang",
      .makers = {{"cuda.lang", {"kernel"}, MakerRole::kKernel},
                 {"cuda.lang", {"function"}, MakerRole::kDevice}},
      .markers = {"cuda.lang", "cuda import lang"},
      .decorator = "@cl.kernel",
      .packages = {"cuda.lang"},
      .target = "nvidia",
  };
}

}  // namespace kernelmill::dsl
