#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeMetal() {
  return {
      .name = "metal",
      .title = "Metal",
      .syntax = code::Language::kC,
      .qualifiers = {.kernel = {"kernel"}, .device = {}},
      .endings = {".metal", ".h", ".hpp"},
      .markers = {"kernel void", "[[kernel", "[[ kernel", "metal_stdlib"},
      .target = "apple",
  };
}

}  // namespace kernelmill::dsl
