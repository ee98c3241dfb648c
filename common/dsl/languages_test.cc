#include "common/dsl/languages.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"

namespace kernelmill::dsl {
namespace {

TEST(Languages, EachHasItsOwnNameAndMarkersThatTheFinderCanSee) {
  std::set<absl::string_view> names;
  for (const Language& language : Languages()) {
    EXPECT_TRUE(names.insert(language.name).second) << language.name;
    EXPECT_FALSE(language.markers.empty()) << language.name;
    for (const absl::string_view marker : language.markers) EXPECT_GE(marker.size(), 4u) << marker;
    const bool is_c = language.syntax == code::Language::kC;
    EXPECT_EQ(language.makers.empty(), is_c) << language.name;
    const bool has_forms = !language.qualifiers.kernel.empty() || !language.takers.members.empty();
    EXPECT_EQ(has_forms, is_c) << language.name;
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
  EXPECT_EQ(FindMakerDsl("triton.jit"), kTriton);
  EXPECT_EQ(FindMakerDsl("triton.experimental.gluon.jit"), kGluon);
  EXPECT_EQ(FindMakerDsl("triton.language.load"), "");
  EXPECT_EQ(FindMakerDsl("triton"), "");
  EXPECT_EQ(FindMakerDsl("numba.jit"), "");
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
  EXPECT_EQ(FindMakerDsl("jax.experimental.pallas.pallas_call"), kPallas);
  EXPECT_EQ(FindMakerDsl("jax.experimental.pallas.mosaic_gpu.kernel"), kPallas);
  EXPECT_EQ(FindMakerDsl("jax._src.pallas.core_map"), kPallas);
  EXPECT_EQ(FindMakerDsl("jax.experimental.pallas.ops.tpu.kernel"), "");
}

TEST(Languages, APipelineIsPallasWhateverModuleSaysIt) {
  EXPECT_EQ(FindMakerDsl("jax.experimental.pallas.tpu.emit_pipeline"), kPallas);
  EXPECT_EQ(FindSaidDsl("x.pltpu.emit_pipeline"), kPallas);
  EXPECT_EQ(FindSaidDsl("x.pallas_call"), kPallas);
  EXPECT_EQ(FindSaidDsl("x.kernel"), "");
  EXPECT_EQ(FindSaidDsl("x.triton.jit"), kTriton);
  EXPECT_EQ(FindSaidDsl("x.jit"), "");
}

TEST(Languages, AHintIsEnoughForAFileThatDoesNotNameTriton) {
  for (const char* text : {"from .c import jit, tl\n@jit\ndef k(p): tl.load(p)\n",
                           "from .c import kernel, tl\n@kernel\ndef k(p): tl.store(p, 1)\n"}) {
    EXPECT_TRUE(HasMarker(text)) << text;
    EXPECT_TRUE(MayHoldKernels(text)) << text;
    EXPECT_FALSE(HasMarkerOf(kTriton, text)) << text;
  }
  for (const char* text : {"util.load(x)\n", "jit = 1\n"}) EXPECT_FALSE(HasMarker(text)) << text;
}

TEST(Languages, AMakerOfEveryLanguageIsKnown) {
  EXPECT_EQ(FindMakerDsl("numba.cuda.jit"), "numba");
  EXPECT_EQ(FindMakerDsl("tilelang.language.prim_func"), "tilelang");
  EXPECT_EQ(FindMakerDsl("tvm.script.tir.prim_func"), "tvm");
  EXPECT_EQ(FindMakers("cutlass.cute.kernel")->role, MakerRole::kKernel);
  EXPECT_EQ(FindMakers("cutlass.cute.jit")->role, MakerRole::kHostOrDevice);
  EXPECT_EQ(FindMakers("numba.jit"), nullptr);
}

TEST(Languages, AreSortedAndFoundByName) {
  for (const Language& language : Languages()) {
    EXPECT_EQ(FindLanguage(language.name), &language);
    EXPECT_EQ(GetName(GetNumber(language.name)), language.name);
    EXPECT_FALSE(language.title.empty()) << language.name;
  }
  EXPECT_EQ(FindLanguage("mojo"), nullptr);
  EXPECT_EQ(GetNumber("mojo"), 0);
  EXPECT_EQ(GetName(0), "");
  EXPECT_EQ(GetName(255), "");
}

TEST(Languages, OnlyThoseThatSaySoCompileAsTriton) {
  for (const Language& language : Languages()) {
    const bool says = language.name == kTriton || language.name == kGluon;
    EXPECT_EQ(CompilesAsTriton(language.name), says) << language.name;
  }
  EXPECT_FALSE(CompilesAsTriton("mojo"));  // a language of a newer version
}

TEST(Languages, ALanguageHasATitleASyntaxAndPackages) {
  EXPECT_EQ(GetTitle("cute"), "CuTe DSL");
  EXPECT_EQ(GetTitle("mojo"), "mojo");
  EXPECT_TRUE(IsC(kCuda));
  EXPECT_FALSE(IsC("cute"));
  EXPECT_FALSE(IsC(""));
  EXPECT_TRUE(ComesWith("cute", "cutlass.cute"));
  EXPECT_TRUE(ComesWith("cute", "cutlass"));
  EXPECT_FALSE(ComesWith("cute", "cutlasses"));
  EXPECT_FALSE(ComesWith(kTriton, "cutlass"));
  EXPECT_TRUE(ComesWith("warp", "numpy.typing"));
  EXPECT_FALSE(ComesWith("warp", "numpyro"));
  EXPECT_FALSE(ComesWith("cute", "numpy"));
}

TEST(LanguageSet, HoldsTheDefaultOnesOrThoseThatAreNamed) {
  const LanguageSet usual;
  for (const Language& language : Languages()) {
    const bool expected = language.name == kTriton || language.name == kGluon ||
                          language.name == kPallas || language.name == kCuda;
    EXPECT_EQ(usual.Has(language.name), expected) << language.name;
  }
  const auto named = LanguageSet::Make(std::vector<std::string>{"cute", "triton"});
  ASSERT_TRUE(named.ok());
  EXPECT_TRUE(named->Has("cute"));
  EXPECT_TRUE(named->Has("triton"));
  EXPECT_FALSE(named->Has("cuda"));
  EXPECT_TRUE(named->ComesWithOne("cutlass.utils"));
  EXPECT_FALSE(usual.ComesWithOne("cutlass.utils"));
  EXPECT_TRUE(LanguageSet::Make(std::vector<std::string>())->Has("gluon"));
  EXPECT_FALSE(LanguageSet::Make(std::vector<std::string>{"mojo"}).ok());
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
  const LanguageSet usual;
  const auto numba = LanguageSet::Make(std::vector<std::string>{"numba"});
  EXPECT_FALSE(MayHoldKernels("import triton"));
  EXPECT_TRUE(MayHoldKernels("import triton\n@triton.jit\n"));
  EXPECT_FALSE(usual.MayBeIn("import numba\n@numba.jit\n"));
  EXPECT_TRUE(MayHoldKernels("from jax.experimental import pallas as pl\npl.pallas_call(f)"));
  EXPECT_TRUE(MayHoldKernels("from jax.experimental import pallas as pl\ndef f(x_ref): pass"));
  EXPECT_FALSE(MayHoldKernels("import numba"));
  EXPECT_TRUE(MayHoldKernels("from numba import cuda\n@cuda.jit\n"));
  EXPECT_TRUE(numba->MayBeIn("from numba import cuda\n@cuda.jit\n"));
  EXPECT_FALSE(numba->MayBeIn("import triton\n@triton.jit\n"));
  EXPECT_TRUE(HasMarkerOfC("kernel void k();"));
  EXPECT_FALSE(HasMarkerOfC("import triton"));
  EXPECT_TRUE(HasMarkerOf(kCuda, "__global__ void k();"));
  EXPECT_FALSE(HasMarkerOf(kCuda, "import triton"));
}

TEST(Languages, AFileIsInTheLanguageOfItsCode) {
  EXPECT_EQ(FindCLanguage("a.cpp", "#include <sycl/sycl.hpp>").name, "sycl");
  EXPECT_EQ(FindCLanguage("a.cu", "#include <sycl/sycl.hpp>").name, "cuda");
  EXPECT_EQ(FindCLanguage("a.h", "/* __global__ */ using namespace sycl; // __device__").name,
            "sycl");
  EXPECT_EQ(FindCLanguage("a.h", "using namespace sycl; __device__ int f();").name, "cuda");
  EXPECT_EQ(FindLibraryLanguage("sycl/ext/intel/fpga_extensions.hpp")->name, "sycl");
  EXPECT_EQ(FindLibraryLanguage("vector"), nullptr);
}

TEST(CStrings, AreInTheLanguageOfTheirMarkers) {
  constexpr absl::string_view kFill = "kernel void f(uint i [[thread_position_in_grid]]) {}";
  EXPECT_EQ(FindCLanguage("a.py", kFill).name, "metal");
  EXPECT_EQ(FindCLanguage("a.py", "__global__ void f() {}").name, kCuda);
  EXPECT_EQ(FindCLanguage("a.py", "kernel void f(global int* x) {}").name, kCuda);
  EXPECT_TRUE(MayBeCString(kFill));
  EXPECT_TRUE(MayBeCString("__device__ int f();"));
  EXPECT_FALSE(MayBeCString("kernel void f(global int* x) {}"));
}

TEST(CStrings, ABodyNeedsItsMaker) {
  EXPECT_TRUE(MayHoldCStrings("k = mx.fast.metal_kernel(name='k')"));
  EXPECT_FALSE(MayHoldCStrings("k = mx.fast.layer_norm(x)"));
  EXPECT_TRUE(HasMarker("k = mx.fast.metal_kernel(name='k')"));
  EXPECT_EQ(FindBodyMaker("mlx.core.fast.metal_kernel")->head, "[[kernel]] void $");
  EXPECT_EQ(FindBodyMaker("cupy._core.ElementwiseKernel")->body.place, 2u);
  EXPECT_EQ(FindBodyMaker("other.metal_kernel"), nullptr);
}

}  // namespace
}  // namespace kernelmill::dsl
