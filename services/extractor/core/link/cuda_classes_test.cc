#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/link.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string LinkModule(const std::string& text, absl::string_view name = "k") {
  const v1::Kernel kernel = Linked({{"a.cuh", text}}, name);
  EXPECT_THAT(kernel.free_names(), IsEmpty()) << kernel.module();
  return kernel.module();
}

constexpr char kClass[] =
    "constexpr int kUnused = 1, kUsed = 2;\n"
    "template <typename T>\n"
    "struct Base { T base; };\n"
    "template <typename T>\n"
    "class Big : Base<T> {\n"
    " public:\n"
    "  using Element = T;\n"
    "  struct Nested { int depth; };\n"
    "  __device__ Big(int n) : n_(n) {}\n"
    "  // Doubles.\n"
    "  __device__ T twice(T x) { return x + x; }\n"
    "\n"
    "  /* Halves,\n"
    "\n"
    "     slowly. */\n"
    "  __device__ T half_of(T x) const {\n"
    "    return x / kUsed;\n"
    "  }\n"
    "  __device__ T far(T x) { return x * kUnused; }\n"
    "  __device__ T both(T x) { return half_of(x) + this->n_; }\n"
    "\n"
    " private:\n"
    "  int n_;\n"
    "};\n";

TEST(CudaClassTest, AMethodComesWithItsClassAndTheMethodsThatItCalls) {
  EXPECT_EQ(LinkModule(kClass, "both"),
            "constexpr int kUnused = 1, kUsed = 2;\n\n"
            "template <typename T>\nstruct Base { T base; };\n\n"
            "template <typename T>\n"
            "class Big : Base<T> {\n"
            " public:\n"
            "  using Element = T;\n"
            "  struct Nested { int depth; };\n"
            "  __device__ Big(int n) : n_(n) {}\n"
            "  /* Halves,\n"
            "\n"
            "     slowly. */\n"
            "  __device__ T half_of(T x) const {\n"
            "    return x / kUsed;\n"
            "  }\n"
            "  __device__ T both(T x) { return half_of(x) + this->n_; }\n"
            "\n"
            " private:\n"
            "  int n_;\n"
            "};\n");
}

TEST(CudaClassTest, PiecesAreTheLinesThatAreLeft) {
  std::vector<std::pair<int, int>> lines;
  const v1::Kernel kernel = Linked({{"a.cuh", kClass}}, "both");
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    lines.emplace_back(piece.first_line(), piece.last_line());
  }
  EXPECT_THAT(lines, ElementsAre(std::pair(1, 1), std::pair(2, 3), std::pair(4, 9),
                                 std::pair(13, 18), std::pair(20, 24)));
}

TEST(CudaClassTest, AClassThatAKernelUsesComesWithTheMethodsThatAreMentioned) {
  EXPECT_THAT(LinkModule(absl::StrCat(
                  kClass, "__global__ void k(Big<float>* b) { b->n(b[0].twice(1.f)); }\n")),
              AllOf(HasSubstr("  // Doubles.\n  __device__ T twice"), Not(HasSubstr("half_of")),
                    Not(HasSubstr("kUsed"))));
}

TEST(CudaClassTest, MethodsOfNestedClassesAreLeftOutToo) {
  EXPECT_EQ(LinkModule("struct A {\n  struct B {\n    int x;\n    __device__ void f() {}\n"
                       "    __device__ void g() { x = 1; }\n  };\n  B b;\n};\n"
                       "__global__ void k(A a) { a.b.g(); }\n"),
            "struct A {\n  struct B {\n    int x;\n    __device__ void g() { x = 1; }\n  };\n"
            "  B b;\n};\n\n__global__ void k(A a) { a.b.g(); }\n");
}

TEST(CudaClassTest, AMemberOutsideComesWithItsDeclarationOrNotAtAll) {
  const std::string text =
      "struct S {\n  int x;\n  __device__ int f();\n  __device__ int g();\n};\n"
      "__device__ int S::f() { return x; }\n__device__ int S::g() { return x + 1; }\n"
      "__global__ void k(S* s) { s->x = s->g(); }\n";
  EXPECT_EQ(LinkModule(text),
            "struct S {\n  int x;\n  __device__ int g();\n};\n\n"
            "__device__ int S::g() { return x + 1; }\n\n"
            "__global__ void k(S* s) { s->x = s->g(); }\n");
  EXPECT_EQ(LinkModule(text, "f"),
            "struct S {\n  int x;\n  __device__ int f();\n};\n\n"
            "__device__ int S::f() { return x; }\n");
}

