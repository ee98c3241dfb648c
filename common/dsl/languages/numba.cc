#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeNumba() {
  return {
      .name = "numba",
      .title = "Numba CUDA",
      .makers = {{"numba.cuda", {"jit", "decorators.jit"}}, {"numba_cuda_mlir.cuda", {"jit"}}},
      // "from numba import cuda" has no dot, and code calls numba by any name.
      .markers = {"numba"},
      .decorator = "@cuda.jit",
      .packages = {"numba", "numba_cuda_mlir"},
      .installs_numpy = true,
      .target = "nvidia",
      .kernels_return_nothing = true,
  };
}

}  // namespace kernelmill::dsl
