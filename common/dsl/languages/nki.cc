#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeNki() {
  return {
      .name = "nki",
      .title = "NKI",
      .makers = {{"neuronxcc.nki", {"jit", "trace", "baremetal", "benchmark", "profile"}},
                 {"nki", {"jit", "trace", "baremetal", "benchmark", "profile"}}},
      .markers = {"neuronxcc", "nki.jit", "import nki", "from nki"},
      .decorator = "@nki.jit",
      .packages = {"neuronxcc", "nki"},
      .installs_numpy = true,
      .target = "aws",
      .runs_by_call = true,
      .launchers = {"simulate_kernel"},
  };
}

}  // namespace kernelmill::dsl
