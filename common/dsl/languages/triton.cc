#include "common/dsl/language.h"
#include "common/dsl/languages.h"

namespace kernelmill::dsl {

Language MakeTriton() {
  return {
      .name = "triton",
      .title = "Triton",
      .by_default = true,
      .makers = {{"triton",
                  {"jit", "runtime.jit", "runtime.jit.jit", "runtime.jit.JITFunction",
                   "runtime.JITFunction", "JITFunction"}},
                 {"triton_dist", {"jit"}}},
      .markers = {"triton"},
      .template_markers = {kTemplateClass, kTemplateHook},
      .hints = {"tl.load", "tl.store", "tl.program_id", "tl.constexpr", "tl.arange", "@jit",
                "_jit"},
      .decorator = "@triton.jit",
      .compiles_as_triton = true,
  };
}

}  // namespace kernelmill::dsl
