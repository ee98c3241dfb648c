#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/cuda/known_names.h"
#include "services/extractor/core/link/link.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(CudaModuleTest, HelpersOfTheFileComeAlongInItsOrder) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "#include <cuda_fp16.h>\n"
                                     "#define SQUARE(x) \\\n  ((x) * (x))\n"
                                     "#define UNUSED 1\n"
                                     "constexpr int kN = 4;\n"
                                     "struct Pair { float a; float b; };\n"
                                     "__device__ float unused() { return 0.f; }\n"
                                     "template <typename T>\n"
                                     "__device__ T twice(T x) { return x + x; }\n"
                                     "__device__ float sum(const Pair& p) {\n"
                                     "  return twice(p.a) + SQUARE(p.b);\n"
                                     "}\n"
                                     "__global__ void k(Pair* p, half* out, int n) {\n"
                                     "  int i = threadIdx.x;\n"
                                     "  if (i < n) out[i] = __float2half(sum(p[i]) * kN);\n"
                                     "}\n"}});
  EXPECT_EQ(kernel.module(),
            "#include <cuda_fp16.h>\n"
            "\n"
            "#define SQUARE(x) \\\n  ((x) * (x))\n"
            "\n"
            "constexpr int kN = 4;\n"
            "\n"
            "struct Pair { float a; float b; };\n"
            "\n"
            "template <typename T>\n"
            "__device__ T twice(T x) { return x + x; }\n"
            "\n"
            "__device__ float sum(const Pair& p) {\n"
            "  return twice(p.a) + SQUARE(p.b);\n"
            "}\n"
            "\n"
            "__global__ void k(Pair* p, half* out, int n) {\n"
            "  int i = threadIdx.x;\n"
            "  if (i < n) out[i] = __float2half(sum(p[i]) * kN);\n"
            "}\n");
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
  EXPECT_THAT(kernel.imports(), ElementsAre("#include <cuda_fp16.h>\n"));
  ASSERT_EQ(kernel.pieces_size(), 7);
  EXPECT_EQ(kernel.pieces(1).first_line(), 2);
  EXPECT_EQ(kernel.pieces(1).last_line(), 3);
  EXPECT_EQ(kernel.pieces(1).kind(), v1::Definition::KIND_CONSTANT);
  EXPECT_EQ(kernel.pieces(3).kind(), v1::Definition::KIND_CLASS);
  EXPECT_EQ(kernel.pieces(6).first_line(), 13);
}

TEST(CudaModuleTest, WhatIncludedFilesDefineComesFromThere) {
  const v1::Kernel kernel = Linked({{"csrc/k.cu",
                                     "#include \"../inc/reduce.cuh\"\n#include \"lib/types.h\"\n"
                                     "__global__ void k(Real* x) { x[0] = reduce(x[1]); }\n"},
                                    {"inc/reduce.cuh",
                                     "#pragma once\n#include \"warp.cuh\"\n"
                                     "__device__ float reduce(float x) { return warp_sum(x); }\n"},
                                    {"inc/warp.cuh",
                                     "__device__ float warp_sum(float x) {\n"
                                     "  return __shfl_xor_sync(0xffffffffu, x, 1);\n}\n"},
                                    {"third/lib/types.h", "typedef float Real;\n"}});
  EXPECT_TRUE(kernel.self_contained()) << kernel.module();
  std::vector<std::string> paths;
  for (const v1::ModulePiece& piece : kernel.pieces()) paths.push_back(piece.path());
  EXPECT_THAT(paths,
              ElementsAre("inc/warp.cuh", "inc/reduce.cuh", "third/lib/types.h", "csrc/k.cu"));
  EXPECT_THAT(kernel.module(), Not(HasSubstr("#include")));
}

TEST(CudaModuleTest, NamespacesAreOpenedAgain) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "namespace a {\nnamespace {\nconstexpr int kN = 1;\n}\n"
                                     "namespace b {\n__device__ int f() { return kN; }\n}\n"
                                     "}  // namespace a\n"
                                     "namespace a::c {\n"
                                     "__global__ void k(int* x) { *x = b::f(); }\n}\n"}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.module(),
            "namespace a {\nnamespace {\nconstexpr int kN = 1;\n\n}  // namespace\n\n"
            "namespace b {\n__device__ int f() { return kN; }\n\n}  // namespace b\n"
            "}  // namespace a\n\n"
            "namespace a::c {\n__global__ void k(int* x) { *x = b::f(); }\n\n"
            "}  // namespace a::c\n");
}

