// Kernels in the strings of Python files: which strings count, what is lost, modules, launchers.
#include "services/extractor/core/cuda/cuda_strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr absl::string_view kAdd =
    "__global__ void add(float* x, int n) {\n  if (threadIdx.x < n) x[threadIdx.x] += 1;\n}\n";

constexpr absl::string_view kFill =
    "kernel void fill(device float* x, uint i [[thread_position_in_grid]]) {\n  x[i] = 1;\n}\n";

v1::KernelShard ExtractMetal(const std::string& text) {
  return ExtractAndLink({{"a.py", text}}, {"metal"});
}

// A string of lines of its own.
std::string Quote(absl::string_view code, absl::string_view prefix = "") {
  return absl::StrCat(prefix, "\"\"\"\n", code, "\"\"\"");
}

std::vector<std::string> Skipped(const v1::KernelShard& shard) {
  std::vector<std::string> skipped;
  for (const v1::SkippedString& string : shard.files(0).skipped_strings()) {
    skipped.push_back(absl::StrCat(string.line(), " ", string.reason()));
  }
  return skipped;
}

std::vector<std::string> Launchers(const v1::KernelShard& shard) {
  std::vector<std::string> launchers;
  for (const v1::Kernel& kernel : shard.kernels()) {
    const v1::Launcher& launcher = kernel.launcher();
    launchers.push_back(absl::StrCat(kernel.name(), ": ", launcher.qualname(), " ",
                                     launcher.first_line(), "-", launcher.last_line()));
  }
  return launchers;
}

// As KernelBench's answers are written.
const std::string& LoadInline() {
  static const auto& text = *new std::string(
      absl::StrCat("import torch\n"
                   "import torch.nn as nn\n"
                   "from torch.utils.cpp_extension import load_inline\n\n",
                   "source = ",
                   Quote(absl::StrCat("#include <torch/extension.h>\n", kAdd,
                                      "torch::Tensor add_cuda(torch::Tensor x) {\n"
                                      "  add<<<1, 32>>>(x.data_ptr<float>(), x.numel());\n"
                                      "  return x;\n"
                                      "}\n")),
                   "\ncpp = \"torch::Tensor add_cuda(torch::Tensor x);\"\n\n"
                   "module = load_inline(name=\"add\", cpp_sources=cpp, cuda_sources=source,\n"
                   "                     functions=[\"add_cuda\"])\n\n"
                   "class ModelNew(nn.Module):\n"
                   "    def __init__(self):\n"
                   "        super().__init__()\n"
                   "        self.module = module\n\n"
                   "    def forward(self, x):\n"
                   "        return self.module.add_cuda(x)\n"));
  return text;
}

TEST(CudaStringTest, AKernelOfLoadInlineIsItsLines) {
  const v1::KernelShard shard = ExtractAndLink(LoadInline());
  ASSERT_THAT(Forms(shard), ElementsAre("add STRING CUDA torch.utils.cpp_extension.load_inline"));
  const v1::Kernel& kernel = shard.kernels(0);
  EXPECT_EQ(kernel.source(), kAdd);
  EXPECT_EQ(kernel.first_line(), 7);
  EXPECT_EQ(kernel.last_line(), 9);
  EXPECT_EQ(LoadInline().substr(static_cast<size_t>(kernel.first_byte()), kAdd.size()), kAdd);
  EXPECT_EQ(kernel.string_begin(), LoadInline().find("\n#include"));
  EXPECT_EQ(kernel.role(), v1::KERNEL_ROLE_KERNEL);
  EXPECT_EQ(kernel.signature(), "__global__ void add(float* x, int n)");
  EXPECT_EQ(kernel.source().substr(static_cast<size_t>(kernel.body_offset()), 4), "  if");
  EXPECT_EQ(kernel.parameters(1).role(), v1::PARAMETER_ROLE_SIZE);
}

TEST(CudaStringTest, TheLauncherIsTheMethodThatCallsTheExtension) {
  const v1::KernelShard shard = ExtractAndLink(LoadInline());
  EXPECT_THAT(Launchers(shard), ElementsAre("add: ModelNew.forward 25-26"));
  EXPECT_THAT(shard.kernels(0).launcher().text(), HasSubstr("return self.module.add_cuda(x)"));
  ASSERT_EQ(shard.kernels(0).cuda().launches_size(), 1);
  EXPECT_EQ(shard.kernels(0).cuda().launches(0).host_function(), "add_cuda");
  EXPECT_EQ(shard.kernels(0).cuda().launches(0).first_line(), 11);
}

