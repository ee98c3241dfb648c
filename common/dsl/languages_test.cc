#include "common/dsl/languages.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::dsl {
namespace {

TEST(Languages, EachHasItsOwnNameAndMarkersThatTheFinderCanSee) {
  std::set<absl::string_view> names;
  for (const Language& language : Languages()) {
    EXPECT_TRUE(names.insert(language.name).second) << language.name;
    EXPECT_FALSE(language.markers.empty()) << language.name;
    for (const absl::string_view marker : language.markers) EXPECT_GE(marker.size(), 4u) << marker;
    EXPECT_TRUE(language.dsl == v1::DSL_CUDA || !language.makers.empty()) << language.name;
  }
}

TEST(Languages, EveryMakerIsItsLanguages) {
  for (const Language& language : Languages()) {
    for (const Makers& makers : language.makers) {
      for (const absl::string_view name : makers.names) {
        const std::string maker = absl::StrCat(makers.module, ".", name);
        EXPECT_EQ(FindMakerLanguage(maker), &language) << maker;
        EXPECT_EQ(FindMakerLanguage(absl::StrCat("x.", maker)), nullptr) << maker;
      }
    }
  }
}

TEST(Languages, GluonsJitIsNotTritons) {
  EXPECT_EQ(FindExtractedDsl("triton.jit"), v1::DSL_TRITON);
  EXPECT_EQ(FindExtractedDsl("triton.experimental.gluon.jit"), v1::DSL_GLUON);
  EXPECT_EQ(FindExtractedDsl("triton.language.load"), v1::DSL_UNSPECIFIED);
  EXPECT_EQ(FindExtractedDsl("triton"), v1::DSL_UNSPECIFIED);
  EXPECT_EQ(FindExtractedDsl("numba.cuda.jit"), v1::DSL_UNSPECIFIED);
}

TEST(Languages, ANameFromElsewhereSaysWhatItsLastWordSays) {
  const auto said = [](absl::string_view dotted) {
    const auto found = FindSaidName(dotted);
    if (!found) return std::string();
    return absl::StrCat(dotted.substr(0, found->module_bytes), " ",
                        dotted.substr(0, found->word_bytes), " ", found->resolved);
  };
  EXPECT_EQ(said("vllm.triton_utils.triton.jit"),
            "vllm.triton_utils vllm.triton_utils.triton triton.jit");
  EXPECT_EQ(said("a.layers.triton.tl.load"),
            "a.layers.triton a.layers.triton.tl triton.language.load");
  EXPECT_EQ(said("a.gluon.jit"), "a a.gluon triton.experimental.gluon.jit");
  EXPECT_EQ(said("a.ttgl"), "a a.ttgl triton.experimental.gluon.language");
  EXPECT_EQ(said("..triton"), ".. ..triton triton");
  EXPECT_EQ(said("..b.triton"), "..b ..b.triton triton");
  for (const char* nothing : {"", ".", "tl", "tl.load", "triton.jit", "a.triton.kernels.add",
                              "a.tlx", "jax.experimental.pallas.triton.load", "a.jit"}) {
    EXPECT_EQ(said(nothing), "") << nothing;
  }
}

TEST(Languages, PallasIsFoundInSubmodulesButNotAmongItsOperations) {
  EXPECT_EQ(FindExtractedDsl("jax.experimental.pallas.pallas_call"), v1::DSL_PALLAS);
  EXPECT_EQ(FindExtractedDsl("jax.experimental.pallas.mosaic_gpu.kernel"), v1::DSL_PALLAS);
  EXPECT_EQ(FindExtractedDsl("jax._src.pallas.core_map"), v1::DSL_PALLAS);
  EXPECT_EQ(FindExtractedDsl("jax.experimental.pallas.ops.tpu.kernel"), v1::DSL_UNSPECIFIED);
}

TEST(Languages, APipelineIsPallasWhateverModuleSaysIt) {
  EXPECT_EQ(FindExtractedDsl("jax.experimental.pallas.tpu.emit_pipeline"), v1::DSL_PALLAS);
  EXPECT_EQ(FindSaidDsl("x.pltpu.emit_pipeline"), v1::DSL_PALLAS);
  EXPECT_EQ(FindSaidDsl("x.pallas_call"), v1::DSL_PALLAS);
  EXPECT_EQ(FindSaidDsl("x.kernel"), v1::DSL_UNSPECIFIED);
  EXPECT_EQ(FindSaidDsl("x.triton.jit"), v1::DSL_TRITON);
  EXPECT_EQ(FindSaidDsl("x.jit"), v1::DSL_UNSPECIFIED);
}

TEST(Languages, AHintIsEnoughForAFileThatDoesNotNameTriton) {
  for (const char* text : {"from .c import jit, tl\n@jit\ndef k(p): tl.load(p)\n",
                           "from .c import kernel, tl\n@kernel\ndef k(p): tl.store(p, 1)\n"}) {
    EXPECT_TRUE(HasMarker(text)) << text;
    EXPECT_TRUE(MayHoldExtracted(text)) << text;
    EXPECT_FALSE(HasMarkerOf(v1::DSL_TRITON, text)) << text;
  }
  for (const char* text : {"util.load(x)\n", "jit = 1\n"}) EXPECT_FALSE(HasMarker(text)) << text;
}

TEST(Languages, CountedOnesHaveANameAndNoDsl) {
  EXPECT_EQ(FindCountedDsl("numba.cuda.jit"), "numba");
  EXPECT_EQ(FindCountedDsl("tilelang.language.prim_func"), "tilelang");
  EXPECT_EQ(FindCountedDsl("tvm.script.tir.prim_func"), "tvm");
  EXPECT_EQ(FindCountedDsl("triton.jit"), "");
  EXPECT_EQ(FindCountedDsl("numba.jit"), "");
}

TEST(Languages, OnlyThoseThatSaySoCompileAsTriton) {
  for (int value = 0; value < v1::Dsl_ARRAYSIZE; ++value) {
    const auto dsl = static_cast<v1::Dsl>(value);
    EXPECT_EQ(CompilesAsTriton(dsl), dsl == v1::DSL_TRITON || dsl == v1::DSL_GLUON) << value;
  }
  EXPECT_FALSE(CompilesAsTriton(static_cast<v1::Dsl>(99)));  // a language of a newer version
}

TEST(Languages, EveryExtractedOneHasAName) {
  EXPECT_EQ(DslName(v1::DSL_CUDA), "cuda");
  EXPECT_EQ(DslName(v1::DSL_PALLAS), "pallas");
  EXPECT_EQ(DslName(v1::DSL_UNSPECIFIED), "unknown");
  EXPECT_EQ(DslName(static_cast<v1::Dsl>(99)), "unknown");
}

TEST(Markers, AreSeenAtEveryPlace) {
  for (const Language& language : Languages()) {
    for (const absl::string_view marker : language.markers) {
      for (size_t before = 0; before < 9; ++before) {
        for (size_t after = 0; after < 3; ++after) {
          const std::string text =
              absl::StrCat(std::string(before, '#'), marker, std::string(after, '#'));
          EXPECT_TRUE(HasMarker(text)) << text;
        }
      }
    }
  }
  EXPECT_FALSE(HasMarker("import Triton, jax"));
  EXPECT_FALSE(HasMarker("trito"));
  EXPECT_FALSE(HasMarker(""));
}

TEST(Markers, AloneMakeNoKernel) {
  EXPECT_FALSE(MayHoldExtracted("import triton"));
  EXPECT_TRUE(MayHoldExtracted("import triton\n@triton.jit\n"));
  EXPECT_FALSE(MayHoldExtracted("import numba\n@numba.jit\n"));
  EXPECT_TRUE(MayHoldExtracted("from jax.experimental import pallas as pl\npl.pallas_call(f)"));
  EXPECT_TRUE(MayHoldExtracted("from jax.experimental import pallas as pl\ndef f(x_ref): pass"));
  EXPECT_FALSE(MayHoldCounted("import numba"));
  EXPECT_TRUE(MayHoldCounted("from numba import cuda\n@cuda.jit\n"));
  EXPECT_TRUE(HasMarkerOf(v1::DSL_CUDA, "__global__ void k();"));
  EXPECT_FALSE(HasMarkerOf(v1::DSL_CUDA, "import triton"));
}

}  // namespace
}  // namespace kernelmill::dsl
