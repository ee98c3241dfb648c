#include "services/extractor/core/cuda/cuda_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/hash.h"
#include "common/dsl/names.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::KernelShard Extract(const std::string& text, size_t max_bytes = 1 << 20) {
  v1::KernelShard shard;
  v1::ExtractedFile& entry = *shard.add_files();
  if (!AddCudaKernels("csrc/a.cu", text, max_bytes, entry, shard).ok()) entry.set_failed("failed");
  return shard;
}

// As people write them: a whole file with all that the extractor tells of one.
constexpr char kSoftmax[] = R"cuda(// Copyright Somebody. { not code
#include <cuda_runtime.h>
#include "reduce.cuh"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#define DISPATCH(T, ...)        \
  switch (T) {                  \
    case kHalf: __VA_ARGS__();  \
  }

namespace ops {
namespace {

constexpr int kThreads = 1'024;

// The maximum of a warp.
template <typename T>
__device__ __forceinline__ T warp_max(T value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

}  // namespace

template <typename T, int kBlock = 256,
          typename = std::enable_if_t<std::is_floating_point<T>::value>>
__global__ void __launch_bounds__(kBlock, /*blocks=*/2)
    softmax_kernel(const T* __restrict__ in, T* __restrict__ out, int rows, int columns) {
  extern __shared__ char raw[];  // "{"
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float peak = warp_max<float>(-INFINITY);
#if __CUDA_ARCH__ >= 800
    if (peak > 0.f) {
      cg::this_thread_block().sync();
#else
    if (peak >= 0.f) {
      __syncthreads();
#endif
    }
    detail::store(out + row * columns, peak, '}');
  }
}

void softmax(const Tensor& in, Tensor& out) {
  DISPATCH(in.dtype(), [&] {
    const dim3 grid(CEIL_DIV(in.rows(), kThreads));
    softmax_kernel<scalar_t, kThreads>
        <<<grid, kThreads, 0, stream()>>>(in.data(), out.data(), in.rows(), in.columns());
  });
}

}  // namespace ops
)cuda";

TEST(CudaKernelsTest, AMacroThatWritesKernelsIsListed) {
  const v1::KernelShard shard = Extract(
      "#define UNARY(T, NAME, F) \\\n  extern \"C\" __global__ void NAME(T* x) { \\\n    *x = "
      "F(*x); \\\n  }\n"
      "UNARY(float, exp_f32, expf)\n#define KERNEL(n) __global__ void n()\n"
      "#define HELP(T) __device__ T id(T x) { return x; }\n");
  EXPECT_EQ(shard.kernels_size(), 0);
  ASSERT_EQ(shard.files(0).skipped_strings_size(), 1);
  EXPECT_EQ(shard.files(0).skipped_strings(0).line(), 1);
  EXPECT_EQ(shard.files(0).skipped_strings(0).reason(), "macro");
}

