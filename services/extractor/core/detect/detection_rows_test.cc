// One test for each row of the reference on what Triton kernels look like in real code (the row's
// words are above it), and for those of the reference on faults that are about source files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string GetRole(const v1::KernelShard& shard, const std::string& name) {
  for (const v1::Kernel& kernel : shard.kernels()) {
    if (kernel.name() == name) return v1::KernelRole_Name(kernel.role()).substr(12);
  }
  return "not found";
}

// `@triton.jit`, `@triton.jit(do_not_specialize=...)` | everywhere
TEST(DetectionRowsTest, JitBareAndCalled) {
  EXPECT_THAT(Forms(Extract("import triton\n"
                            "@triton.jit\ndef a(): pass\n"
                            "@triton.jit(do_not_specialize=['n'])\ndef b(n): pass\n")),
              ElementsAre("a DECORATED TRITON triton.jit", "b DECORATED TRITON triton.jit"));
}

// `@jit` with `from triton import jit`; `import triton as tr`
TEST(DetectionRowsTest, JitUnderOtherNames) {
  EXPECT_THAT(Forms(Extract("from triton import jit\nimport triton as tr\n"
                            "@jit\ndef a(): pass\n@tr.jit\ndef b(): pass\n")),
              ElementsAre("a DECORATED TRITON triton.jit", "b DECORATED TRITON triton.jit"));
}

// stacks of `@triton.autotune`, `@triton.heuristics`, and repository-own `@triton_autotune`,
// `@fla_cache_autotune`, `@libentry()`, `@libtuner(...)`, `@maybe_autotune`
TEST(DetectionRowsTest, StacksOfDecorators) {
  EXPECT_THAT(Places(Extract("import triton\n"
                             "@libentry()\n@libtuner(configs=[], key=[])\n@maybe_autotune\n"
                             "@triton_autotune(configs=[])\n@fla_cache_autotune(key=['n'])\n"
                             "@triton.autotune(configs=[], key=[])\n@triton.heuristics({})\n"
                             "@triton.jit\ndef a(): pass\n"
                             "@libentry()\n@triton_autotune(configs=[])\ndef host(): pass\n")),
              ElementsAre("a 2-10"));
}

// `@pointwise_dynamic(...)` over a jit function without program_id or store
TEST(DetectionRowsTest, PointwiseDynamicOverAJitFunction) {
  const v1::KernelShard shard = Extract(
      "import triton\nfrom flag_gems.utils import pointwise_dynamic\n"
      "@pointwise_dynamic(promotion_methods=[(0, 'DEFAULT')])\n"
      "@triton.jit\ndef gelu(x):\n    return x\n");
  EXPECT_THAT(Forms(shard), ElementsAre("gelu DECORATED TRITON triton.jit"));
  EXPECT_EQ(GetRole(shard, "gelu"), "DEVICE");
}

// `@gluon.jit`, `@gluon.constexpr_function`, `@constexpr_function`, `@tl.core._aggregate`, methods
TEST(DetectionRowsTest, GluonAndItsMethods) {
  EXPECT_THAT(Forms(Extract("from triton.experimental import gluon\n"
                            "from triton.experimental.gluon import jit\n"
                            "import triton.language as tl\n"
                            "@gluon.constexpr_function\ndef host(x): return x\n"
                            "@constexpr_function\ndef host2(x): return x\n"
                            "@tl.core._aggregate\n"
                            "class Config:\n"
                            "    @gluon.constexpr_function\n"
                            "    def __init__(self): pass\n"
                            "    @gluon.jit\n"
                            "    def load(self): pass\n"
                            "@jit\ndef k(): pass\n")),
              ElementsAre("Config.load DECORATED GLUON triton.experimental.gluon.jit",
                          "k DECORATED GLUON triton.experimental.gluon.jit"));
}