TEST(CudaModuleTest, ConditionalsStandAroundWhatTheyChoose) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "#ifdef USE_FAST\n#define SCALE 2\n#else\n#define SCALE 1\n"
                                     "#endif\n"
                                     "__global__ void k(int* x) { *x = SCALE; }\n"}});
  EXPECT_EQ(kernel.module(),
            "#ifdef USE_FAST\n#define SCALE 2\n#else\n#define SCALE 1\n#endif\n"
            "\n__global__ void k(int* x) { *x = SCALE; }\n");
  EXPECT_TRUE(kernel.self_contained());
}

TEST(CudaModuleTest, TheKernelsOwnBranchesHoldAndTheOthersAreLeftOut) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "#ifdef USE_ROCM\n__device__ int f() { return 1; }\n#else\n"
                                     "__device__ int f() { return 2; }\n"
                                     "__global__ void k(int* x) { *x = f(); }\n#endif\n"}});
  EXPECT_EQ(kernel.module(),
            "__device__ int f() { return 2; }\n\n__global__ void k(int* x) { *x = f(); }\n");
}

TEST(CudaModuleTest, OverloadsSpecializationsAndMembersComeTogether) {
  const v1::Kernel kernel = Linked(
      {{"a.cu",
        "template <typename T> struct Traits;\ntemplate <> struct Traits<int> { using type = "
        "int; };\n"
        "struct V { int x; __device__ int get() const; };\n"
        "__device__ int V::get() const { return x; }\n"
        "__device__ V operator+(V a, V b) { return {a.x + b.x}; }\n"
        "__device__ int f(int x) { return x; }\n__device__ float f(float x) { return x; }\n"
        "__global__ void k(V* v) { v[0] = v[0] + v[1]; Traits<int>::type t = f(v[0].get()); "
        "v[0].x = t; }\n"}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.pieces_size(), 8);
}

TEST(CudaModuleTest, AMethodComesWithItsClass) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "constexpr int kN = 2;\nstruct S {\n  int x;\n  __device__ "
                                     "int f() { return x * kN; }\n};\n"}},
                                   "f");
  EXPECT_EQ(kernel.module(),
            "constexpr int kN = 2;\n\n"
            "struct S {\n  int x;\n  __device__ int f() { return x * kN; }\n};\n");
  EXPECT_TRUE(kernel.self_contained());
}

TEST(CudaModuleTest, AMethodOutsideItsClassKnowsItsMembers) {
  for (const char* method : {"__device__ int S<2>::f() { return data; }\n",
                             "template <int N>\n__device__ int S<N>::f() { return data; }\n"}) {
    const v1::Kernel kernel =
        Linked({{"a.cu", absl::StrCat("template <int N>\nstruct S {\n  int data;\n  __device__ int "
                                      "f();\n};\ntemplate <>\nstruct S<2> {\n  int data;\n  "
                                      "__device__ int f();\n};\n",
                                      method)}},
               "f");
    EXPECT_THAT(kernel.free_names(), IsEmpty()) << method;
    EXPECT_TRUE(kernel.self_contained());
  }
}

TEST(CudaModuleTest, WhatTheCompilerDefinesIsNoNameOfTheProgram) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "namespace n { constexpr int operator\"\"_I(unsigned long long x) { return x; } }\n"
               "using n::operator\"\"_I;\n"
               "template <typename T, T... I> struct Seq { using seq_type = Seq; };\n"
               "template <int N> using Made = typename __make_integer_seq<Seq, int, N>::seq_type;\n"
               "[[noreturn, gnu::noinline]] __device__ void h();\n"
               "__global__ void k(int* p) { _Pragma(\"unroll\") for (int i = 0_I; i < 2; ++i) "
               "p[i] = sizeof(Made<2>); h(); }\n"}},
             "k");
  EXPECT_THAT(kernel.free_names(), IsEmpty());
  EXPECT_TRUE(kernel.self_contained());
}