TEST(CudaKernelsTest, AWholeFileIsReadAsItIsWritten) {
  const std::string text = kSoftmax;
  const v1::KernelShard shard = Extract(text);
  EXPECT_FALSE(shard.files(0).parse_errors());
  EXPECT_EQ(shard.files(0).kernels(), 2);
  ASSERT_EQ(shard.kernels_size(), 2);
  const v1::Kernel& device = shard.kernels(0);
  EXPECT_EQ(device.qualname(), "ops::warp_max");
  EXPECT_EQ(device.role(), v1::KERNEL_ROLE_DEVICE);
  EXPECT_EQ(device.first_line(), 17);
  EXPECT_EQ(device.last_line(), 24);
  EXPECT_THAT(device.calls(), ElementsAre("__shfl_xor_sync", "max"));
  EXPECT_THAT(device.cuda().launches(), IsEmpty());

  const v1::Kernel& kernel = shard.kernels(1);
  EXPECT_EQ(kernel.path(), "csrc/a.cu");
  EXPECT_EQ(kernel.name(), "softmax_kernel");
  EXPECT_EQ(kernel.qualname(), "ops::softmax_kernel");
  EXPECT_EQ(kernel.dsl(), dsl::kCuda);
  EXPECT_EQ(kernel.role(), v1::KERNEL_ROLE_KERNEL);
  EXPECT_EQ(kernel.first_line(), 28);
  EXPECT_EQ(kernel.last_line(), 45);
  EXPECT_EQ(text.substr(static_cast<size_t>(kernel.first_byte()), kernel.source().size()),
            kernel.source());
  EXPECT_EQ(kernel.sha256(), Sha256Hex(kernel.source()));
  EXPECT_EQ(kernel.signature(),
            "template <typename T, int kBlock = 256,\n"
            "          typename = std::enable_if_t<std::is_floating_point<T>::value>>\n"
            "__global__ void __launch_bounds__(kBlock, /*blocks=*/2)\n"
            "    softmax_kernel(const T* __restrict__ in, T* __restrict__ out, int rows, int "
            "columns)");
  EXPECT_EQ(kernel.source().substr(static_cast<size_t>(kernel.body_offset()), 39),
            "  extern __shared__ char raw[];  // \"{\"");
  ASSERT_EQ(kernel.parameters_size(), 4);
  EXPECT_EQ(kernel.parameters(0).name(), "in");
  EXPECT_EQ(kernel.parameters(3).name(), "columns");
  EXPECT_THAT(kernel.calls(), ElementsAre("__syncthreads", "cg::this_thread_block", "detail::store",
                                          "sync", "warp_max"));
  EXPECT_FALSE(kernel.parse_error());
  EXPECT_THAT(kernel.cuda().template_parameters(),
              ElementsAre("typename T, int kBlock = 256,\n          typename = "
                          "std::enable_if_t<std::is_floating_point<T>::value>"));
  EXPECT_EQ(kernel.cuda().launch_bounds(), "kBlock, /*blocks=*/2");
  ASSERT_EQ(kernel.cuda().launches_size(), 1);
  const v1::CudaLaunch& launch = kernel.cuda().launches(0);
  EXPECT_EQ(launch.first_line(), 50);
  EXPECT_EQ(launch.last_line(), 51);
  EXPECT_EQ(launch.text(),
            "softmax_kernel<scalar_t, kThreads>\n        <<<grid, kThreads, 0, stream()>>>"
            "(in.data(), out.data(), in.rows(), in.columns())");
  EXPECT_EQ(launch.host_function(), "ops::softmax");
  EXPECT_EQ(launch.host_first_line(), 47);
  EXPECT_EQ(launch.host_last_line(), 53);
}

TEST(CudaKernelsTest, TokensAreThoseOfTheWholeLinesButCommentsAndDirectives) {
  const v1::KernelShard shard =
      Extract("int x;\nint y; __global__ void k() {  // c\n#pragma unroll\n  f(1);\n} int z;\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).source(),
            "int y; __global__ void k() {  // c\n#pragma unroll\n  f(1);\n} int z;\n");
  EXPECT_EQ(shard.kernels(0).signature(), "__global__ void k()");
  EXPECT_EQ(shard.kernels(0).tokens(), 3 + 6 + 5 + 1 + 3);
}

TEST(CudaKernelsTest, EveryLineEndGivesTheSamePlace) {
  for (const char* line_end : {"\n", "\r\n", "\r"}) {
    const std::string text = absl::StrReplaceAll(
        "// a {\n#define X \\\n {\n\n  __device__ int f()\n  {\n    return 1;\n  }\nint x;\n",
        {{"\n", line_end}});
    const v1::KernelShard shard = Extract(text);
    ASSERT_EQ(shard.kernels_size(), 1);
    EXPECT_EQ(shard.kernels(0).first_line(), 5);
    EXPECT_EQ(shard.kernels(0).last_line(), 8);
    EXPECT_EQ(shard.kernels(0).column(), 2);
  }
}