// call form `f = triton.jit(f)`, `triton.heuristics(...)(triton.jit(f))`
TEST(DetectionRowsTest, CallForms) {
  const v1::KernelShard shard = Extract(
      "import triton, triton.language as tl\n"
      "def _forward(x):\n    tl.store(x, 1)\n"
      "_forward = triton.jit(_forward)\n"
      "_forward = triton.heuristics({'A': 1})(_forward)\n"
      "def _backward(x):\n    tl.load(x)\n"
      "backward = triton.heuristics({\n    'A': 1})(triton.jit(_backward))\n"
      "class C:\n"
      "    def m(x): pass\n"
      "    m = staticmethod(triton.jit(fn=m, debug=True))\n"
      "def host(): triton.jit(unknown); other(host); backward[1](2)\n");
  EXPECT_THAT(Forms(shard),
              ElementsAre("_forward CALLED TRITON triton.jit", "_backward CALLED TRITON triton.jit",
                          "C.m CALLED TRITON triton.jit"));
  EXPECT_THAT(Places(shard), ElementsAre("_forward 2-3", "_backward 6-7", "C.m 11-11"));
  EXPECT_EQ(shard.kernels(0).source(), "def _forward(x):\n    tl.store(x, 1)\n");
  EXPECT_EQ(shard.kernels(0).applied_by(), "_forward = triton.jit(_forward)");
  EXPECT_EQ(shard.kernels(1).applied_by(),
            "backward = triton.heuristics({\n    'A': 1})(triton.jit(_backward))");
  EXPECT_EQ(GetRole(shard, "_backward"), "KERNEL");  // launched as backward
}

TEST(DetectionRowsTest, CallFormsFollowScopesAndSpareParameters) {
  EXPECT_THAT(Places(Extract("import triton\n"
                             "def f(): pass\n"
                             "def use(f): return triton.jit(f)\n"
                             "def make():\n"
                             "    def g(): pass\n"
                             "    return triton.jit(g)\n"
                             "triton.jit(g)\n"
                             "if a:\n    def h(): pass\nelse:\n    def h(): pass\n"
                             "h = triton.jit(h)\n"
                             "def i(): pass\n"
                             "i = triton.jit(i)\n"
                             "def i(): pass\n")),
              ElementsAre("make.g 5-5", "h 9-9", "h 11-11", "i 13-13"));
}

// `@triton_heuristics.pointwise(...)` + `@triton.jit` in generated code
TEST(DetectionRowsTest, InductorHeuristics) {
  const v1::KernelShard shard = Extract(
      "import triton\nfrom torch._inductor.runtime import triton_heuristics\n"
      "@triton_heuristics.pointwise(size_hints=[8])\n@triton.jit\ndef k(): pass\n");
  EXPECT_THAT(Forms(shard), ElementsAre("k DECORATED TRITON triton.jit"));
  EXPECT_TRUE(shard.kernels(0).has_inductor());
}

// `async_compile.triton('name', '''...''')`: source in a string of `output_code.py`
TEST(DetectionRowsTest, AsyncCompileStrings) {
  EXPECT_THAT(Forms(Extract("k = async_compile.triton('k', '''\n"
                            "import triton\n@triton.jit\ndef k(): pass\n''')\n")),
              ElementsAre("k STRING TRITON triton.jit"));
}

// TritonTemplate source in a string, `{{def_kernel("A","B")}}`, no decorator; `.py.jinja` files
TEST(DetectionRowsTest, TemplatesAreKeptApart) {
  const v1::KernelShard shard = Extract(
      "from torch._inductor.select_algorithm import TritonTemplate\n"
      "mm_template = TritonTemplate(\n"
      "    name=\"mm\",\n"
      "    grid=mm_grid,\n"
      "    source=r\"\"\"\n"
      "{{def_kernel(\"A\", \"B\")}}\n"
      "    pid = tl.program_id(0)\n"
      "\"\"\",\n"
      ")\n");
  EXPECT_THAT(Forms(shard),
              ElementsAre("mm TEMPLATE TRITON torch._inductor.select_algorithm.TritonTemplate"));
  EXPECT_THAT(Places(shard), ElementsAre("mm 5-8"));
  EXPECT_EQ(
      shard.kernels(0).source(),
      "    source=r\"\"\"\n{{def_kernel(\"A\", \"B\")}}\n    pid = tl.program_id(0)\n\"\"\",\n");
  EXPECT_EQ(shard.kernels(0).role(), v1::KERNEL_ROLE_UNSPECIFIED);
  EXPECT_EQ(shard.files(0).kernels(), 1);
  EXPECT_THAT(Forms(Extract("SOURCE = r'''\n    tl.load(x)\n'''\n"
                            "u = TritonTemplate('u', grid, source=SOURCE)\n"
                            "v = TritonTemplate('v', grid, load('v'))\n"
                            "w = TritonTemplate('w', grid, SOURCE)\n")),
              ElementsAre("u TEMPLATE TRITON TritonTemplate"));
}