TEST(CudaModuleTest, NamesOfPackagesAndUnknownOnesAreNamed) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#include <ATen/ATen.h>\n#include <cub/cub.cuh>\n#include <vector>\n"
               "#include \"gone.h\"\n"
               "__global__ void k(at::Half* x) { x[0] = mystery(x[1]); }\n"}});
  EXPECT_FALSE(kernel.self_contained());
  EXPECT_THAT(
      Unresolved(kernel),
      ElementsAre("ATen/ATen.h package_import", "at::Half package_import",
                  "cub/cub.cuh package_import", "gone.h repository_import", "mystery undefined"));
  EXPECT_THAT(kernel.free_names(), ElementsAre("at::Half", "mystery"));
  EXPECT_THAT(kernel.module(), Not(HasSubstr("<vector>")));
  const v1::Kernel other = Linked({{"a.cu",
                                    "#include <ATen/ATen.h>\n#include <cub/cub.cuh>\n"
                                    "__global__ void k(at::Half* x) { x[0] = x[1]; }\n"}});
  EXPECT_THAT(Unresolved(other),
              ElementsAre("ATen/ATen.h package_import", "at::Half package_import"));
}

TEST(CudaModuleTest, HeadersThatNamesNeedAreMadeUpWhereTheSourceHasThemElsewhere) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#include <torch/extension.h>\n__global__ void k(uint32_t* x, half y) { x[0] = "
               "std::numeric_limits<uint32_t>::max(); }\n"}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(kernel.imports(), ElementsAre("#include <cstdint>\n", "#include <cuda_fp16.h>\n",
                                            "#include <limits>\n"));
  EXPECT_TRUE(kernel.pieces(0).generated());
}

TEST(CudaModuleTest, WhatTheSourceDefinesForSomeCompilersAHeaderDefinesForTheOthers) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#ifdef USE_ROCM\n#include <hip/hip_bfloat16.h>\n#else\n#include "
               "<cuda_bf16.h>\n#endif\n"
               "#ifdef USE_ROCM\nusing __nv_bfloat16 = hip_bfloat16;\n#endif\n"
               "__global__ void k(__nv_bfloat16* x) { x[0] = x[1]; }\n"}});
  EXPECT_EQ(kernel.module(),
            "#ifdef USE_ROCM\n#include <hip/hip_bfloat16.h>\n#else\n#include "
            "<cuda_bf16.h>\n#endif\n\n"
            "#ifdef USE_ROCM\nusing __nv_bfloat16 = hip_bfloat16;\n#endif\n\n"
            "__global__ void k(__nv_bfloat16* x) { x[0] = x[1]; }\n");
  EXPECT_TRUE(kernel.self_contained());
}

TEST(CudaModuleTest, AHeaderThatAMacroChoosesComesAfterTheMacro) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#define IS_HIP 0\n#if IS_HIP\n#include <hip/hip_fp16.h>\n#else\n"
               "#include <cuda_fp16.h>\n#endif\n#include <cstdint>\n"
               "__global__ void k(half* x, uint8_t n) {\n#if IS_HIP\n  x = 0;\n#endif\n}\n"}});
  EXPECT_EQ(kernel.module(),
            "#include <cstdint>\n\n#define IS_HIP 0\n\n"
            "#if IS_HIP\n#include <hip/hip_fp16.h>\n#else\n#include <cuda_fp16.h>\n#endif\n\n"
            "__global__ void k(half* x, uint8_t n) {\n#if IS_HIP\n  x = 0;\n#endif\n}\n");
}

TEST(CudaModuleTest, AFunctionThatCallsItsNameHasItsOverloads) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "__device__ half f(half x) { return x; }\n"
                                     "__device__ half2 f(half2 x) { return {f(x.x), f(x.y)}; }\n"}},
                                   "f");
  EXPECT_EQ(kernel.pieces_size(), 3);
  EXPECT_EQ(Linked({{"a.cu",
                     "__device__ half f(half x) { return x; }\n"
                     "__device__ half2 f(half2 x) { return x; }\n"}},
                   "f")
                .pieces_size(),
            2);
}

TEST(CudaModuleTest, HeadersOfCudaStdStayWhereItIsUsed) {
  EXPECT_THAT(Linked({{"a.cu",
                       "#include <cuda/std/type_traits>\n#include <cuda/std/utility>\n"
                       "__global__ void k(cuda::std::pair<int, int>* x) { x->first = 1; }\n"}})
                  .imports(),
              ElementsAre("#include <cuda/std/type_traits>\n", "#include <cuda/std/utility>\n"));
  EXPECT_THAT(
      Linked({{"a.cu", "#include <cuda/std/utility>\n__global__ void k(int* x) { *x = 1; }\n"}})
          .imports(),
      IsEmpty());
}