TEST(CudaKernelsTest, TheBodyBeginsOnItsLine) {
  const auto body = [](const std::string& text) {
    const v1::Kernel kernel = Extract(text).kernels(0);
    return kernel.source().substr(static_cast<size_t>(kernel.body_offset()));
  };
  EXPECT_EQ(body("__global__ void k()\n{ // c\n  f();\n}\n"), "  f();\n}\n");
  EXPECT_EQ(body("__global__ void k()\n{ f();\n}\n"), "{ f();\n}\n");
  EXPECT_EQ(body("__global__ void k() { f(); }"), "__global__ void k() { f(); }");
}

TEST(CudaKernelsTest, UnfitBracketsMarkTheFileAndTheFunctionThatHoldsThem) {
  const v1::KernelShard shard =
      Extract("__global__ void a() { f((1); }\n__global__ void b() { f(1); }\n");
  ASSERT_EQ(shard.kernels_size(), 2);
  EXPECT_TRUE(shard.files(0).parse_errors());
  EXPECT_TRUE(shard.kernels(0).parse_error());
  EXPECT_FALSE(shard.kernels(1).parse_error());
}

TEST(CudaKernelsTest, KernelsThatAFunctionReturnsAreLaunchedByItsCaller) {
  const v1::KernelShard shard = Extract(
      "__global__ void a(int) {}\n__global__ void b(int) {}\n__global__ void c(int) {}\n"
      "#define PICK(n) if (x == n) return b\n#define EACH(m) m(1) m(2)\n"
      "#define RUN_C(n) c<<<n, 1>>>(n);\n"
      "F pick(int x) { PICK(2); return &ns::a; }\n"
      "void host(int x) { F kernel = pick(x); kernel<<<1, 1>>>(x); EACH(RUN_C) }\n");
  ASSERT_EQ(shard.kernels_size(), 3);
  for (const v1::Kernel& kernel : shard.kernels()) {
    ASSERT_EQ(kernel.cuda().launches_size(), 1) << kernel.name();
    EXPECT_EQ(kernel.cuda().launches(0).host_function(), "host");
  }
}

TEST(CudaKernelsTest, LaunchesAreBoundedInCountAndSize) {
  std::string text = "__global__ void k(int) { }\nvoid run() {\n";
  absl::StrAppend(&text, "k<<<1, 1>>>(", std::string(3000, '1'), ");\n");
  for (int i = 0; i < 100; ++i) text += "k<<<1, 1>>>(1);\n";
  text += "}\n";
  const v1::KernelShard shard = Extract(text);
  ASSERT_EQ(shard.kernels_size(), 1);
  ASSERT_EQ(shard.kernels(0).cuda().launches_size(), 16);
  EXPECT_EQ(shard.kernels(0).cuda().launches(0).text(), "");
  EXPECT_EQ(shard.kernels(0).cuda().launches(0).first_line(), 3);
  EXPECT_EQ(shard.kernels(0).cuda().launches(1).text(), "k<<<1, 1>>>(1)");
  EXPECT_EQ(Extract(text, 100).kernels(0).cuda().launches_size(), 4);
}

TEST(CudaKernelsTest, FunctionsWithinFunctionsAreBounded) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "__device__ void f() { struct S {\n";
  for (int i = 0; i < 100; ++i) text += "}; }\n";
  const v1::KernelShard shard = Extract(text, 8 * text.size());
  EXPECT_EQ(shard.files(0).failed(), "failed");
  EXPECT_EQ(shard.kernels_size(), 0);
}

TEST(CudaKernelsTest, ATextOfJinjaIsATemplate) {
  EXPECT_EQ(
      Extract("__global__ void k() {\n{%- if x %}\nf();\n{%- endif %}\n}\n").kernels(0).form(),
      v1::KERNEL_FORM_TEMPLATE);
  EXPECT_EQ(Extract("__global__ void k() { f({{ name }}_x); }\n").kernels(0).form(),
            v1::KERNEL_FORM_TEMPLATE);
  EXPECT_EQ(Extract("__global__ void k() { int a[1][1] = {{1}}; asm(\"{%0}\" :: \"r\"(a)); }\n")
                .kernels(0)
                .form(),
            v1::KERNEL_FORM_QUALIFIED);
}