TEST(CudaClassTest, MembersThatTheCompilerCallsStay) {
  const std::string module = LinkModule(
      "#define ALIGNED(n) __align__(n)\n"
      "struct S {\n"
      "  static ALIGNED(16) float data[4];\n"
      "  float (*call)(int);\n"
      "  S() = default;\n"
      "  ~S() {}\n"
      "  __device__ S& operator=(const S& s) { return *this; }\n"
      "  __device__ operator float() const { return 0; }\n"
      "  __device__ float operator()(int i) { return 0; }\n"
      "  __device__ S operator^(int i) { return *this; }\n"
      "  virtual void hook();\n"
      "  __device__ float* begin() { return data; }\n"
      "  int a() { return 0; } int b;\n"
      "#if CUDA_VERSION > 1\n"
      "  __device__ void f() {\n"
      "#else\n"
      "  __device__ void f(int) {\n"
      "#endif\n"
      "  }\n"
      "  __device__ void g() {\n"
      "#define LATER 1\n"
      "  }\n"
      "};\n"
      "__global__ void k(S s) { s = S(); }\n");
  for (const char* kept : {"data[4]", "(*call)", "S() = default", "~S()", "operator=", "operator f",
                           "operator()", "hook", "begin", "int b", "void f(int)", "LATER"}) {
    EXPECT_THAT(module, HasSubstr(kept));
  }
  EXPECT_THAT(module, Not(HasSubstr("operator^")));
}

TEST(CudaClassTest, AnOperatorComesIfItsSignDoes) {
  const char* text =
      "struct V {\n  int x;\n  __device__ V operator%(int i) const { return {i}; }\n};\n"
      "__device__ V operator^(V a, V b) { return {a.x ^ b.x}; }\n"
      "__device__ V operator|(V a, V b) { return {b.x}; }\n";
  EXPECT_THAT(
      LinkModule(absl::StrCat(text, "__global__ void k(V* v) { *v = *v | *v; }\n")),
      AllOf(HasSubstr("operator|"), Not(HasSubstr("operator^")), Not(HasSubstr("operator%"))));
  EXPECT_THAT(LinkModule(absl::StrCat(text, "__global__ void k(V* v) { *v = *v % 2; }\n")),
              AllOf(HasSubstr("operator%"), Not(HasSubstr("operator|"))));
}

TEST(CudaClassTest, AVectorTypeOfCudaBringsTheOperatorsThatUseIt) {
  const char* text =
      "__device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, 0, 0); }\n"
      "__device__ float3 operator/(float3 a, float b) { return make_float3(a.x / b, 0, 0); }\n"
      "__device__ int2 operator-(int2 a, int2 b) { return make_int2(a.x - b.x, 0); }\n";
  for (const char* kernel :
       {"__global__ void k(float3* v) { *v = v[1] - v[2]; }\n",
        "__global__ void k(float* v) { auto a = make_float3(0, 0, 0); *v = (a - a).x; }\n"}) {
    EXPECT_THAT(LinkModule(absl::StrCat(text, kernel)),
                AllOf(HasSubstr("operator-(float3"), Not(HasSubstr("operator/")),
                      Not(HasSubstr("operator-(int2"))));
  }
  EXPECT_THAT(LinkModule(absl::StrCat(text, "__global__ void k(float3* v) { v->x = 1; }\n")),
              Not(HasSubstr("operator")));
}

TEST(CudaClassTest, NamesThatAMacroPastesCountAsMentioned) {
  const std::string module = LinkModule(
      "#define LOAD(s, n) (s)->load_##n()\n"
      "struct S {\n  int x;\n  __device__ int load_2() { return x; }\n"
      "  __device__ int store_2() { return x; }\n};\n"
      "__global__ void k(S* s) { s->x = LOAD(s, 2); }\n");
  EXPECT_THAT(module, AllOf(HasSubstr("load_2"), Not(HasSubstr("store_2"))));
}