TEST(DetectionRowsTest, JinjaFilesAreTemplates) {
  const v1::KernelShard shard =
      ExtractAndLink({{"t/mm.py.jinja", "{{def_kernel('A')}}\n    tl.load(A)\n"},
                      {"t/page.html.jinja", "<p>{{ text }}</p>\n"}});
  EXPECT_THAT(Forms(shard), ElementsAre("mm TEMPLATE TRITON jinja"));
  EXPECT_THAT(Places(shard), ElementsAre("mm 1-2"));
}

// kernels emitted line by line, or in template strings: label, do not invent
TEST(DetectionRowsTest, EmittedKernelsAreLabelled) {
  const v1::KernelShard shard = Extract(
      "import triton\n"
      "def generate(code):\n"
      "    '''Writes\n\n    @triton.jit\n    def k(): pass\n    '''\n"
      "    code.writeline('@triton.jit')\n"
      "    code.writeline(f'def {name}(x):')\n"
      "    return f'''\n@triton.jit\ndef {name}(x): pass\n'''\n"
      "log('see @triton.jit')\n");
  EXPECT_THAT(shard.kernels(), IsEmpty());
  ASSERT_EQ(shard.files(0).skipped_strings_size(), 2);
  EXPECT_EQ(shard.files(0).skipped_strings(0).line(), 8);
  EXPECT_EQ(shard.files(0).skipped_strings(1).line(), 10);
  EXPECT_EQ(shard.files(0).skipped_strings(1).reason(), "emitted");
}

// the same name twice in if/else; the same name in many files: key by path and line, never by name
TEST(DetectionRowsTest, OneNameManyTimes) {
  const std::string text =
      "import triton\nif a:\n    @triton.jit\n    def k(): pass\n"
      "else:\n    @triton.jit\n    def k(): pass\n";
  EXPECT_THAT(Places(ExtractAndLink({{"a.py", text}, {"b.py", text}})),
              ElementsAre("k 3-4", "k 6-7", "k 3-4", "k 6-7"));
}