TEST(CudaKernelsTest, LaunchesThroughMacrosCallsAndLocalNamesCount) {
  const v1::KernelShard shard = Extract(
      "__global__ void a(int) {}\n__global__ void b(int) {}\n__global__ void c(int) {}\n"
      "__global__ void d(int) {}\n__global__ void e(int) {}\n__global__ void f(int) {}\n"
      "#define RUN(kernel, ...) \\\n  kernel<<<1, 1>>>(__VA_ARGS__)\n"
      "#define RUN_B(x) RUN(b, x)\n"
      "void host(bool y) {\n  RUN(a, 1);\n  RUN_B(1);\n  LAUNCH_KERNEL((ns::c<1, 2>), 1, 1);\n"
      "  cudaLaunchKernel((void*)d, 1, 1, args, 0, 0);\n  auto g = y ? &e : f;\n  g<<<1, 1>>>(1);\n"
      "  CUDA_KERNEL_LAUNCH_CHECK();\n}\n");
  ASSERT_EQ(shard.kernels_size(), 6);
  for (const v1::Kernel& kernel : shard.kernels()) {
    ASSERT_EQ(kernel.cuda().launches_size(), 1) << kernel.name();
    EXPECT_EQ(kernel.cuda().launches(0).host_function(), "host");
  }
  EXPECT_EQ(shard.kernels(1).cuda().launches(0).text(), "RUN_B(1)");
  EXPECT_EQ(shard.kernels(2).cuda().launches(0).text(), "LAUNCH_KERNEL((ns::c<1, 2>), 1, 1)");
}

v1::KernelShard ExtractAt(const std::string& path, const std::string& text) {
  v1::KernelShard shard;
  v1::ExtractedFile& entry = *shard.add_files();
  EXPECT_TRUE(AddCudaKernels(path, text, 1000, entry, shard).ok());
  return shard;
}

TEST(CudaKernelsTest, AKernelOfMetalHasItsQualifierAsAWordOrInAnAttribute) {
  const std::string text =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "#define KERNEL kernel\n"
      "float helper(float x) { return x; }\n"
      "kernel void a(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
      "  x[i] = helper(x[i]);\n}\n"
      "template <typename T>\n[[kernel]] void b(device T* x) { x[0] = 1; }\n"
      "[[ kernel, max_total_threads_per_threadgroup(64) ]] void c(device int* x) {}\n"
      "[[host_name(\"d_host\")]] kernel void d(device int* x) {}\n"
      "KERNEL void e(device int* x) {}\n"
      "template [[host_name(\"b_float\")]] [[kernel]] void b<float>(device float* x);\n"
      "struct S { [[nodiscard]] int f() const { return 1; } };\n";
  const v1::KernelShard shard = ExtractAt("a/k.metal", text);
  ASSERT_EQ(shard.kernels_size(), 5);
  std::string names;
  for (const v1::Kernel& kernel : shard.kernels()) {
    names += kernel.name();
    EXPECT_EQ(kernel.dsl(), "metal");
    EXPECT_EQ(kernel.role(), v1::KERNEL_ROLE_KERNEL);
  }
  EXPECT_EQ(names, "abcde");
  EXPECT_EQ(shard.kernels(1).first_line(), 8);
  EXPECT_EQ(shard.kernels(0).parameters(0).name(), "x");
}

TEST(CudaKernelsTest, AHeaderIsMetalByItsMarkersUnlessItHasCudas) {
  const std::string metal = "kernel void k(device int* x) {}\n";
  EXPECT_EQ(ExtractAt("a/k.h", metal).kernels_size(), 1);
  EXPECT_EQ(ExtractAt("a/k.cpp", metal).kernels_size(), 0);
  const v1::KernelShard both = ExtractAt("a/k.h", metal + "__device__ int f() { return 1; }\n");
  ASSERT_EQ(both.kernels_size(), 1);
  EXPECT_EQ(both.kernels(0).dsl(), "cuda");
}

