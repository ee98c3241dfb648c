#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeGluon() {
  return {
      .name = "gluon",
      .title = "Gluon",
      .by_default = true,
      .makers = {{"triton.experimental.gluon", {"jit", "_runtime.jit"}}},
      .markers = {"gluon"},
      .hints = {"ttgl."},
      .decorator = "@gluon.jit",
      .compiles_as_triton = true,
  };
}

}  // namespace kernelmill::dsl