TEST(CudaStringTest, AModuleHasWhatTheStringHas) {
  const v1::Kernel kernel = FindKernel(
      ExtractAndLink(absl::StrCat("s = ",
                                  Quote("#define N 4\n__device__ int unused() { return 0; }\n"
                                        "__device__ int twice(int x) { return 2 * x * N; }\n"
                                        "__global__ void k(int* x) { *x = twice(*x); }\n"),
                                  "\nf(s)\n")),
      "k");
  EXPECT_EQ(kernel.module(),
            "#define N 4\n\n__device__ int twice(int x) { return 2 * x * N; }\n\n"
            "__global__ void k(int* x) { *x = twice(*x); }\n");
  EXPECT_TRUE(kernel.self_contained());
  ASSERT_EQ(kernel.pieces_size(), 3);
  EXPECT_EQ(kernel.pieces(0).first_line(), 2);
  EXPECT_EQ(kernel.pieces(2).first_line(), 5);
}

TEST(CudaStringTest, EveryUseOfAStringCounts) {
  const std::string code = Quote(kAdd);
  for (const std::string& file :
       {absl::StrCat("k = cp.RawKernel(", code, ", 'add')\n"),
        absl::StrCat("k = cp.RawModule(code=r", code, ")\n"),
        absl::StrCat("k = SourceModule(", code, ").get_function('add')\n"),
        absl::StrCat("k = Program(", code, ", ProgramOptions(std='c++17'))\n"),
        absl::StrCat("k = load_inline(cuda_sources=[", code, "], cpp_sources=['int f();'])\n"),
        absl::StrCat("class C:\n    source = ", code, "\n"),
        absl::StrCat("def f(source=", code, "):\n    return source\n"),
        absl::StrCat("def f():\n    return ", code, "\n"),
        absl::StrCat("d = {'add': ", code, "}\n"), absl::StrCat("s = b", code, "\n"),
        absl::StrCat("s: str = u", code, "\n"), absl::StrCat("s = ''\ns += ", code, "\n"),
        absl::StrCat("assert run(", code, ") == 1\n"), absl::StrCat("f'{x}', g(", code, ")\n"),
        absl::StrCat("@given(", code, ")\ndef f(s):\n    pass\n")}) {
    EXPECT_THAT(Places(Extract(file)), ElementsAre(testing::StartsWith("add "))) << file;
    EXPECT_THAT(Skipped(Extract(file)), IsEmpty()) << file;
  }
}

TEST(CudaStringTest, WhatIsOnlySaidDoesNotCount) {
  const std::string code = Quote(kAdd);
  for (const std::string& file :
       {code + "\n", absl::StrCat("def f():\n    ", code, "\n"),
        absl::StrCat("class C:\n    ", code, "\n    x = 1\n"),
        absl::StrCat("raise ValueError(", code, ")\n"), absl::StrCat("assert x, ", code, "\n"),
        absl::StrCat("if ", code, " in text:\n    f()\n"),
        std::string("raise ValueError('no __global__ function')\n"),
        std::string("x = 'a __global__ function is needed'\n"),
        std::string("x = '__global__ void f();'\n"),
        absl::StrCat("prompt = ", Quote(absl::StrCat("Write it so:\n```cuda\n", kAdd, "```\n")),
                     "\n")}) {
    EXPECT_THAT(Places(ExtractAndLink(file)), IsEmpty()) << file;
    EXPECT_THAT(Skipped(Extract(file)), IsEmpty()) << file;
  }
}

TEST(CudaStringTest, ADeviceFunctionAloneCounts) {
  const v1::KernelShard shard =
      Extract(absl::StrCat("k = ElementwiseKernel('T x', 'T y', 'y = f(x)', 'k', preamble=",
                           Quote("__device__ float f(float x) {\n  return x;\n}\n"), ")\n"));
  ASSERT_THAT(Places(shard), ElementsAre("f 2-4"));
  EXPECT_EQ(shard.kernels(0).role(), v1::KERNEL_ROLE_DEVICE);
  EXPECT_EQ(shard.kernels(0).found_by(), "ElementwiseKernel");
}