TEST(CudaModuleTest, UsingDirectivesAndShortNamesLeadOn) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
               "namespace n { constexpr int kN = 1; }\nusing namespace n;\n"
               "__global__ void k(int* x) { using namespace nvcuda; auto b = "
               "cg::this_thread_block(); wmma::fragment<int> f; x[b.size()] = kN; }\n"}});
  EXPECT_TRUE(kernel.self_contained()) << absl::StrCat(Unresolved(kernel).size());
  EXPECT_THAT(kernel.imports(),
              ElementsAre("#include <cooperative_groups.h>\n", "#include <mma.h>\n"));
  EXPECT_THAT(kernel.module(), HasSubstr("using namespace n;\n"));
}

TEST(CudaModuleTest, ANameThatALocalOneHidesElsewhereComesAlong) {
  const std::string declared =
      "template <typename T>\nstruct Pack { T x[2]; };\nconstexpr int kN = 4;\n";
  const std::string used =
      "template <typename T>\n__global__ void k(T* x) {\n  using Pack = Pack<T>;\n"
      "  { constexpr int kN = 2; x[1] = kN; }\n  Pack p;\n  x[0] = p.x[0] + kN;\n}\n";
  EXPECT_THAT(Linked({{"a.cu", declared + used}}).module(),
              AllOf(HasSubstr("struct Pack {"), HasSubstr("constexpr int kN = 4;")));
  EXPECT_TRUE(Linked({{"a.cu", "__global__ void k(int* x) { { int a = 1; } x[0] = a; }\n"}})
                  .self_contained())
      << "bounds of names are guessed";
  EXPECT_THAT(Linked({{"a.cu",
                       "constexpr int a = 4;\n"
                       "__global__ void k(int* x, int a) { for (int i = 0; i < a; ++i) {\n"
                       "  auto f = [&](int b) { return a + b; }; x[i] = f(a); } }\n"}})
                  .module(),
              Not(HasSubstr("a = 4")));
}

TEST(CudaModuleTest, EveryDirectiveOfANamespaceStaysAtItsPlace) {
  const v1::Kernel kernel = Linked(
      {{"a.cu",
        "#include \"n.h\"\n#include \"b.h\"\nusing namespace n;\n"
        "__global__ void k(int* x) { *x = twice(one()); }\n"},
       {"n.h", "namespace n { __device__ int one() { return 1; } }\n"},
       {"b.h", "using namespace n;\n__device__ int twice(int x) { return x * 2 * one(); }\n"}});
  EXPECT_THAT(kernel.module(), HasSubstr("using namespace n;\n\n__device__ int twice"));
}

TEST(CudaModuleTest, AnIncludeUnderAConditionStaysInEachFile) {
  const std::string conditional = "#ifdef BF16\n#include <cuda_bf16.h>\n#endif\n";
  const std::string function = "__device__ float f(__nv_bfloat16 x) { return x; }\n";
  const std::string kernel = "__global__ void k(__nv_bfloat16* x) { x[0] = f(x[1]); }\n";
  EXPECT_TRUE(absl::StartsWith(Linked({{"a.cu", "#include \"f.h\"\n" + conditional + kernel},
                                       {"f.h", conditional + function}})
                                   .module(),
                               conditional));
  EXPECT_TRUE(absl::StartsWith(Linked({{"a.cu", conditional + "#include \"f.h\"\n" + kernel},
                                       {"f.h", "#include <cuda_bf16.h>\n" + function}})
                                   .module(),
                               "#include <cuda_bf16.h>\n"));
}

TEST(CudaModuleTest, MacrosThatSpecializeATemplateComeAlong) {
  const std::string text =
      "template <typename T> __device__ int bits();\n"
      "#define BITS_OF(T, n) \\\n  template <>  \\\n  __device__ int bits<T>() { return n; }\n"
      "BITS_OF(float, 32)\nBITS_OF(char, 8)\n#undef BITS_OF\n"
      "#define OTHER(T) template <> struct Other<T> {};\nOTHER(float)\n";
  const std::string module =
      Linked({{"a.cu", text + "__global__ void k(int* x) { *x = bits<float>(); }\n"}}).module();
  EXPECT_THAT(module, AllOf(HasSubstr("BITS_OF(float, 32)\nBITS_OF(char, 8)\n"),
                            HasSubstr("#define BITS_OF"), Not(HasSubstr("OTHER"))));
  EXPECT_THAT(Linked({{"a.cu", text + "__global__ void k(int* x) { *x = 1; }\n"}}).module(),
              Not(HasSubstr("BITS_OF")));
}

