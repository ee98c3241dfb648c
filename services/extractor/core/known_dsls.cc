#include "services/extractor/core/known_dsls.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "services/extractor/core/syntax/text_lines.h"

namespace kernelmill::extractor {
namespace {

bool IsTritonJit(absl::string_view resolved) {
  static constexpr absl::string_view kJit[] = {
      "triton.jit",
      "triton.runtime.jit",
      "triton.runtime.jit.jit",
      "triton.runtime.jit.JITFunction",
      "triton.experimental.gluon.jit",
      "triton.experimental.gluon._runtime.jit",
  };
  return std::find(std::begin(kJit), std::end(kJit), resolved) != std::end(kJit);
}

// jax.experimental.pallas.pallas_call, jax.experimental.pallas.mosaic_gpu.kernel and their like.
// What stands below ops uses Pallas: its names are those of operations.
bool IsPallasMaker(absl::string_view resolved) {
  if (!absl::ConsumePrefix(&resolved, "jax.experimental.pallas.") &&
      !absl::ConsumePrefix(&resolved, "jax._src.pallas.")) {
    return false;
  }
  if (absl::StartsWith(resolved, "ops.")) return false;
  const size_t dot = resolved.rfind('.');
  const absl::string_view last =
      dot == absl::string_view::npos ? resolved : resolved.substr(dot + 1);
  return last == "pallas_call" || last == "core_map" || last == "kernel";
}

// Names below `module` that make a function one of the DSL's.
struct OtherDsl {
  absl::string_view name;
  absl::string_view module;
  std::initializer_list<absl::string_view> makers;
};

const OtherDsl kOtherDsls[] = {
    {"cute", "cutlass.cute", {"jit", "kernel"}},
    {"cute", "cute", {"jit", "kernel"}},
    {"cutile", "cuda.tile", {"kernel", "function"}},
    {"flydsl", "flydsl.compiler", {"jit", "kernel"}},
    {"flydsl", "flyc", {"jit", "kernel"}},
    {"helion", "helion", {"kernel", "jit"}},
    {"nki", "neuronxcc.nki", {"jit"}},
    {"nki", "nki", {"jit"}},
    {"numba", "numba.cuda", {"jit"}},
    {"taichi", "taichi", {"kernel", "func"}},
    {"tilelang", "tilelang", {"jit", "lazy_jit", "language.prim_func", "language.macro"}},
    {"tilelang", "T", {"prim_func", "macro"}},
    {"tvm", "tvm.script.tir", {"prim_func", "macro"}},
    {"tvm", "tvm.script", {"tir.prim_func", "tir.macro"}},
    {"warp", "warp", {"kernel", "func"}},
};

}  // namespace

v1::Dsl DslThatMakes(absl::string_view resolved) {
  if (IsTritonJit(resolved)) {
    return absl::StartsWith(resolved, "triton.experimental.gluon.") ? v1::DSL_GLUON
                                                                    : v1::DSL_TRITON;
  }
  return IsPallasMaker(resolved) ? v1::DSL_PALLAS : v1::DSL_UNSPECIFIED;
}

absl::string_view OtherDslOf(absl::string_view resolved) {
  for (const OtherDsl& dsl : kOtherDsls) {
    absl::string_view rest = resolved;
    if (!absl::ConsumePrefix(&rest, dsl.module) || !absl::ConsumePrefix(&rest, ".")) continue;
    if (std::find(dsl.makers.begin(), dsl.makers.end(), rest) != dsl.makers.end()) return dsl.name;
  }
  return "";
}

bool MayUseOtherDsl(absl::string_view text) {
  static constexpr absl::string_view kWords[] = {"cute.",  "cutlass",  "cuda.tile", "flydsl",
                                                 "flyc",   "helion",   "nki.jit",   "numba",
                                                 "taichi", "tilelang", "prim_func", "import warp"};
  if (!Contains(text, "@")) return false;
  if (!Contains(text, "jit") && !Contains(text, "kernel") && !Contains(text, "func")) return false;
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](absl::string_view word) { return Contains(text, word); });
}

bool MayUseKnownDsl(absl::string_view text) {
  // A function counts by a name that ends in jit or JITFunction once it is resolved, or in one of
  // Pallas's.
  if ((Contains(text, "jit") || Contains(text, "JITFunction")) &&
      (Contains(text, "triton") || Contains(text, "gluon"))) {
    return true;
  }
  return Contains(text, "pallas") &&
         (Contains(text, "pallas_call") || Contains(text, "core_map") || Contains(text, "kernel"));
}

}  // namespace kernelmill::extractor
