#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeNumba() {
  return {
      .name = "numba",
      .title = "Numba CUDA",
      .makers = {{"numba.cuda", {"jit", "decorators.jit"}}},
      // "from numba import cuda" has no dot, and code calls numba by any name.
      .markers = {"numba"},
      .decorator = "@cuda.jit",
      .packages = {"numba"},
      .installs_numpy = true,
      .target = "nvidia",
  };
}

}  // namespace kernelmill::dsl