TEST(CudaModuleTest, AHeaderMayNeedWhatItsIncluderSays) {
  const v1::Kernel kernel = Linked({{"a.cu", "constexpr int kN = 1;\n#include \"k.cuh\"\n"},
                                    {"k.cuh", "__global__ void k(int* x) { *x = kN; }\n"}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.pieces(0).path(), "a.cu");
}

TEST(CudaModuleTest, LineEndsAreUnixs) {
  const v1::Kernel kernel =
      Linked({{"a.cu", "#include \"b.h\"\r\n__global__ void k(int* x)\r\n{ *x = f(); }\r\n"},
              {"b.h", "__device__ int f() {\n  return 1;\n}\n"}});
  EXPECT_EQ(kernel.module(),
            "__device__ int f() {\n  return 1;\n}\n\n"
            "__global__ void k(int* x)\n{ *x = f(); }\n");
}

TEST(CudaModuleTest, FilesThatIncludeOneAnotherEnd) {
  const v1::Kernel kernel =
      Linked({{"a.cu", "#include \"b.h\"\n__global__ void k(int* x) { *x = f(); }\n"},
              {"b.h", "#include \"c.h\"\n__device__ int f() { return g(); }\n"},
              {"c.h", "#include \"b.h\"\n__device__ int g() { return f(); }\n"}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.pieces_size(), 3);
}

TEST(CudaModuleTest, WhatIsOutOfBoundsIsTooLarge) {
  const std::string big =
      absl::StrCat("__device__ int f() { return 0", std::string(600 << 10, ' '), "; }\n");
  const v1::Kernel kernel = Linked({{"a.cu", big + "__global__ void k(int* x) { *x = f(); }\n"}});
  EXPECT_THAT(Unresolved(kernel), ElementsAre("f too_large"));
  EXPECT_EQ(kernel.module(), "__global__ void k(int* x) { *x = f(); }\n");
}

TEST(CudaModuleTest, WhatIsSaidAfterTheKernelDoesNotHoldForIt) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#define T float\n__global__ void k(T* x) { *x = 1; }\n#undef T\n#define T int\n"}});
  EXPECT_EQ(kernel.module(), "#define T float\n\n__global__ void k(T* x) { *x = 1; }\n");
}

TEST(CudaModuleTest, ASpecializationComesWithWhatItSpecializes) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "template <typename T> struct S;\ntemplate <> struct S<int> { "
                                     "__device__ int f() { return 1; "
                                     "} };\n"}},
                                   "f");
  EXPECT_EQ(kernel.pieces_size(), 2);
}

TEST(CudaModuleTest, WhatConditionalsInAPieceAskForComesAlong) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#define FAST 1\n__global__ void k(int* x) {\n#if FAST && CUDA_VERSION > 1\n  *x = "
               "1;\n#endif\n}\n"}});
  EXPECT_THAT(kernel.module(), HasSubstr("#include <cuda.h>\n\n#define FAST 1\n"));
}

TEST(CudaModuleTest, KernelsOfHeadersThatNoGlobNamesAreNoRecords) {
  v1::SourceTree tree;
  tree.add_files()->set_path("a.cu");
  v1::FileEntry& header = *tree.add_files();
  header.set_path("b.h");
  header.set_support(true);
  const v1::KernelShard shard =
      ExtractFiles({{"a.cu", "#include \"b.h\"\n__global__ void k(int* x) { *x = f(); }\n"},
                    {"b.h", "__device__ int f() { return 1; }\n"}});
  v1::KernelShard linked;
  const auto decided = LinkSource(tree, {1, [&](size_t) { return shard; }}, {},
                                  [&](size_t, v1::KernelShard written) {
                                    linked = std::move(written);
                                    return absl::OkStatus();
                                  });
  ASSERT_TRUE(decided.ok());
  EXPECT_EQ(*decided, -1);
  ASSERT_EQ(linked.kernels_size(), 1);
  EXPECT_TRUE(linked.kernels(0).self_contained());
  EXPECT_EQ(linked.files(1).kernels(), 0);
}

