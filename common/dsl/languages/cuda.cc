#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeCuda() {
  return {
      .name = "cuda",
      .title = "CUDA",
      .syntax = code::Language::kC,
      .by_default = true,
      .markers = {"__global__", "__device__"},
  };
}

}  // namespace kernelmill::dsl