TEST(CudaStringTest, LinesThatPythonSharesAreListed) {
  EXPECT_THAT(Skipped(Extract("s = '__global__ void f() {}'\n")), ElementsAre("1 shared_line"));
  EXPECT_THAT(Skipped(Extract("\ns = '''__global__ void f() {\n}\n'''\n")),
              ElementsAre("2 shared_line"));
  EXPECT_THAT(Skipped(Extract("s = '''\n__global__ void f() {\n}'''\n")),
              ElementsAre("1 shared_line"));
}

TEST(CudaStringTest, AKernelOfSeveralLiteralsIsListed) {
  const v1::KernelShard shard = Extract(
      "s = ('__global__ void f() {\\n'\n     '}\\n')\n"
      "t = '''\n__global__ void g() {\n''' + '''\n}\n'''\n");
  EXPECT_THAT(Places(shard), IsEmpty());
  EXPECT_THAT(Skipped(shard), ElementsAre("1 not_verbatim", "3 not_verbatim"));
}

TEST(CudaStringTest, EscapesStayInTheSourceAndHaveTheirValuesInTheModule) {
  const std::string file =
      "s = \"\"\"\\\n__device__ void say() { printf(\"\\\"%d\\\"\\\\n\"); }\n"
      "__global__ void k() {\n  say();\n  printf(\"a\\\\n\");\n}\n\"\"\"\n";
  const v1::KernelShard shard = ExtractAndLink(file);
  const v1::Kernel kernel = FindKernel(shard, "k");
  EXPECT_EQ(kernel.source(), "__global__ void k() {\n  say();\n  printf(\"a\\\\n\");\n}\n");
  EXPECT_EQ(kernel.first_line(), 3);
  EXPECT_EQ(kernel.module(),
            "#include <cstdio>\n\n__device__ void say() { printf(\"\"%d\"\\n\"); }\n\n"
            "__global__ void k() {\n  say();\n  printf(\"a\\n\");\n}\n");
  ASSERT_EQ(kernel.replaced_texts_size(), 4);
  const v1::ReplacedText& last = kernel.replaced_texts(3);
  EXPECT_EQ(last.original(), "\\\\");
  EXPECT_EQ(last.replacement(), "\\");
  EXPECT_EQ(last.first_line(), 5);
  EXPECT_EQ(last.reason(), "string_escape");
}

TEST(CudaStringTest, ARawStringHasNoEscapes) {
  const v1::KernelShard shard =
      ExtractAndLink("s = r'''\n__global__ void k() {\n  printf(\"a\\n\");\n}\n'''\n");
  EXPECT_THAT(shard.kernels(0).module(), HasSubstr("printf(\"a\\n\");"));
  EXPECT_THAT(shard.kernels(0).replaced_texts(), IsEmpty());
}

TEST(CudaStringTest, AnEscapedLineEndChangesTheLinesOfTheTextOnly) {
  const v1::KernelShard shard = ExtractAndLink(
      "s = '''int a;\\nint b;\\nint c; int \\\nd;\n__global__ void k() {\n  a = b;\n}\n'''\n");
  EXPECT_THAT(Places(shard), ElementsAre("k 3-5"));
  EXPECT_EQ(shard.kernels(0).module(), "int a;\nint b;\n\n__global__ void k() {\n  a = b;\n}\n");
  EXPECT_EQ(shard.kernels(0).pieces(1).first_line(), 1);
}

TEST(CudaStringTest, ConcatenatedTextsAreOneModule) {
  const std::string helper = Quote("__device__ int helper(int x) { return x; }\n");
  const std::string kernel = Quote("__global__ void k(int* x) {\n  *x = helper(*x);\n}\n");
  for (const std::string& file :
       {absl::StrCat("s = ", helper, " + ", kernel, "\n"),
        absl::StrCat("s = (", helper, "\n", kernel, ")\n"),
        absl::StrCat("H = ", helper, "\ns = H + ", kernel, "\n"),
        absl::StrCat("H = ", helper, "\nK = ", kernel, "\nm = load_inline(cuda_sources=[H, K])\n"),
        absl::StrCat("H = ", helper, "\nK = ", kernel, "\ns = f'{H}\\n{K}'\n"),
        absl::StrCat("H = ", helper, "\nK = ", kernel, "\ns = '\\n'.join([H, K])\n"),
        absl::StrCat("class C:\n    H = ", helper, "\n    K = H + ", kernel, "\n"),
        absl::StrCat("def f():\n    h = ", helper, "\n    return h + ", kernel, "\n")}) {
    const v1::KernelShard shard = ExtractAndLink(file);
    ASSERT_EQ(shard.kernels_size(), 2) << file;
    EXPECT_EQ(FindKernel(shard, "k").module(),
              "__device__ int helper(int x) { return x; }\n\n"
              "__global__ void k(int* x) {\n  *x = helper(*x);\n}\n")
        << file;
    EXPECT_TRUE(FindKernel(shard, "k").self_contained()) << file;
  }
}