// device function imported from another file; module constant used inside
TEST(DetectionRowsTest, DeviceFunctionsAndConstantsFromOutside) {
  const v1::KernelShard shard = Extract(
      "import triton\nimport triton.language as tl\nfrom .act import gelu\nSCALE = 2\n"
      "@triton.jit\ndef k(x):\n    tl.store(x, gelu(x) * SCALE)\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_THAT(shard.kernels(0).calls(), ElementsAre("gelu", "triton.language.store"));
  EXPECT_THAT(shard.kernels(0).free_names(), ElementsAre("SCALE", "gelu", "tl", "triton"));
}

// 38 % have no `program_id` (device helpers: never reject them for that)
TEST(DetectionRowsTest, RolesSayWhatIsLaunchedAndWhatIsCalled) {
  const v1::KernelShard shard = Extract(
      "import triton\nimport triton.language as tl\n"
      "@triton.jit\ndef launched(x):\n    return write(x)\n"
      "@triton.jit\ndef write(x):\n    tl.store(x, helper(x))\n"
      "@triton.jit\ndef helper(x):\n    return helper(x)\n"
      "@triton.jit\ndef alone(x):\n    tl.program_id(0)\n"
      "launched[(1,)](x)\n");
  EXPECT_EQ(GetRole(shard, "launched"), "KERNEL");
  EXPECT_EQ(GetRole(shard, "write"), "DEVICE");  // although it stores
  EXPECT_EQ(GetRole(shard, "helper"), "DEVICE");
  EXPECT_EQ(GetRole(shard, "alone"), "KERNEL");
}

// NKI: a kernel is called as any function is, and returns its result
TEST(DetectionRowsTest, AFunctionOfALanguageThatRunsByCallIsAKernelUnlessAnotherCallsIt) {
  const v1::KernelShard shard = Extract(
      "from neuronxcc import nki\n"
      "@nki.jit\ndef alone(x):\n    return x\n"
      "@nki.jit\ndef outer(x):\n    return inner(x)\n"
      "@nki.jit\ndef inner(x):\n    return x\n",
      {"nki"});
  EXPECT_EQ(GetRole(shard, "alone"), "KERNEL");
  EXPECT_EQ(GetRole(shard, "outer"), "KERNEL");
  EXPECT_EQ(GetRole(shard, "inner"), "DEVICE");
}

// Pallas: undecorated functions passed to `pl.pallas_call` / `plgpu.kernel`, nested `@pl.when`
TEST(DetectionRowsTest, PallasFunctionsThatAreArguments) {
  const v1::KernelShard shard = Extract(
      "from jax.experimental import pallas as pl\n"
      "from jax.experimental.pallas import mosaic_gpu as plgpu\n"
      "import functools\n"
      "def add(x_ref, o_ref):\n"
      "    @pl.when(pl.program_id(0) == 0)\n"
      "    def _():\n"
      "        o_ref[...] = x_ref[...]\n"
      "def scaled(x_ref, o_ref, *, scale): pass\n"
      "def named(x_ref, o_ref): pass\n"
      "def on_gpu(x_ref): pass\n"
      "def host(x): pass\n"
      "def run(x, host):\n"
      "    body = functools.partial(named)\n"
      "    pl.pallas_call(functools.partial(scaled, scale=2), out_shape=x)(x)\n"
      "    pl.pallas_call(body, out_shape=x)(x)\n"
      "    plgpu.kernel(on_gpu, out_shape=x)(x)\n"
      "    pl.pallas_call(host)(x)\n"
      "    return pl.pallas_call(add, out_shape=x)(x)\n"
      "@functools.partial(pl.pallas_call, out_shape=y)\n"
      "def decorated(x_ref): pass\n"
      "@pl.core_map(mesh)\n"
      "def mapped(): pass\n");
  EXPECT_THAT(Forms(shard),
              ElementsAre("add KERNEL_ARGUMENT PALLAS jax.experimental.pallas.pallas_call",
                          "scaled KERNEL_ARGUMENT PALLAS jax.experimental.pallas.pallas_call",
                          "named KERNEL_ARGUMENT PALLAS jax.experimental.pallas.pallas_call",
                          "on_gpu KERNEL_ARGUMENT PALLAS jax.experimental.pallas.mosaic_gpu.kernel",
                          "decorated WRAPPED PALLAS jax.experimental.pallas.pallas_call",
                          "mapped DECORATED PALLAS jax.experimental.pallas.core_map"));
  EXPECT_EQ(shard.kernels(0).applied_by(), "return pl.pallas_call(add, out_shape=x)(x)");
  EXPECT_EQ(GetRole(shard, "add"), "KERNEL");
}

// languages that a source asks for: what is within a function of TileLang is a part of it
TEST(DetectionRowsTest, OtherLanguagesAreExtractedIfTheyAreWanted) {
  const v1::KernelShard shard = Extract(
      "import cutlass.cute as cute\nimport triton\nimport tilelang\nimport tilelang.language as T\n"
      "from numba import cuda\n"
      "class A:\n    @cute.jit\n    def run(self): self.k().launch(grid=1)\n"
      "    @cute.kernel\n    def k(self): help()\n"
      "@cute.jit\ndef help(): pass\n"
      "@tilelang.jit(out_idx=[-1])\ndef c():\n    @T.prim_func\n    def main(): pass\n    return "
      "main\n"
      "@T.macro\ndef m(): pass\n"
      "@triton.jit\ndef t(): pass\n"
      "@cuda.jit\ndef n(): pass\n",
      {"cute", "tilelang"});
  EXPECT_THAT(
      Forms(shard),
      ElementsAre("A.run DECORATED CUTE cutlass.cute.jit", "A.k DECORATED CUTE cutlass.cute.kernel",
                  "help DECORATED CUTE cutlass.cute.jit", "c DECORATED TILELANG tilelang.jit",
                  "m DECORATED TILELANG tilelang.language.macro"));
  EXPECT_EQ(GetRole(shard, "run"), "HOST");
  EXPECT_EQ(GetRole(shard, "k"), "KERNEL");
  EXPECT_EQ(GetRole(shard, "help"), "DEVICE");
  EXPECT_EQ(GetRole(shard, "c"), "KERNEL");
  EXPECT_EQ(GetRole(shard, "m"), "DEVICE");
  EXPECT_EQ(shard.files(0).kernels(), 5);
  ASSERT_EQ(shard.files(0).other_dsls_size(), 2);
  EXPECT_EQ(shard.files(0).other_dsls(0).name(), "numba");
  EXPECT_EQ(shard.files(0).other_dsls(1).name(), "triton");
}

// a language's name that another file of the source hands on
TEST(DetectionRowsTest, ALanguageIsFoundThroughAnotherFile) {
  const std::vector<NamedText> texts = {
      {"taichi_lib/__init__.py", "from .impl import kernel, func\n"},
      {"taichi_lib/impl.py", "from taichi import kernel, func\n"},
      {"use.py",
       "from taichi_lib import kernel, func\n@kernel\ndef k(): f()\n@func\ndef f(): pass\n"}};
  EXPECT_THAT(
      Forms(ExtractAndLink(texts, {"taichi"})),
      ElementsAre("k WRAPPED TAICHI taichi_lib.kernel", "f WRAPPED TAICHI taichi_lib.func"));
  EXPECT_THAT(Forms(ExtractAndLink(texts)), IsEmpty());
}

// a relative import within the package that has the maker; a language of another backend
TEST(DetectionRowsTest, ALanguageIsFoundWithinItsOwnPackage) {
  EXPECT_THAT(Forms(ExtractAndLink(
                  {{"python/flydsl/compiler/__init__.py", "def jit(f): return f\n"},
                   {"python/flydsl/ext/block/reduce.py",
                    "# of flydsl\nfrom ...compiler import jit\n@jit\ndef k(): pass\n"},
                   {"other/compiler.py", "def jit(f): return f\n"},
                   {"other/a.py", "# of flydsl\nfrom .compiler import jit\n@jit\ndef n(): pass\n"}},
                  {"flydsl"})),
              ElementsAre("k WRAPPED FLYDSL compiler.jit"));
  EXPECT_THAT(Forms(Extract("from tilelang.rocm import language as T\n@T.prim_func\ndef k(): pass\n"
                            "import tilelang.language.common as C\n@C.macro\ndef m(): pass\n",
                            {"tilelang"})),
              ElementsAre("k DECORATED TILELANG tilelang.rocm.language.prim_func",
                          "m DECORATED TILELANG tilelang.language.common.macro"));
}

// a maker of Numba takes a signature, and what it returns takes the function
TEST(DetectionRowsTest, AMakerIsCalledBeforeItGetsTheFunction) {
  EXPECT_THAT(
      Forms(Extract("from numba import cuda\ndef a(x): pass\ndef b(x): pass\ndef c(x): pass\n"
                    "k = cuda.jit('void(int32[:])')(a)\nn = cuda.jit()(b)\n"
                    "m = cuda.jit(c)\n",
                    {"numba"})),
      ElementsAre("a CALLED NUMBA numba.cuda.jit", "b CALLED NUMBA numba.cuda.jit",
                  "c CALLED NUMBA numba.cuda.jit"));
}

// Numba has one maker of kernels and device functions: kernels return nothing
TEST(DetectionRowsTest, AFunctionOfNumbaThatReturnsNothingIsAKernel) {
  const v1::KernelShard shard = Extract(
      "from numba import cuda\nimport functools\nfast = functools.partial(cuda.jit, "
      "fastmath=True)\n"
      "@cuda.jit('void(float32[:])')\ndef signed(x): x[cuda.grid(1)] = 1\n"
      "@fast\ndef wrapped(x):\n    if x is None: return\n    x[cuda.grid(1)] = add(1)\n"
      "@cuda.jit\ndef value(x): return x + 1\n"
      "@cuda.jit\ndef inner(x):\n    def f(y): return y\n    x[0] = f(x)\n"
      "@cuda.jit(device=True)\ndef put(x): x[0] = 1\n"
      "@cuda.jit\ndef add(x): x[0] = 1\n",
      {"numba"});
  for (const std::string name : {"signed", "wrapped", "inner"}) {
    EXPECT_EQ(GetRole(shard, name), "KERNEL") << name;
  }
  for (const std::string name : {"value", "put", "add"}) {
    EXPECT_EQ(GetRole(shard, name), "DEVICE") << name;
  }
}

// the makers that a language has beside its usual ones
TEST(DetectionRowsTest, OtherMakersOfALanguage) {
  EXPECT_THAT(
      Forms(Extract("import helion\nimport warp as wp\nimport taichi as ti\n"
                    "@helion.aot_kernel()\ndef a(x): pass\n"
                    "@helion.experimental.aot_kernel()\ndef b(x): pass\n"
                    "@wp.func_native('return x;')\ndef c(x: float) -> float: ...\n"
                    "@wp.func_grad(c)\ndef d(x: float, adj: float): pass\n"
                    "@ti.real_func\ndef e(x: ti.f32) -> ti.f32: return x\n"
                    "from warp.fem import integrand, cache\n"
                    "@integrand\ndef f(s): return 1\n"
                    "@cache.dynamic_kernel(suffix=1)\ndef g(x: int): pass\n"
                    "import cuda.lang as cl\nfrom cupyx import jit\nimport cutlass.cute as cute\n"
                    "@cl.kernel\ndef h(x): pass\n"
                    "@jit.rawkernel(device=True)\ndef i(x): return x\n"
                    "@jit.rawkernel()\ndef j(x, y): y[0] = i(x)\n"
                    "@cute.experimental.kernel\ndef k(x): pass\n",
                    {"helion", "warp", "taichi", "cuda_lang", "cupy", "cute"})),
      ElementsAre("a DECORATED HELION helion.aot_kernel",
                  "b DECORATED HELION helion.experimental.aot_kernel",
                  "c DECORATED WARP warp.func_native", "d DECORATED WARP warp.func_grad",
                  "e DECORATED TAICHI taichi.real_func", "f DECORATED WARP warp.fem.integrand",
                  "g DECORATED WARP warp.fem.cache.dynamic_kernel",
                  "h DECORATED CUDA_LANG cuda.lang.kernel", "i DECORATED CUPY cupyx.jit.rawkernel",
                  "j DECORATED CUPY cupyx.jit.rawkernel",
                  "k DECORATED CUTE cutlass.cute.experimental.kernel"));
}

TEST(DetectionRowsTest, AWrapperThatLaunchesIsAHostFunction) {
  const v1::KernelShard shard = Extract(
      "import cutlass.cute as cute\nkernel = cute.kernel\njit = cute.jit\n"
      "@kernel\ndef k(x): pass\n@jit\ndef run(x): k(x).launch(grid=1)\n",
      {"cute"});
  EXPECT_EQ(GetRole(shard, "k"), "KERNEL");
  EXPECT_EQ(GetRole(shard, "run"), "HOST");
}

// a file that takes all names of another one of the source
TEST(DetectionRowsTest, ALanguageIsFoundThroughAWildcard) {
  EXPECT_THAT(
      Forms(ExtractAndLink({{"pkg/utils.py", "import warp as wp\n"},
                            {"pkg/a.py", "from pkg.utils import *\n@wp.kernel\ndef k(): pass\n"}},
                           {"warp"})),
      ElementsAre("k DECORATED WARP wp.kernel"));
}

// other languages, to label and not to mix in: `@cute.jit`, `@tilelang.jit`, `@flyc.jit`
TEST(DetectionRowsTest, OtherDslsAreCountedAndLeftOut) {
  const v1::KernelShard shard = Extract(
      "import cutlass.cute as cute\nimport tilelang\nimport tilelang.language as T\n"
      "import flydsl.compiler as flyc\n"
      "@cute.jit\ndef a(): pass\n@cute.kernel\ndef b(): pass\n"
      "@tilelang.jit(out_idx=[-1])\ndef c():\n    @T.prim_func\n    def main(): pass\n"
      "@flyc.jit\ndef d(): pass\n");
  EXPECT_THAT(shard.kernels(), IsEmpty());
  std::vector<std::string> counts;
  for (const v1::OtherDsl& dsl : shard.files(0).other_dsls()) {
    counts.push_back(absl::StrCat(dsl.name(), " ", dsl.functions()));
  }
  EXPECT_THAT(counts, ElementsAre("cute 2", "flydsl 1", "tilelang 1"));
}

// NOT Triton: `@numba.jit`, `@jax.jit`, `@torch.jit.script`, `@conditional_jit`, samples in
// docstrings
TEST(DetectionRowsTest, LookAlikesAreNone) {
  EXPECT_THAT(Forms(ExtractAndLink({{"util.py",
                                     "import numba, triton\n"
                                     "def conditional_jit(f): return numba.jit(f)\n"},
                                    {"a.py",
                                     "import triton, numba, jax, torch\n"
                                     "from util import conditional_jit\n"
                                     "@numba.jit\ndef a(): pass\n"
                                     "@jax.jit\ndef b(): pass\n"
                                     "@torch.jit.script\ndef c(): pass\n"
                                     "@conditional_jit\ndef d(): pass\n"
                                     "@functools.partial(jax.jit, static_argnums=0)\n"
                                     "def e():\n"
                                     "    '''Sample:\n@triton.jit\ndef k(): pass\n    '''\n"
                                     "f = jax.jit(e)\n"}})),
              IsEmpty());
}

// Faults 29. Python that does not parse, Python 2, templates, form feeds, tabs mixed with blanks,
// nesting 10,000 deep, a 50 MiB line, a 200 MiB file: bounded time and memory, the rest of the file
// still yields its kernels where it can.
TEST(FaultsTest, Row29BrokenSourceStillYieldsItsKernelsWithTheReason) {
  const std::string kernel = "@triton.jit\ndef a(x):\n    return x\n";
  for (const std::string& odd :
       {std::string("def broken(:\n"), std::string("print 'x', y\n"), std::string("{{ body }}\n"),
        std::string("\f\n"), std::string("if x:\n\ty = 1\n        z = 2\n"),
        std::string(10000, '[') + std::string(10000, ']') + "\n"}) {
    const v1::KernelShard shard = Extract("import triton\n" + kernel + odd + kernel);
    EXPECT_EQ(shard.kernels_size(), 2) << odd.substr(0, 20);
    EXPECT_EQ(shard.files(0).parse_errors(), shard.files(0).first_error_line() != 0);
  }
  const v1::KernelShard shard = Extract("import triton\n" + kernel + "def broken(:\n" + kernel);
  EXPECT_EQ(shard.files(0).first_error_line(), 5);
  for (const size_t size : {size_t{50} << 20, size_t{200} << 20}) {
    const v1::KernelShard large = Extract("triton.jit = '" + std::string(size, 'x') + "'\n");
    EXPECT_EQ(large.files(0).failed(), "too_large");
  }
}

// Faults 30. Kernel look-alikes in strings, comments and docstrings: not kernels.
TEST(FaultsTest, Row30LookAlikesInStringsCommentsAndDocstringsAreNoKernels) {
  EXPECT_THAT(Forms(Extract("import triton\n"
                            "'''\n@triton.jit\ndef a(): pass\n'''\n"
                            "# @triton.jit\n# def b(): pass\n"
                            "S = '@triton.jit\\ndef c(): pass'\n"
                            "def f():\n    '''f = triton.jit(f)'''\n"
                            "    # f = triton.jit(f)\n")),
              IsEmpty());
}

}  // namespace
}  // namespace kernelmill::extractor