TEST(CudaModuleTest, TheLibrariesOfAModuleAreFeatures) {
  const v1::KernelShard shard = ExtractAndLink(
      {{"a.cu",
        "#include <cute/tensor.hpp>\n#include \"kittens.cuh\"\n"
        "__device__ void copy(cute::Tensor<int>& x) {}\n"
        "__global__ void k(int* x) { copy(x); }\n__global__ void plain(int* x) {}\n"}});
  EXPECT_THAT(FindKernel(shard, "k").features(), ElementsAre("cutlass"));
  EXPECT_THAT(FindKernel(shard, "plain").features(), IsEmpty());
}

TEST(CudaLinkedTest, ALibraryIsKnownUnderAnotherName) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "#include \"kittens.cuh\"\nnamespace kit = kittens;\n"
                                     "__global__ void k() { kit::load(); }\n"}});
  EXPECT_THAT(kernel.features(), ElementsAre("thunderkittens"));
}

TEST(MetalModuleTest, HasTheHeadersOfMetalAndItsNamespace) {
  const v1::KernelShard shard = ExtractAndLink(
      {{"k/a.metal",
        "#include <metal_stdlib>\n#include <metal_simdgroup>\n#include \"k/utils.h\"\n"
        "using namespace metal;\n"
        "struct Unused { int a; };\n"
        "[[kernel]] void k(device float* x [[buffer(0)]], constant uint2& n [[buffer(1)]],\n"
        "                  uint i [[thread_position_in_grid]]) {\n"
        "  threadgroup half4 shared[4];\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "  x[i] = simd_sum(metal::precise::exp(scale(x[i]))) + INFINITY;\n}\n"},
       {"k/utils.h",
        "#pragma once\n#include <metal_math>\n"
        "METAL_FUNC float scale(float x) { return metal::fma(x, 2.0f, half(1)); }\n"}},
      {"metal"});
  const v1::Kernel kernel = FindKernel(shard, "k");
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
  EXPECT_THAT(kernel.module(), HasSubstr("#include <metal_stdlib>\n#include <metal_simdgroup>\n"
                                         "#include <metal_math>\n"));
  EXPECT_THAT(kernel.module(), HasSubstr("using namespace metal;\n"));
  EXPECT_THAT(kernel.module(), HasSubstr("METAL_FUNC float scale(float x)"));
  EXPECT_THAT(kernel.module(), Not(HasSubstr("Unused")));
}

TEST(SyclModuleTest, HasTheFunctionAroundALambdaAndItsHeader) {
  const v1::KernelShard shard = ExtractAndLink(
      {{"k/a.cpp",
        "#include <CL/sycl.hpp>\n#include \"k/utils.h\"\n"
        "using namespace sycl;\n"
        "struct Unused { int a; };\n"
        "void scale(queue& q, float* x, size_t n) {\n"
        "  q.submit([&](handler& h) {\n"
        "    h.parallel_for<class scaled>(range<1>(n), [=](id<1> i) { x[i] = twice(x[i]); });\n"
        "  });\n}\n"},
       {"k/utils.h",
        "#pragma once\n#include <sycl/sycl.hpp>\n"
        "inline float twice(float x) { return sycl::fma(x, 2.0f, 0.0f); }\n"}},
      {"sycl"});
  const v1::Kernel kernel = FindKernel(shard, "scaled");
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
  EXPECT_THAT(kernel.module(), HasSubstr("#include <CL/sycl.hpp>\n"));
  EXPECT_THAT(kernel.module(), HasSubstr("using namespace sycl;\n"));
  EXPECT_THAT(kernel.module(), HasSubstr("inline float twice(float x)"));
  EXPECT_THAT(kernel.module(), HasSubstr("void scale(queue& q, float* x, size_t n) {\n"));
  EXPECT_THAT(kernel.module(), Not(HasSubstr("Unused")));
  EXPECT_EQ(kernel.launcher().qualname(), "scale");
  EXPECT_EQ(kernel.launcher().first_line(), 5);
  EXPECT_EQ(kernel.launcher().last_line(), 9);
}