TEST(CudaStringTest, AStringThatIsFilledInIsATemplate) {
  const std::string code = Quote("__global__ void k(%(type)s* x) {\n  *x = %(n)d;\n}\n");
  const std::string braces = Quote("__global__ void k({type}* x) {{\n  *x = 1;\n}}\n");
  for (const std::string& file :
       {absl::StrCat("s = ", code, " % {'type': t, 'n': 1}\n"),
        absl::StrCat("S = ", code, "\ndef f(t):\n    return S % {'type': t, 'n': 1}\n"),
        absl::StrCat("s = ", braces, ".format(type=t)\n"),
        absl::StrCat("S = ", braces, "\nm = SourceModule(S.format(type=t))\n"),
        absl::StrCat("s = f", braces, "\n"), absl::StrCat("s = Template(", code, ")\n")}) {
    const v1::KernelShard shard = ExtractAndLink(file);
    ASSERT_EQ(shard.kernels_size(), 1) << file;
    EXPECT_EQ(shard.kernels(0).form(), v1::KERNEL_FORM_TEMPLATE) << file;
    EXPECT_FALSE(shard.kernels(0).self_contained()) << file;
  }
}

TEST(CudaStringTest, ConstantFieldsOfAnFStringHaveTheirValues) {
  const v1::KernelShard shard = ExtractAndLink(
      absl::StrCat("N = 4\nT = 'float'\ns = f",
                   Quote("__global__ void k({T}* x) {{\n  *x = {N * 2};\n}}\n"), "\n"));
  ASSERT_EQ(shard.kernels_size(), 1);
  const v1::Kernel& kernel = shard.kernels(0);
  EXPECT_EQ(kernel.form(), v1::KERNEL_FORM_STRING);
  EXPECT_EQ(kernel.source(), "__global__ void k({T}* x) {{\n  *x = {N * 2};\n}}\n");
  EXPECT_EQ(kernel.module(), "__global__ void k(float* x) {\n  *x = 8;\n}\n");
  EXPECT_EQ(kernel.parameters(0).annotation(), "float*");
  ASSERT_EQ(kernel.replaced_texts_size(), 4);
  EXPECT_EQ(kernel.replaced_texts(0).original(), "{T}");
  EXPECT_EQ(kernel.replaced_texts(0).reason(), "string_field");
  EXPECT_EQ(kernel.replaced_texts(1).reason(), "string_escape");
}

TEST(CudaStringTest, LaunchesAreFollowedFromTheString) {
  const std::string code = Quote(kAdd);
  for (const std::string& file :
       {absl::StrCat("k = cp.RawKernel(", code,
                     ", 'add')\n\ndef host(x):\n    k((1,), (32,), (x,))\n"),
        absl::StrCat("def build():\n    return cp.RawKernel(", code,
                     ", 'add')\n\ndef host(x):\n    build()((1,), (32,), (x,))\n"),
        absl::StrCat("S = ", code,
                     "\nm = SourceModule(S)\nadd = m.get_function('add')\n\n"
                     "def host(x):\n    add(x, block=(32, 1, 1))\n"),
        absl::StrCat("S = ", code,
                     "\n\n@cache\ndef module():\n    return load_inline(cuda_sources=[S])\n"
                     "\ndef host(x):\n    return module().add_cuda(x)\n"),
        absl::StrCat("S = ", code,
                     "\nk = Program(S).compile('cubin').get_kernel('add')\n\n"
                     "def host(s, c, x):\n    launch(s, c, k, x)\n"),
        absl::StrCat("S = ", code,
                     "\n\ndef compile_it(s):\n    return SourceModule(s)\n\n"
                     "def host(x):\n    compile_it(S).get_function('add')(x)\n")}) {
    const v1::KernelShard shard = ExtractAndLink(file);
    EXPECT_THAT(Launchers(shard), ElementsAre(HasSubstr("add: host "))) << file;
  }
}