// Returns "qualname role first-last found_by" for each function of a text in SYCL.
std::vector<std::string> Sycl(const std::string& text) {
  std::vector<std::string> found;
  const v1::KernelShard shard = ExtractAt("a/k.cpp", "#include <sycl/sycl.hpp>\n" + text);
  for (const v1::Kernel& kernel : shard.kernels()) {
    EXPECT_EQ(kernel.dsl(), "sycl");
    const bool device = kernel.role() == v1::KERNEL_ROLE_DEVICE;
    found.push_back(absl::StrCat(kernel.qualname(), device ? " device " : " kernel ",
                                 kernel.first_line() - 1, "-", kernel.last_line() - 1,
                                 kernel.found_by().empty() ? "" : " ", kernel.found_by()));
  }
  return found;
}

TEST(SyclKernelsTest, ALambdaIsAKernelWithTheCallThatTakesIt) {
  const std::string text =
      "namespace n {\n"
      "void scale(sycl::queue& q, float* x, int size) {\n"
      "  q.submit([&](sycl::handler& h) {\n"
      "    h.parallel_for<class scaled>(\n"
      "        sycl::range<1>(size),\n"
      "        [=](sycl::id<1> i) {\n"
      "          x[i] *= 2;\n"
      "        });\n"
      "  });\n"
      "  q.single_task([=] { x[0] = 1; });\n"
      "  q.single_task<m::Named<float, 2>>([=]() [[intel::kernel_args_restrict]] { x[0] = 1; });\n"
      "  q->parallel_for<3>(r, sycl::reduction(x, +), [=](auto i, auto& sum) mutable { f(); });\n"
      "}\n"
      "}  // namespace n\n";
  EXPECT_THAT(Sycl(text), ElementsAre("n::scale::scaled kernel 4-8 parallel_for",
                                      "n::scale::scale_1 kernel 10-10 single_task",
                                      "n::scale::Named kernel 11-11 single_task",
                                      "n::scale::scale_2 kernel 12-12 parallel_for"));
  const v1::KernelShard shard = ExtractAt("a/k.cpp", "#include <sycl/sycl.hpp>\n" + text);
  const v1::Kernel& kernel = shard.kernels(0);
  EXPECT_EQ(kernel.name(), "scaled");
  EXPECT_EQ(kernel.form(), v1::KERNEL_FORM_KERNEL_ARGUMENT);
  EXPECT_EQ(kernel.signature(),
            "h.parallel_for<class scaled>(\n        sycl::range<1>(size),\n"
            "        [=](sycl::id<1> i)");
  ASSERT_EQ(kernel.parameters_size(), 1);
  EXPECT_EQ(kernel.parameters(0).name(), "i");
  ASSERT_EQ(kernel.cuda().launches_size(), 1);
  EXPECT_EQ(kernel.cuda().launches(0).host_function(), "n::scale");
  EXPECT_EQ(kernel.cuda().launches(0).host_last_line(), 14);
}

TEST(SyclKernelsTest, ALambdaMayBeAVariableOrHaveAnItem) {
  EXPECT_THAT(Sycl("void f(sycl::queue q) {\n"
                   "  auto kernel = [=](sycl::id<1> i) {\n    x[i] = 1;\n  };\n"
                   "  auto other = [=](int i) { return i; }, other_kernel = [] { return a; }();\n"
                   "  q.parallel_for<class k>(r, kernel);\n"
                   "  launch(q, r,\n         [=](const sycl::nd_item<3>& it) { g(it); });\n"
                   "  use(other, [](int i) { return i; }), q.parallel_for(r, other_kernel);\n"
                   "  return [=](sycl::nd_item<2> it) { g(it); };\n"
                   "}\n"),
              ElementsAre("f::k kernel 2-4 parallel_for", "f::f_1 kernel 7-8 nd_item",
                          "f::f_2 kernel 10-10 nd_item"));
}

