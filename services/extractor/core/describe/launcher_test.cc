// Launchers of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::string_view kImports = "import triton\nimport triton.language as tl\n";

v1::Kernel First(absl::string_view text) {
  const v1::KernelShard shard = Extract(absl::StrCat(kImports, text));
  EXPECT_GT(shard.kernels_size(), 0);
  return shard.kernels_size() > 0 ? shard.kernels(0) : v1::Kernel();
}

v1::Launcher FindLauncher(absl::string_view rest) {
  return First(absl::StrCat("@triton.jit\ndef k(x): tl.store(x, 1)\n", rest)).launcher();
}

TEST(LauncherTest, IsTheSmallestFunctionAroundTheLaunch) {
  const v1::Launcher launcher = FindLauncher(
      "class F(torch.autograd.Function):\n"
      "    @staticmethod\n"
      "    def forward(ctx, x):  # \xff\n"
      "        grid = lambda meta: (1,)\n"
      "        k[grid](x)\n"
      "        return x\n"
      "    # after\n"
      "def other(x):\n    k[(1,)](x)\n    k[(2,)](x)\n");
  EXPECT_EQ(launcher.path(), "a.py");
  EXPECT_EQ(launcher.qualname(), "F.forward");
  EXPECT_EQ(launcher.first_line(), 6);
  EXPECT_EQ(launcher.last_line(), 10);
  EXPECT_EQ(launcher.text(),
            "    @staticmethod\n"
            "    def forward(ctx, x):  # \xff\n"
            "        grid = lambda meta: (1,)\n"
            "        k[grid](x)\n"
            "        return x\n");
  EXPECT_EQ(launcher.count(), 2);
}

TEST(LauncherTest, OtherFormsOfLaunching) {
  for (const std::string launch :
       {"m.k[1, 2](x)", "wrap_triton(k)[grid](x)", "(k)[grid](x)", "k.run(x, grid=grid)",
        "k.run(x, stream=s)", "k.warmup(x, grid=(1,))", "wrap(k, x)[grid](x)", "check(k[grid])(x)",
        "check(k[grid], name='k')(x)"}) {
    EXPECT_EQ(FindLauncher(absl::StrCat("def f(x):\n    ", launch, "\n")).qualname(), "f")
        << launch;
  }
  for (const std::string other :
       {"k(x)", "k.run(x)", "k[x]", "other[grid](k)", "wrap(x, k)[grid](x)", "show(k)",
        "show(k[grid])", "show(x, k[grid])(x)"}) {
    EXPECT_EQ(FindLauncher(absl::StrCat("def f(x):\n    ", other, "\n")).count(), 0) << other;
  }
}

TEST(LauncherTest, OtherNamesOfAKernelLaunchIt) {
  for (const std::string body :
       {"g = k\n    g[grid](x)", "g = k if x else other\n    g[grid](x)",
        "g = other if x else (k)\n    g[grid](x)", "g = x or k\n    g[grid](x)",
        "g = functools.partial(k, n=1)\n    g[grid](x)", "g = k[grid]\n    g(x)",
        "g = triton.autotune(configs=[])(k)\n    g[grid](x)", "{'a': k, 'b': other}[x][grid](x)",
        "t = {'a': k, 'b': other}\n    t['a'][grid](x)", "t = {'a': k}\n    t.get(x)[grid](x)",
        "t = [other, k]\n    t[0][grid](x)", "for g in (other, k): g[grid](x)",
        "if x: g = other\n    else: g = k\n    g[grid](x)", "(g := k)[grid](x)",
        "k = triton.autotune(configs=[])(k)\n    k[grid](x)"}) {
    EXPECT_EQ(FindLauncher(absl::StrCat("def f(x):\n    ", body, "\n")).qualname(), "f") << body;
  }
  for (const std::string body :
       {"g = k\n    g = h\n    g(x)", "t = {'a': k, 'b': other}\n    t['b'][grid](x)",
        "g = f(k)\n    g(x)", "k = other\n    k[grid](x)", "f = lambda k: k[grid](x)",
        "t = {'a': k}\n    g = t['a']\n    g(x)"}) {
    EXPECT_EQ(FindLauncher(absl::StrCat("def f(x):\n    ", body, "\n")).count(), 0) << body;
  }
}