TEST(CudaStringTest, ALaunchByNameIsThatKernels) {
  const std::string two = absl::StrCat(kAdd, absl::StrReplaceAll(kAdd, {{"add", "sub"}}));
  const v1::KernelShard shard =
      ExtractAndLink(absl::StrCat("m = RawModule(code=", Quote(two),
                                  ")\n\ndef one(x):\n    m.get_function('add')(x)\n"
                                  "\ndef other(x):\n    m.get_function('sub')(x)\n"));
  EXPECT_THAT(Launchers(shard), ElementsAre("add: one 10-11", "sub: other 13-14"));
}

TEST(CudaStringTest, AStringIsLaunchedByItsOwnHostsOnly) {
  const std::string host = "void run() { add<<<1, 1>>>(0, 1); }\n";
  const v1::KernelShard shard =
      ExtractAndLink({{"a.cu", absl::StrCat(kAdd, host)},
                      {"b.py", absl::StrCat("s = ", Quote(kAdd),
                                            "\nt = ", Quote(absl::StrCat(kAdd, host)), "\n")}});
  EXPECT_THAT(Launchers(shard), ElementsAre("add: run 4-4", "add:  0-0", "add: run 10-10"));
}

TEST(CudaStringTest, MetalInAStringIsMetal) {
  const v1::KernelShard shard =
      ExtractMetal(absl::StrCat("import torch\nlibrary = torch.mps.compile_shader(", Quote(kFill),
                                ")\n\ndef fill(x):\n    library.fill(x)\n"));
  ASSERT_THAT(Forms(shard), ElementsAre("fill STRING METAL torch.mps.compile_shader"));
  EXPECT_EQ(shard.kernels(0).source(), kFill);
  EXPECT_EQ(shard.kernels(0).module(), kFill);
  EXPECT_TRUE(shard.kernels(0).self_contained());
  EXPECT_THAT(Launchers(shard), ElementsAre("fill: fill 8-9"));
}

TEST(CudaStringTest, OpenClIsNotMetal) {
  EXPECT_THAT(
      Places(ExtractMetal("s = '''\nkernel void f(global float* x) {\n  *x = 1;\n}\n'''\n")),
      IsEmpty());
}

TEST(CudaStringTest, TheBodyOfAMetalKernelIsItsLines) {
  const v1::KernelShard shard = ExtractMetal(
      "import mlx.core as mx\nhelper = '''\n#define TWO 2\nint unused;\n'''\n"
      "k = mx.fast.metal_kernel(\n    name='twice', input_names=['x', 'n'], output_names=['y'],\n"
      "    header=helper,\n    source='''\n    uint i = thread_position_in_grid.x;\n"
      "    y[i] = TWO * x[i];\n    ''')\n\ndef twice(x):\n    return k(inputs=[x, 1])\n");
  ASSERT_THAT(Forms(shard), ElementsAre("twice STRING METAL mlx.core.fast.metal_kernel"));
  const v1::Kernel& kernel = shard.kernels(0);
  EXPECT_EQ(kernel.source(), "    uint i = thread_position_in_grid.x;\n    y[i] = TWO * x[i];\n");
  EXPECT_EQ(kernel.first_line(), 10);
  EXPECT_EQ(kernel.last_line(), 11);
  EXPECT_EQ(kernel.body_offset(), 0);
  EXPECT_EQ(kernel.role(), v1::KERNEL_ROLE_KERNEL);
  constexpr absl::string_view kHead =
      "[[kernel]] void twice(const device x_t* x, const device n_t* n, device y_t* y, "
      "uint3 thread_position_in_grid [[thread_position_in_grid]])";
  EXPECT_EQ(kernel.signature(), kHead);
  EXPECT_EQ(kernel.module(),
            absl::StrCat("#define TWO 2\n\n", kHead, " {\n", kernel.source(), "}\n"));
  EXPECT_THAT(kernel.free_names(), ElementsAre("n_t", "x_t", "y_t"));
  ASSERT_EQ(kernel.replaced_texts_size(), 2);
  EXPECT_EQ(kernel.replaced_texts(0).original(), "");
  EXPECT_EQ(kernel.replaced_texts(0).replacement(), absl::StrCat(kHead, " {\n"));
  EXPECT_EQ(kernel.replaced_texts(0).first_line(), 10);
  EXPECT_EQ(kernel.replaced_texts(0).reason(), "around_body");
  EXPECT_EQ(kernel.replaced_texts(1).replacement(), "\n}");
  EXPECT_THAT(Launchers(shard), ElementsAre("twice: twice 14-15"));
}