TEST(SyclKernelsTest, WhatIsWithinAKernelIsAPartOfIt) {
  EXPECT_THAT(Sycl("void f(sycl::queue q) {\n"
                   "  q.parallel_for_work_group<class k>(r, [=](sycl::group<2> g) {\n"
                   "    g.parallel_for_work_item([&](sycl::h_item<2> it) { a(it); });\n"
                   "    auto inner = [&](sycl::nd_item<2> it) { b(it); };\n"
                   "  });\n"
                   "}\n"),
              ElementsAre("f::k kernel 2-5 parallel_for_work_group"));
}

TEST(SyclKernelsTest, OtherFunctionsOfTheseNamesTakeNoKernels) {
  EXPECT_THAT(Sycl("void f(sycl::queue q, int* x) {\n"
                   "  tbb::parallel_for(0, 1, [=](int i) { x[i] = 1; });\n"
                   "  parallel_for(0, 1, [=](int i) { x[i] = 1; });\n"
                   "  q.submit([&](sycl::handler& h) { h.host_task([=] { g(); }); });\n"
                   "  int a[2] = {x[0], x[1]};\n"
                   "}\n"),
              IsEmpty());
  EXPECT_THAT(Sycl("void f(sycl::queue q) {\n"
                   "  namespace e = sycl::ext::oneapi::experimental;\n"
                   "  sycl::ext::oneapi::experimental::nd_launch(q, r, [=](auto i) { g(); });\n"
                   "}\n"),
              ElementsAre("f::f_1 kernel 3-3 nd_launch"));
}