TEST(LauncherTest, AttributesAndResultsOfFunctionsMayBeKernels) {
  EXPECT_EQ(FindLauncher("class C:\n    def __init__(self): self.g = k\n"
                         "    def run(self, x): self.g[grid](x)\n")
                .qualname(),
            "C.run");
  EXPECT_EQ(FindLauncher("class C:\n    g = k\n    def run(self, x): self.g[grid](x)\n").qualname(),
            "C.run");
  EXPECT_EQ(FindLauncher("def get(x):\n    if x: return other\n    return k\n"
                         "def run(x):\n    g = get(x)\n    g[grid](x)\n")
                .qualname(),
            "run");
  EXPECT_EQ(FindLauncher("TABLE = {'a': k}\ndef run(x): TABLE[x][grid](x)\n").qualname(), "run");
}

TEST(LauncherTest, AFunctionThatLaunchesItsParameterLaunchesWhatItIsGiven) {
  EXPECT_EQ(FindLauncher("def run(x): start(x, k)\n"
                         "def start(x, kernel): inner(grid=1, g=kernel, x=x)\n"
                         "def inner(g, grid, x): g[grid](x)\n")
                .qualname(),
            "run");
  EXPECT_EQ(FindLauncher("class C:\n    def start(self, kernel, x): kernel[1](x)\n"
                         "    def run(self, x): self.start(k, x)\n")
                .qualname(),
            "C.run");
  EXPECT_EQ(FindLauncher("def run(x): look(k)\ndef look(kernel): return kernel.name\n").count(), 0);
  // A function that the text does not define is judged by its name and its arguments.
  EXPECT_EQ(FindLauncher("def run(x): lib.launch_chunked(k, (1,), x)\n").qualname(), "run");
  EXPECT_EQ(FindLauncher("def run(x): lib.start(x, kernel=k, grid=(1,))\n").qualname(), "run");
  EXPECT_EQ(FindLauncher("def run(x): lib.start(x, k)\n").count(), 0);
}

TEST(LauncherTest, PallasKernelsAreLaunchedWhereTheyAreMadeOrCalled) {
  const v1::KernelShard shard = Extract(
      "from jax.experimental import pallas as pl\n"
      "def a(x_ref): pass\n"
      "def run(x): return pl.pallas_call(a, out_shape=x)(x)\n"
      "def test(x):\n"
      "  @pl.kernel(mesh=m)\n"
      "  def b(x_ref):\n"
      "    @pl.core_map(mesh)\n"
      "    def _(): pass\n"
      "  return b(x)\n"
      "def jitted(x):\n"
      "  @pl.kernel(mesh=m)\n"
      "  def c(x_ref): pass\n"
      "  return jax.jit(c)(x)\n");
  std::vector<std::string> launchers;
  for (const v1::Kernel& kernel : shard.kernels()) {
    launchers.push_back(absl::StrCat(kernel.name(), " ", kernel.launcher().qualname(), " ",
                                     kernel.role() == v1::KERNEL_ROLE_KERNEL));
  }
  EXPECT_THAT(launchers, ElementsAre("a run 1", "b test 1", "_  0", "c jitted 1"));
}

TEST(LauncherTest, ADecoratedLauncherIsNoKernel) {
  EXPECT_EQ(FindLauncher("from lib.jit.guard import guard\n"
                         "@guard(a=1)\ndef run(x): k[grid](x)\n")
                .qualname(),
            "run");
}

