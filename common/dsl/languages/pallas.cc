#include "common/dsl/language.h"

namespace kernelmill::dsl {
namespace {

const std::vector<absl::string_view>& MakerNames() {
  static const auto& names = *new std::vector<absl::string_view>{"pallas_call",
                                                                 "emit_pipeline",
                                                                 "emit_pipeline_with_allocations",
                                                                 "emit_pipeline_warp_specialized",
                                                                 "core_map",
                                                                 "kernel"};
  return names;
}

}  // namespace

// The makers are jax.experimental.pallas.pallas_call, jax.experimental.pallas.mosaic_gpu.kernel and
// the like. Names below `ops` are those of operations that use Pallas.
Language MakePallas() {
  return {
      .name = "pallas",
      .title = "Pallas",
      .by_default = true,
      .makers = {{.module = "jax.experimental.pallas",
                  .names = MakerNames(),
                  .in_submodules = true,
                  .but_not_below = "ops"},
                 {.module = "jax._src.pallas",
                  .names = MakerNames(),
                  .in_submodules = true,
                  .but_not_below = "ops"}},
      .markers = {"pallas", "emit_pipeline"},
      .hints = {"pltpu.", "plgpu.", "plsc.", "pl.kernel("},
  };
}

}  // namespace kernelmill::dsl