TEST(SyclModuleTest, ANameThatTheLibraryLacksIsMissing) {
  const v1::KernelShard shard = ExtractAndLink(
      {{"a.cpp",
        "#include <sycl/sycl.hpp>\nusing namespace sycl;\n"
        "struct Add {\n  void operator()(nd_item<1> it) const { unknown(it); }\n};\n"},
       {"b.cpp", "#include \"a.cpp\"\nvoid run(sycl::queue q) { q.parallel_for(r, Add{}); }\n"}},
      {"sycl"});
  const v1::Kernel kernel = FindKernel(shard, "Add");
  EXPECT_FALSE(kernel.self_contained());
  EXPECT_THAT(Unresolved(kernel), ElementsAre("unknown undefined"));
  EXPECT_EQ(kernel.launcher().qualname(), "run");
  EXPECT_EQ(kernel.launcher().path(), "b.cpp");
}

TEST(QualifierMacrosTest, AMacroOfAnotherFileMarksFunctions) {
  const v1::KernelShard shard = ExtractAndLink(
      {{"common/defs.h",
        "#if defined(__CUDACC__)\n#define MY_GLOBAL extern \"C\" __global__\n"
        "#define MY_DEVICE __device__ inline\n#else\n#define MY_GLOBAL\n"
        "#define MY_DEVICE inline\n#endif\n"
        "#define MY_KERNEL MY_GLOBAL void\n#define VALUE 4\n#define CALL(x) __device__ x\n"},
       {"a.cu",
        "#include \"common/defs.h\"\n"
        "MY_DEVICE int f() { return VALUE; }\n"
        "MY_GLOBAL void k(int* x) { *x = f() + threadIdx.x; }\n"
        "MY_KERNEL __launch_bounds__(4) m(int* x) {}\n"
        "__global__ void plain(int* x) {}\n"
        "__forceinline__ int host() { return 1; }\n"},
       {"b.cc", "MY_OTHER int g() { return 1; }\n#define MY_OTHER 1\n"},
       {"c.h", "#define TWICE __device__\n#define __forceinline__ __device__ inline\n"},
       {"d.h", "#define TWICE 2\nint TWICE_h() { return 1; }\n"},
       {"e.cu", "TWICE int e() { return 1; }\n__global__ void last() {}\n"}});
  std::string found;
  for (const v1::Kernel& kernel : shard.kernels()) {
    absl::StrAppend(&found, kernel.name(), kernel.role() == v1::KERNEL_ROLE_KERNEL ? "! " : " ");
  }
  EXPECT_EQ(found, "f k! m! plain! last! ");
  EXPECT_EQ(shard.files(0).kernels(), 4);
  EXPECT_EQ(shard.kernels(2).cuda().launch_bounds(), "4");
  EXPECT_THAT(shard.kernels(1).module(), HasSubstr("MY_DEVICE int f()"));
  EXPECT_TRUE(shard.kernels(1).self_contained());
}

TEST(CudaModuleTest, ManyKernelsOverManyNamesTakeLinearTime) {
  std::string text;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&text, "#define M", i, " M", i + 1, "\n");
  for (int i = 0; i < 200; ++i) absl::StrAppend(&text, "__global__ void k", i, "() { M0; }\n");
  EXPECT_EQ(ExtractAndLink({{"a.cu", text}}).kernels_size(), 200);
}

TEST(CudaModuleTest, HostileTextsTakeLinearTime) {
  for (const char* unit :
       {"int f();\n", "#if A\n#define f B\n", "#if A\nint f();\n#elif B\n", "namespace n {\n",
        "using namespace f;\n", "namespace f = f;\n", "struct f { f f; };\n",
        "f operator+(f, f);\n", "#include \"a.cu\"\n", "void g() { f<<<1, 1>>>(); auto f = g; }\n",
        "#define f(g) g(f) f<<<1, 1>>>\n", "void f::f() { f::f(); }\n"}) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += unit;
    for (int i = 0; i < 20; ++i) {
      absl::StrAppend(&text, "\n__global__ void k", i, "() { f(g::f, f + f); }\n");
    }
    const v1::KernelShard shard = ExtractAndLink({{"a.cu", text}, {"b.cu", text}});
    size_t bytes = 0;
    for (const v1::Kernel& kernel : shard.kernels()) bytes += kernel.module().size();
    EXPECT_LE(bytes, 64u << 20) << unit;
  }
}