TEST(LauncherTest, OtherLanguagesLaunchInTheirOwnWays) {
  const v1::KernelShard shard = ExtractAndLink(
      {{"a.py",
        "import cutlass.cute as cute\nimport helion\nimport warp as wp\nimport cuda.tile as ct\n"
        "class Norm:\n    @cute.jit\n    def __call__(self, x):\n"
        "        self.kernel(x).launch(grid=[1, 1, 1])\n"
        "    @cute.kernel\n    def kernel(self, x):\n        load(x, self.bits)\n"
        "@cute.jit\ndef load(x, bits): pass\n"
        "@helion.kernel()\ndef add(x): pass\ndef run(x): return add(x)\n"
        "@wp.kernel\ndef w(x: int): pass\ndef step(x): wp.launch(w, dim=1, inputs=[x])\n"
        "@ct.kernel\ndef t(x): pass\ndef go(x): ct.launch(stream, (1,), t, (x,))\n"}},
      {"cute", "helion", "warp", "cutile"});
  const auto launcher = [&shard](absl::string_view name) {
    return FindKernel(shard, name).launcher().qualname();
  };
  EXPECT_EQ(launcher("kernel"), "Norm.__call__");
  EXPECT_EQ(launcher("add"), "run");
  EXPECT_EQ(launcher("w"), "step");
  EXPECT_EQ(launcher("t"), "go");
  EXPECT_EQ(launcher("load"), "");
  EXPECT_THAT(Unresolved(FindKernel(shard, "kernel")), IsEmpty());
  EXPECT_THAT(Unresolved(FindKernel(shard, "load")), IsEmpty());
}

// the second call is on what the first one returns
TEST(LauncherTest, NumbaChoosesTheGrid) {
  const v1::KernelShard shard = Extract(
      "from numba import cuda\n@cuda.jit\ndef k(x): x[0] = 1\n"
      "def f(x): k.forall(len(x), stream=s)(x)\ndef g(x): k.forall(x)\n",
      {"numba"});
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).launcher().qualname(), "f");
  EXPECT_EQ(shard.kernels(0).launcher().count(), 1);
}

// The launchers of all kernels of a text, in its order.
std::vector<std::string> Launchers(absl::string_view text,
                                   const std::vector<std::string>& languages) {
  const v1::KernelShard shard = ExtractAndLink({{"a.py", std::string(text)}}, languages);
  std::vector<std::string> launchers;
  for (const v1::Kernel& kernel : shard.kernels()) {
    launchers.push_back(absl::StrCat(kernel.qualname(), " ", kernel.launcher().qualname()));
  }
  return launchers;
}

TEST(LauncherTest, AMethodLaunchesTheKernelOfItsOwnClass) {
  constexpr absl::string_view kHead =
      "import cutlass.cute as cute\n"
      "class A:\n"
      "    @cute.jit\n    def __call__(self, x): self.kernel(x).launch(grid=[1, 1, 1])\n"
      "    @cute.kernel\n    def kernel(self, x): pass\n";
  constexpr absl::string_view kBody =
      "    @cute.jit\n    def run(self, x): self.kernel(x).launch(grid=[1, 1, 1])\n"
      "    @cute.kernel\n    def kernel(self, x): pass\n";
  const auto launchers = [&](absl::string_view rest) {
    return Launchers(absl::StrCat(kHead, rest), {"cute"});
  };
  EXPECT_THAT(launchers(absl::StrCat("class B:\n", kBody)),
              ElementsAre("A.__call__ ", "A.kernel A.__call__", "B.run ", "B.kernel B.run"));
  // A base may have a member, and a base launches a kernel that a class below has.
  EXPECT_THAT(launchers("class B(A):\n"
                        "    @cute.kernel\n    def kernel(self, x): pass\n"),
              ElementsAre("A.__call__ ", "A.kernel A.__call__", "B.kernel A.__call__"));
  EXPECT_THAT(launchers(absl::StrCat("class B(A):\n", kBody)),
              ElementsAre("A.__call__ ", "A.kernel A.__call__", "B.run ", "B.kernel B.run"));
  EXPECT_THAT(launchers("class B(A):\n"
                        "    @cute.kernel\n    def kernel(self, x): pass\n"
                        "def f(x): B().kernel(x).launch(grid=[1, 1, 1])\n"
                        "def g(x):\n    a = A()\n    a.kernel(x).launch(grid=[1, 1, 1])\n"
                        "def h(a, x): a.kernel(x).launch(grid=[1, 1, 1])\n"),
              ElementsAre("A.__call__ ", "A.kernel A.__call__", "B.kernel f"));
  EXPECT_THAT(launchers("class B(A):\n    def run(self, x): "
                        "super().kernel(x).launch(grid=[1, 1, 1])\n"
                        "    @cute.kernel\n    def kernel(self, x): pass\n"),
              ElementsAre("A.__call__ ", "A.kernel A.__call__", "B.kernel A.__call__"));
  EXPECT_THAT(Launchers("import helion\n"
                        "@helion.kernel()\ndef a(x): pass\n@helion.kernel()\ndef b(x): pass\n"
                        "class A:\n    def __init__(self): self.k = a\n"
                        "    def run(self, x): self.k(x)\n"
                        "class B:\n    def __init__(self): self.k = b\n"
                        "    def run(self, x): self.k(x)\n",
                        {"helion"}),
              ElementsAre("a A.run", "b B.run"));
}