TEST(CudaClassTest, ALocalNameOfOneMethodIsNoneOfAnother) {
  const v1::Kernel kernel =
      Linked({{"a.cuh",
               "__device__ int scale() { return 2; }\n"
               "struct S {\n  __device__ int f(int scale) { return scale; }\n"
               "  __device__ int g(int x) { return x * scale() + f(x); }\n};\n"}},
             "g");
  EXPECT_THAT(kernel.module(), HasSubstr("int scale() { return 2; }"));
}

TEST(CudaClassTest, ASpecializationComesWithoutItsSiblings) {
  const std::string text =
      "template <typename T> struct S;\n"
      "template <> struct S<int> {\n  __device__ int f() { return 1; }\n};\n"
      "template <> struct S<float> {\n  __device__ int g() { return 2; }\n};\n"
      "template <> struct S<double> {\n  __device__ int h() { return S<int>().f(); }\n};\n";
  EXPECT_THAT(LinkModule(text, "g"),
              AllOf(HasSubstr("struct S;"), HasSubstr("S<float>"), Not(HasSubstr("S<int>"))));
  EXPECT_THAT(LinkModule(text, "h"), HasSubstr("template <> struct S<int> {"));
}

TEST(CudaClassTest, ASpecializationOfAFunctionComesWithoutItsSiblings) {
  const std::string text =
      "template <typename T, int n> __device__ void f(T (&x)[n]);\n"
      "template <> __device__ inline void f<int, 8>(int (&x)[8]) { x[0] = 1; }\n"
      "template <> __device__ inline void f<float, 8>(float (&x)[8]) { x[0] = 2; }\n"
      "template <> __device__ inline void f<float, 16>(float (&x)[16]) { x[0] = 3; }\n";
  const v1::KernelShard shard = ExtractAndLink({{"a.cuh", text}});
  ASSERT_EQ(shard.kernels_size(), 3);
  EXPECT_THAT(shard.kernels(1).module(), AllOf(HasSubstr("void f(T (&x)[n]);"), HasSubstr("= 2"),
                                               Not(HasSubstr("= 1")), Not(HasSubstr("= 3"))));
}

TEST(CudaClassTest, FourMethodsAreNotFourTimesTheClass) {
  std::string text = "struct Big {\n  int x;\n";
  for (int i = 0; i < 32; ++i) {
    absl::StrAppend(&text, "  __device__ int method_", i, "(int y) {\n    return x * y + ", i,
                    " - (x + y) * (x - y);\n  }\n");
  }
  text += "};\n";
  size_t bytes = 0;
  const v1::KernelShard shard = ExtractAndLink({{"a.cuh", text}});
  for (const v1::Kernel& kernel : shard.kernels()) {
    bytes += kernel.module().size();
  }
  EXPECT_LT(bytes, text.size() * 3 / 2);
}

TEST(CudaClassTest, HostileClassesTakeLinearTime) {
  for (const char* unit :
       {"struct f { ", "void f(); ", "void f() {}\n", "/* */\n", "// f\n", "public: ", "#if 0\n",
        "#if A\nvoid f() {\n", "f operator+(f);\n", "template <class f> void f();\n"}) {
    std::string text = "struct S {\n";
    for (int i = 0; i < 50000; ++i) text += unit;
    text += "\n  __device__ void k() { f(); }\n};\n";
    EXPECT_LE(ExtractAndLink({{"a.cuh", text}}).kernels_size(), 1) << unit;
  }
}

TEST(CudaNamesTest, AShortNameInAFunctionStandsForItsNamespace) {
  const v1::Kernel kernel =
      Linked({{"a.cu",
               "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
               "namespace deep { namespace er { __device__ int f() { return 1; } } }\n"
               "__global__ void k(int* x) {\n"
               "  namespace cg = cooperative_groups;\n"
               "  namespace d = deep::er;\n"
               "  cg::thread_block block = cg::this_thread_block();\n"
               "  x[block.thread_rank()] = cg::reduce(block, d::f(), cg::plus<int>{});\n"
               "}\n"}});
  EXPECT_THAT(kernel.free_names(), IsEmpty());
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(kernel.imports(), ElementsAre("#include <cooperative_groups.h>\n",
                                            "#include <cooperative_groups/reduce.h>\n"));
  EXPECT_THAT(kernel.module(), HasSubstr("int f() { return 1; }"));
}

}  // namespace
}  // namespace kernelmill::extractor