TEST(CudaLauncherTest, TheHostFunctionAroundALaunchIsTheLauncher) {
  const v1::Kernel kernel = Linked({{"a.cu",
                                     "__global__ void k(int) {}\n"
                                     "void host(int n) {\n  k<<<1, 1>>>(n);\n}\n"
                                     "void other() { k<<<2, 2>>>(1); }\n"}});
  EXPECT_EQ(kernel.launcher().path(), "a.cu");
  EXPECT_EQ(kernel.launcher().qualname(), "host");
  EXPECT_EQ(kernel.launcher().first_line(), 2);
  EXPECT_EQ(kernel.launcher().last_line(), 4);
  EXPECT_EQ(kernel.launcher().text(), "void host(int n) {\n  k<<<1, 1>>>(n);\n}\n");
  EXPECT_EQ(kernel.launcher().count(), 2);
}

TEST(CudaLauncherTest, FilesThatIncludeTheKernelOrADeclarationOfItLaunchIt) {
  const std::vector<NamedText> texts = {
      {"host.cu", "#include \"k.h\"\nvoid host() { k<<<1, 1>>>(1); }\n"},
      {"k.h", "__global__ void k(int);\n"},
      {"k.cu", "__global__ void k(int x) {}\n"},
      {"stranger.cu", "__global__ void k2() {}\nvoid f() { k<<<1, 1>>>(1); }\n"}};
  const v1::Kernel kernel = Linked(texts);
  EXPECT_EQ(kernel.launcher().path(), "host.cu");
  EXPECT_EQ(kernel.launcher().count(), 1);
}

TEST(CudaLauncherTest, MacrosOfIncludedFilesLaunch) {
  const v1::Kernel kernel = Linked(
      {{"a.cu", "#include \"m.h\"\n__global__ void k(int x) {}\nvoid host() { RUN(k, 1); }\n"},
       {"m.h", "#define RUN(kernel, x) kernel<<<1, 1>>>(x)\n"}});
  EXPECT_EQ(kernel.launcher().qualname(), "host");
}

TEST(KnownNamesTest, NamesHaveTheirHeaders) {
  using cuda::KnownName;
  EXPECT_EQ(cuda::LookUpKnown("__shfl_down_sync").kind, KnownName::kBuiltIn);
  EXPECT_EQ(cuda::LookUpKnown("make_float4").kind, KnownName::kBuiltIn);
  EXPECT_EQ(cuda::LookUpKnown("atomicAdd").kind, KnownName::kBuiltIn);
  EXPECT_EQ(cuda::LookUpKnown("__hadd2").header, "cuda_fp16.h");
  EXPECT_EQ(cuda::LookUpKnown("__nv_bfloat16").header, "cuda_bf16.h");
  EXPECT_EQ(cuda::LookUpKnown("std::is_same_v").header, "type_traits");
  EXPECT_EQ(cuda::LookUpKnown("c10::Half").package, "c10/");
  EXPECT_EQ(cuda::LookUpKnown("cute").package, "cute/");
  EXPECT_EQ(cuda::LookUpKnown("my_function").kind, KnownName::kUnknown);
  EXPECT_EQ(cuda::LookUpKnown("floaty4").kind, KnownName::kUnknown);
}

// its lines count in the file, and those of its hosts in the string
TEST(CudaLauncherTest, HostCodeOfAStringLaunchesItsKernel) {
  const v1::KernelShard shard = ExtractAndLink(
      {{"a.py", absl::StrCat(std::string(40, '\n'),
                             "from torch.utils.cpp_extension import load_inline\n"
                             "load_inline('m', cpp_sources='void f();', cuda_sources=\"\"\"\n"
                             "__global__ void k(int* p) { p[0] = 1; }\n"
                             "void f() { k<<<1, 1>>>(nullptr); }\n"
                             "\"\"\")\n")}});
  ASSERT_EQ(shard.kernels_size(), 1);
  const v1::Launcher& launcher = shard.kernels(0).launcher();
  EXPECT_EQ(launcher.qualname(), "f");
  EXPECT_EQ(launcher.first_line(), 44);
  EXPECT_EQ(launcher.text(), "void f() { k<<<1, 1>>>(nullptr); }\n");
}

}  // namespace
}  // namespace kernelmill::extractor