TEST(SyclKernelsTest, AnObjectIsGivenByItsClass) {
  EXPECT_THAT(
      Sycl("struct Typed {\n"
           "  Typed(float* x) : x(x) {}\n"
           "  [[sycl::reqd_sub_group_size(32)]] void operator()(sycl::nd_item<1> it) const {\n"
           "    x[0] = 1;\n"
           "  }\n"
           "  int operator()(int i) const { return i; }\n"
           "};\n"
           "template <typename T>\nclass Plain {\n public:\n"
           "  void operator()(sycl::id<1> i) const { x[i] = 1; }\n};\n"
           "struct Single { void operator()() const {} };\n"
           "struct Unused { void operator()() const {} };\n"
           "struct Late {\n  void operator() [[sycl::reqd_sub_group_size(32)]] (\n"
           "      const sycl::nd_item<3>& it) const { x[0] = 1; }\n};\n"
           "void f(sycl::queue q) {\n"
           "  q.parallel_for(r, Typed(x));\n"
           "  Plain<float> plain{x};\n"
           "  q.parallel_for(r, plain);\n"
           "  auto single = Single();\n"
           "  q.single_task(single);\n"
           "}\n"),
      ElementsAre(
          "Typed::operator() kernel 3-5 nd_item", "Plain::operator() kernel 11-11 parallel_for",
          "Single::operator() kernel 13-13 single_task", "Late::operator() kernel 16-17 nd_item"));
  const v1::KernelShard shard =
      ExtractAt("a/k.h",
                "struct Task {\n"
                "  void operator()(sycl::id<1> i) const { f(); }\n"
                "  void run(sycl::queue q) { q.parallel_for(r, *this); }\n};\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).name(), "Task");
  EXPECT_EQ(shard.kernels(0).cuda().launches(0).host_function(), "Task::run");
}

TEST(SyclKernelsTest, AFunctionWithAnItemIsCalledByKernels) {
  EXPECT_THAT(Sycl("template <int N>\n"
                   "void add(float* x, const sycl::nd_item<3>& it) {\n  x[0] = 1;\n}\n"
                   "SYCL_EXTERNAL float g(float x) { return x; }\n"
                   "void declared(sycl::nd_item<1> it);\n"
                   "void host(std::function<void(sycl::nd_item<1>)> f) { f(); }\n"),
              ElementsAre("add device 1-4", "g device 5-5"));
}

TEST(SyclKernelsTest, CommentsDoNotMakeAFileCudasAndMacrosAreListed) {
  EXPECT_THAT(Sycl("// __global__ void old(float* x)\n"
                   "void f(sycl::queue q) { q.single_task([=] { g(); }); }\n"),
              ElementsAre("f::f_1 kernel 2-2 single_task"));
  const v1::KernelShard shard =
      ExtractAt("a/k.cpp",
                "#include <sycl/sycl.hpp>\n"
                "#define LAUNCH(q, body) q.parallel_for(r, [=](sycl::nd_item<1> it) { body; })\n");
  EXPECT_EQ(shard.kernels_size(), 0);
  ASSERT_EQ(shard.files(0).skipped_strings_size(), 1);
  EXPECT_EQ(shard.files(0).skipped_strings(0).reason(), "macro");
}

TEST(CudaKernelsTest, PathsAndMarkersTellWhatMayHoldThem) {
  for (const char* path : {"a.cu", "b/a.cuh", "a.hip", "a.hip.h", "a.hpp", "a.metal"}) {
    EXPECT_TRUE(IsCudaPath(path)) << path;
  }
  for (const char* path : {"a.py", "cu", "a.cu.py", "a.jinja", ""}) {
    EXPECT_FALSE(IsCudaPath(path)) << path;
  }
  EXPECT_TRUE(MayHoldCuda("x __global__ y"));
  EXPECT_TRUE(MayHoldCuda("__device__"));
  EXPECT_FALSE(MayHoldCuda("__host__ int f() {}"));
}

TEST(CudaKernelsTest, ALineOf8MiBIsReadInLinearTime) {
  std::string text = "__global__ void k() {}";
  while (text.size() < (8u << 20)) text += " __device__ int f(A<int> a) { return g(a); }";
  const v1::KernelShard shard = Extract(text, 1000);
  EXPECT_EQ(shard.files(0).failed(), "failed");
}

}  // namespace
}  // namespace kernelmill::extractor

namespace kernelmill::extractor::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::Kernel Described(absl::string_view list, absl::string_view body = "") {
  const std::string text = absl::StrCat("__global__ void k(", list, ") {", body, "}");
  const Code code = Lex(text);
  const Brackets brackets = MatchBrackets(code);
  const Findings found = FindFunctions(code, brackets);
  v1::Kernel kernel;
  if (found.functions.size() == 1) AddCudaParameters(code, brackets, found.functions[0], kernel);
  return kernel;
}

// "name: type = value" of each.
std::vector<std::string> Parameters(absl::string_view list) {
  std::vector<std::string> written;
  const v1::Kernel kernel = Described(list);
  for (const v1::Parameter& parameter : kernel.parameters()) {
    const std::string value =
        parameter.default_value().empty() ? "" : absl::StrCat(" = ", parameter.default_value());
    written.push_back(absl::StrCat(parameter.name(), ": ", parameter.annotation(), value));
  }
  return written;
}

// "name role rule" of each.
std::vector<std::string> Roles(absl::string_view list, absl::string_view body = "") {
  std::vector<std::string> roles;
  const v1::Kernel kernel = Described(list, body);
  for (const v1::Parameter& parameter : kernel.parameters()) {
    roles.push_back(absl::StrCat(parameter.name(), " ",
                                 v1::ParameterRole_Name(parameter.role()).substr(15), " ",
                                 parameter.rule()));
  }
  return roles;
}