TEST(LauncherTest, ACallOfWhatWasCompiledLaunches) {
  constexpr absl::string_view kHead =
      "import tilelang\nimport tilelang.language as T\n"
      "def make(n):\n    @T.prim_func\n    def main(x): pass\n    return main\n"
      "@tilelang.jit\ndef add(x, n: int): pass\n";
  const auto launchers = [&](absl::string_view rest) {
    return Launchers(absl::StrCat(kHead, rest), {"tilelang"});
  };
  for (const auto& [code, main, add] : std::vector<std::array<std::string, 3>>{
           {"def f(x):\n    k = tilelang.compile(make(4))\n    k(x)\n", "f", ""},
           {"def f(x):\n    p = make(4)\n    k = tilelang.compile(p, out_idx=[0])\n    k(x)\n", "f",
            ""},
           {"def f(x): return tilelang.compile(make(4))(x)\n", "f", ""},
           {"def f(x):\n    k = add.compile(n=4)\n    k(x)\n", "", "f"},
           {"def f(x): add.compile(n=4).get_profiler().do_bench()\n", "", "f"},
           {"def f(x):\n    k = add if x else other\n    k(x)\n", "", "f"},
           {"KERNELS = {'add': add}\ndef f(x):\n    k = KERNELS[x]\n    k(x)\n", "", "f"},
           {"def check(k, x): k(x)\ndef f(x): check(add.compile(n=4), x)\n", "", "f"},
           {"class C:\n    def __init__(self): self.k = tilelang.compile(make(4))\n"
            "    def f(self, x): self.k(x)\n",
            "C.f", ""},
           // Not launched: compiled alone, another module's function of that name.
           {"def f(): print(tilelang.compile(make(4)).source)\n", "", ""},
           {"def f(x): torch.add(x, x)\n", "", ""}}) {
    EXPECT_THAT(launchers(code), ElementsAre("make.main " + main, "add " + add)) << code;
  }
}

TEST(LauncherTest, HintsAndTunersLeadToAKernel) {
  constexpr absl::string_view kHead =
      "import cuda.tile as ct\nfrom cuda.tile.tune import exhaustive_search\n"
      "@ct.kernel\ndef k(x): pass\n";
  for (const absl::string_view code :
       {"def f(x): ct.launch(s, (1,), k.replace_hints(occupancy=2), (x,))\n",
        "def f(x):\n    tuned = k.replace_hints(occupancy=2)\n    ct.launch(s, (1,), tuned, "
        "(x,))\n",
        "def f(x): exhaustive_search(configs, s, lambda c: (1,), k, lambda c: (x,))\n"}) {
    EXPECT_THAT(Launchers(absl::StrCat(kHead, code), {"cutile"}), ElementsAre("k f")) << code;
  }
  EXPECT_THAT(Launchers(absl::StrCat(kHead, "def f(x): other.exhaustive_search(k)\n"), {"cutile"}),
              ElementsAre("k "));
  EXPECT_THAT(Launchers(absl::StrCat(kHead,
                                     "def tune(x): exhaustive_search(configs, s, size, k, args)\n"
                                     "def f(x): ct.launch(s, (1,), k, (x,))\n"),
                        {"cutile"}),
              ElementsAre("k f"));
}

TEST(LauncherTest, MethodsAreDeviceFunctions) {
  const v1::Kernel kernel =
      First("class C:\n    @triton.jit\n    def put(self, x): tl.store(x, tl.program_id(0))\n");
  EXPECT_EQ(kernel.role(), v1::KERNEL_ROLE_DEVICE);
}