TEST(CudaStringTest, TheBodyOfAnElementwiseKernelRunsForEachElement) {
  const v1::KernelShard shard = ExtractAndLink(
      "import cupy\nk = cupy.ElementwiseKernel(\n    'T x, raw int32 a', 'T y',\n"
      "    '''\n    y = x * a[i];\n    ''', 'scale')\n");
  ASSERT_THAT(Forms(shard), ElementsAre("scale STRING CUDA cupy.ElementwiseKernel"));
  EXPECT_EQ(shard.kernels(0).source(), "    y = x * a[i];\n");
  EXPECT_EQ(shard.kernels(0).module(),
            "extern \"C\" __global__ void scale(CArray<T> _raw_x, CArray<int32> a, "
            "CArray<T> _raw_y, CIndexer<1> _ind) {\n"
            "CUPY_FOR(i, _ind.size()) {\n_ind.set(i);\n"
            "const T &x = _raw_x[_ind.get()];\nT &y = _raw_y[_ind.get()];\n"
            "    y = x * a[i];\n}\n}\n");
}

TEST(CudaStringTest, ABodyWithoutLinesOfItsOwnIsListed) {
  const std::string call = "import mlx.core as mx\nk = mx.fast.metal_kernel('k', ['x'], ['y'], ";
  for (const auto& [body, reason] : std::vector<std::pair<std::string, std::string>>{
           {"'y[0] = x[0];'", "2 shared_line"},
           {"'''y[0] = x[0];\n'''", "2 shared_line"},
           {"'''\ny[0] = x[0];'''", "2 shared_line"},
           {"'''\ny[0] = x[0];\n''' + '''\n;\n'''", "2 not_verbatim"},
           {"'''\ny[0] = x[0];\n''' + last(y)", "2 not_verbatim"},
           {"'''\ny[0] = x[0];\n''' + ('a;' if fast else 'b;')", "2 not_verbatim"}}) {
    const v1::KernelShard shard = ExtractMetal(absl::StrCat(call, body, ")\n"));
    EXPECT_THAT(Places(shard), IsEmpty()) << body;
    EXPECT_THAT(Skipped(shard), ElementsAre(reason)) << body;
  }
  EXPECT_THAT(Places(ExtractMetal(call + "read())\n")), IsEmpty());
  EXPECT_THAT(Places(ExtractMetal("import a\na.metal_kernel('k', [], [], '''\nx;\n''')\n")),
              IsEmpty());
}

TEST(CudaStringTest, ABodyWithFieldsIsATemplate) {
  const v1::KernelShard shard = ExtractMetal(
      "import mlx.core as mx\ndef make(a):\n    source = f'''\n    y[0] = {a};\n    '''\n"
      "    return mx.fast.metal_kernel(f'k_{a}', ['x'], ['y'], source)\n");
  EXPECT_THAT(Forms(shard), ElementsAre("k_a TEMPLATE METAL mlx.core.fast.metal_kernel"));
}

TEST(CudaStringTest, ManyAndDeepStringsAreBounded) {
  std::string sum = "s = ''";
  std::string names = "a0 = ''\n";
  for (int i = 1; i < 300; ++i) {
    absl::StrAppend(&sum, " + ", Quote(absl::StrCat("__global__ void k", i, "() {\n}\n")));
    absl::StrAppend(&names, "a", i, " = a", i - 1, " + a", i - 1, " + ",
                    Quote(absl::StrCat("__global__ void k", i, "() {\n}\n")), "\n");
  }
  EXPECT_EQ(ExtractAndLink(sum + "\n").kernels_size(), 299);
  EXPECT_EQ(ExtractAndLink(names).kernels_size(), 299);
  EXPECT_THAT(Places(ExtractAndLink("a = a + b\nb = '''\n__global__ void k() {\n}\n''' + a\n")),
              ElementsAre("k 3-4"));
}

}  // namespace
}  // namespace kernelmill::extractor