TEST(CudaParametersTest, TypesAreWrittenWithoutTheName) {
  EXPECT_THAT(Parameters("const float* __restrict__ a, T b, n::U<int, 3> const& c, Args&&... d, "
                         "int e[4], float (&f)[N], void (*g)(int, int), unsigned h = sizeof(int), "
                         "const __grid_constant__ Params p, dim3 q = dim3(1, 2), struct S s"),
              ElementsAre("a: const float* __restrict__", "b: T", "c: n::U<int, 3> const&",
                          "d: Args&&...", "e: int [4]", "f: float (&)[N]", "g: void (*)(int, int)",
                          "h: unsigned = sizeof(int)", "p: const __grid_constant__ Params",
                          "q: dim3 = dim3(1, 2)", "s: struct S"));
  EXPECT_THAT(Parameters("const   int *\n  /* in */ a, // first\n  T b"),
              ElementsAre("a: const int *", "b: T"));
}

TEST(CudaParametersTest, ThoseWithoutANameHaveATypeAlone) {
  EXPECT_THAT(Parameters(""), IsEmpty());
  EXPECT_THAT(Parameters("void"), IsEmpty());
  EXPECT_THAT(Parameters("int, float*, n::T, A<int, 2>, const T& /* x */"),
              ElementsAre(": int", ": float*", ": n::T", ": A<int, 2>", ": const T&"));
}

TEST(CudaParametersTest, RolesComeFromTypesNamesAndUse) {
  EXPECT_THAT(Roles("const float* x, PackedTensorAccessor32<T, 2> y, const CUtensorMap map, "
                    "int stride_x, int64_t lda, int n, const int rows, int limit, float eps, "
                    "bool flag, int axis, float size, index_t total_length",
                    "if (threadIdx.x < limit && eps < 1.f) f<axis>();"),
              ElementsAre("x POINTER annotation:pointer", "y POINTER annotation:accessor",
                          "map POINTER annotation:accessor", "stride_x STRIDE name:stride",
                          "lda STRIDE name:lda", "n SIZE name:n", "rows SIZE name:rows",
                          "limit SIZE usage:compared", "eps OTHER none", "flag OTHER none",
                          "axis OTHER none", "size OTHER none", "total_length SIZE name:length"));
}

TEST(CudaParametersTest, HostileListsTakeLinearTime) {
  for (const char* unit : {"a<", "a<b>::", "(", "a(", "a<b>(c),", "a,", "a::", "T a = b,"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += unit;
    Described(text, text);
  }
}

std::vector<std::string> Calls(absl::string_view body) {
  const std::string text = absl::StrCat("__global__ void k(int x) {", body, "}");
  const Code code = Lex(text);
  const Brackets brackets = MatchBrackets(code);
  const Findings found = FindFunctions(code, brackets);
  if (found.functions.size() != 1) return {"?"};
  return CalledNames(code, brackets, found.functions[0]);
}

TEST(CudaUsesTest, CallsAreSortedAndWithTheirNamespaces) {
  EXPECT_THAT(Calls("__syncthreads(); if (f(g<T, 2>(1))) return n::h<A<B>>::make(x); p->m(1);"
                    "o.template t<3>(); for (;;) { while (a < b(1)) {} } else f();"),
              ElementsAre("__syncthreads", "b", "f", "g", "m", "n::h::make", "t"));
}

TEST(CudaUsesTest, DeclarationsCastsAndLaunchesAreNoCalls) {
  EXPECT_THAT(Calls("float4 v(1); A<int> w(2); int y = int(x); z = (float)(x); sizeof(x);"
                    "static_cast<int>(x); asm volatile(\"\"); u<<<1, 2>>>(x); y = x > (z);"),
              IsEmpty());
}

TEST(CudaUsesTest, HostileBodiesTakeLinearTime) {
  for (const char* unit : {"a<", "a<b>::", "(", "a(", "a<b>(c),", "a,", "a::"}) {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += unit;
    Calls(text);
    EXPECT_THAT(Calls(text + ";f();"), ::testing::Contains(::testing::StrEq("f"))) << unit;
  }
}

}  // namespace
}  // namespace kernelmill::extractor::cuda
