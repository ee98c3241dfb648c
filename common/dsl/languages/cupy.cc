#include "common/dsl/language.h"

namespace kernelmill::dsl {

// Functions of Python. CuPy's kernels in strings are CUDA.
Language MakeCupy() {
  return {
      .name = "cupy",
      .title = "CuPy JIT",
      .makers = {{"cupyx.jit", {"rawkernel"}}},
      .markers = {"cupyx.jit", "cupyx import jit", "rawkernel"},
      .decorator = "@jit.rawkernel",
      .packages = {"cupy", "cupyx"},
      .installs_numpy = true,
      .target = "nvidia",
      // k((grid,), (block,), arguments), beside k[grid, block](*arguments).
      .runs_by_call = true,
      .kernels_return_nothing = true,
  };
}

}  // namespace kernelmill::dsl