TEST(LauncherTest, OutsideAnyFunctionItIsAStatementOfTheModule) {
  const v1::Launcher launcher = FindLauncher("if x:\n    # run\n    k[(1,)](x)\n");
  EXPECT_EQ(launcher.qualname(), "");
  EXPECT_EQ(launcher.text(), "if x:\n    # run\n    k[(1,)](x)\n");
  EXPECT_EQ(FindLauncher("k[(1,)](x)\ndef f(): k[(1,)](x)\n").qualname(), "f");
}

TEST(LauncherTest, NoFunctionIsOneInAKernel) {
  EXPECT_EQ(FindLauncher("@triton.jit\ndef h(x):\n    k[(1,)](x)\n").count(), 0);
}

TEST(LauncherTest, AKernelInAFunctionIsLaunchedThereAlone) {
  const v1::KernelShard shard =
      Extract(absl::StrCat(kImports,
                           "@triton.jit\ndef k(x): pass\n"
                           "def a():\n    @triton.jit\n    def k(x): pass\n    def run(): k[1](1)\n"
                           "def b():\n    @triton.jit\n    def k(x): pass\n    k[1](1)\n"
                           "def c(): k[1](1)\n"));
  std::vector<std::string> launchers;
  for (const v1::Kernel& kernel : shard.kernels()) {
    launchers.push_back(absl::StrCat(kernel.launcher().qualname(), kernel.launcher().count()));
  }
  EXPECT_THAT(launchers, ElementsAre("c1", "a.run1", "b1"));
}

TEST(LauncherTest, TheFirstInBoundsIsTaken) {
  const std::string large =
      absl::StrCat("def large(x):\n    k[1](x)\n    y = '", std::string(16 << 10, 'y'), "'\n");
  const v1::Launcher second = FindLauncher(large + "def small(x):\n    k[1](x)\n");
  EXPECT_EQ(second.qualname(), "small");
  EXPECT_EQ(second.count(), 2);
  const v1::Launcher only = FindLauncher(large);
  EXPECT_EQ(only.qualname(), "large");
  EXPECT_EQ(only.text(), "");
  EXPECT_EQ(only.first_line(), 5);
}

TEST(LauncherTest, AllTextsTogetherAreInBounds) {
  std::string text(kImports);
  std::string launches = "def run(x):\n";
  for (int i = 0; i < 300; ++i) {
    absl::StrAppend(&text, "@triton.jit\ndef k", i, "(x): pass\n");
    absl::StrAppend(&launches, "    k", i, "[(1,)](x)\n");
  }
  text += launches;
  size_t bytes = 0;
  const v1::KernelShard shard = Extract(text);
  for (const v1::Kernel& kernel : shard.kernels()) {
    EXPECT_EQ(kernel.launcher().qualname(), "run");
    bytes += kernel.launcher().text().size();
  }
  EXPECT_GT(bytes, 7 * text.size());
  EXPECT_LE(bytes, 8 * text.size());
}

TEST(LauncherTest, EachDefinitionOfANameHasTheLaunchesUpToTheNext) {
  const std::string kernel = "@triton.jit\ndef k(x): pass\n\n";
  const std::string launch = "(x):\n    k[(1,)](x)\n\n";
  const v1::KernelShard shard =
      Extract(absl::StrCat("import triton\n", kernel, "def a", launch, "def b", launch, kernel,
                           "def c", launch, kernel));
  ASSERT_EQ(shard.kernels_size(), 3);
  EXPECT_EQ(shard.kernels(0).launcher().qualname(), "a");
  EXPECT_EQ(shard.kernels(0).launcher().count(), 2);
  EXPECT_EQ(shard.kernels(1).launcher().qualname(), "c");
  EXPECT_EQ(shard.kernels(2).launcher().qualname(), "a");  // all, since nothing below launches it
  EXPECT_EQ(shard.kernels(2).launcher().count(), 3);
}

TEST(LauncherTest, InAStringItsLinesAreTheFiles) {
  const v1::KernelShard shard = Extract(
      "k = async_compile.triton('k', '''\n"
      "import triton\n@triton.jit\ndef k(x): pass\n\ndef call(x):\n    k.run(x, grid=1)\n''')\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).first_line(), 3);
  EXPECT_EQ(shard.kernels(0).launcher().first_line(), 6);
  EXPECT_EQ(shard.kernels(0).launcher().last_line(), 7);
}

}  // namespace
}  // namespace kernelmill::extractor
