#include "services/extractor/core/cuda/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Found {
 public:
  explicit Found(std::string text)
      : text_(std::move(text)),
        code_(Lex(text_)),
        findings_(FindFunctions(code_, MatchBrackets(code_))) {}

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Function& function : findings_.functions) {
      names.push_back(absl::StrCat(function.global ? "g " : "", function.device ? "d " : "",
                                   function.qualname, function.parse_error ? " !" : ""));
    }
    return names;
  }
  std::string GetText(const Function& function) const {
    return Text(function.first, function.last);
  }
  std::string Text(uint32_t first, uint32_t last) const {
    const size_t begin = code_.tokens[first].begin;
    return text_.substr(begin, code_.tokens[last].end - begin);
  }
  std::string Only() const {
    EXPECT_EQ(findings_.functions.size(), 1u) << text_;
    return findings_.functions.empty() ? "" : GetText(findings_.functions[0]);
  }
  const Findings& findings() const { return findings_; }

 private:
  const std::string text_;
  const Code code_;
  const Findings findings_;
};

std::vector<std::string> Names(const std::string& text) { return Found(text).Names(); }

TEST(CudaFunctionsTest, MacrosOfKnownLibrariesAreQualifiers) {
  EXPECT_THAT(Names("template <int N> CUTLASS_GLOBAL __launch_bounds__(N, 1) void k(int* x) {}\n"
                    "CUTE_HOST_DEVICE constexpr int f() { return 1; }\n"
                    "CUTLASS_DEVICE void g() {}\n"
                    "RAFT_KERNEL r(int* x) {}\n"
                    "struct S { CUTLASS_HOST_DEVICE S() : a(1) {} int a; };\n"),
              ElementsAre("g k", "d f", "d g", "g r", "d S::S"));
}

TEST(CudaFunctionsTest, QualifiersMakeAFunctionOneOfThem) {
  EXPECT_THAT(Names("__global__ void k(int* x) { x[0] = 1; }\n"
                    "static __device__ __forceinline__ float f(float x) { return x; }\n"
                    "__host__ __device__ int h() { return 1; }\n"
                    "__host__ void host() {}\nint plain(int x) { return x; }\n"
                    "inline int __device__ after() { return 2; }\n"),
              ElementsAre("g k", "d f", "d h", "d after"));
}

TEST(CudaFunctionsTest, MacrosOfTheTextThatStandForQualifiersAreQualifiers) {
  EXPECT_THAT(Names("#define INLINE_DEVICE __device__ \\\n  __forceinline__\n"
                    "#define KERNEL static __global__ void  // launched\n"
                    "#define BOTH __host__ INLINE_DEVICE\n#define HOST __host__ inline\n"
                    "#define CALL(x) __device__ x\n#define CODE __device__ void z() {}\n"
                    "INLINE_DEVICE int f() { return 1; }\nKERNEL k(int a) {}\nBOTH int g() {}\n"
                    "HOST int h() {}\nCALL(int) i() {}\n"),
              ElementsAre("d f", "g k", "d g"));
}

TEST(CudaFunctionsTest, WhatHasNoBodyIsNone) {
  EXPECT_THAT(Names("__global__ void k(int* x);\n__device__ int x;\n__device__ int t[] = {1, 2};\n"
                    "__device__ int y{3};\n__constant__ float c[4];\n__device__ float z(4);\n"
                    "extern __device__ void e(int);\nstruct S { __device__ S() = default; };\n"
                    "template __global__ void k<float>(float*);\n"),
              IsEmpty());
}

TEST(CudaFunctionsTest, LookAlikesInCommentsStringsAndMacrosAreNone) {
  EXPECT_THAT(Names("// __global__ void a() {}\n/* __global__ void b() {} */\n"
                    "const char* s = \"__global__ void c() {}\";\n"
                    "const char* r = R\"(__global__ void d() {})\";\n"
                    "#define K(n) __global__ void n() \\\n  { }\n"
                    "#if 0\n__global__ void e() {}\n#endif\n"
                    "auto lambda = [] __device__ (int i) { return i; };\n"),
              IsEmpty());
}

TEST(CudaFunctionsTest, TheSpanBeginsWithTheTemplateHeader) {
  const std::string kernel =
      "template <typename T, int N = (4 > 3), template <class> class C>\n"
      "__global__ __launch_bounds__(256, (N < 2) ? 1 : 2) void\nk(const T* __restrict__ x) {\n}";
  const Found found("#include <a>\nint y;\n// comment\n" + kernel + "\n");
  EXPECT_EQ(found.Only(), kernel);
  const Function& function = found.findings().functions[0];
  ASSERT_EQ(function.templates.size(), 1u);
  EXPECT_EQ(found.Text(function.templates[0].open, function.templates[0].close),
            "<typename T, int N = (4 > 3), template <class> class C>");
  EXPECT_EQ(found.Text(function.launch_bounds.open, function.launch_bounds.close),
            "(256, (N < 2) ? 1 : 2)");
  EXPECT_EQ(found.Text(function.parameters.open, function.parameters.close),
            "(const T* __restrict__ x)");
}

TEST(CudaFunctionsTest, TemplateArgumentsMayCloseTogether) {
  EXPECT_THAT(Names("template <class T, class = std::enable_if_t<A<B<T>>::value>>\n"
                    "__device__ std::vector<std::vector<A<T>>> f(A<B<C<T>>> x) { }\n"
                    "template <class T, std::enable_if_t<is_same<T, int>{}, int> = 0>\n"
                    "__device__ void g() {}\n"
                    "template <> __global__ void k<float, A<B>>(float* x) {}\n"
                    "template <class T> template <class U> __device__ void C<T>::m(U u) {}\n"),
              ElementsAre("d f", "d g", "g k", "d C::m"));
}

TEST(CudaFunctionsTest, AttributesAndMacrosBeforeThemBelongToThem) {
  for (const char* text :
       {"extern \"C\" __global__ void k() {}", "[[nodiscard]] __device__ int k() {}",
        "__attribute__((noinline)) __device__ int k() {}",
        "C10_LAUNCH_BOUNDS_2(512, 4)\n__global__ void k() {}",
        "static inline __global__ void __cluster_dims__(2, 1, 1) k(int a) {}",
        "__device__ decltype(auto) k(int a) {}", "__device__ auto k(int a) -> decltype(a) {}",
        "__device__ int k(A a = A{1}, B b = [] { return 1; }()) noexcept(true) {}",
        "EXPORT __global__ void k() MACRO {}", "__device__ int k(int a) ATTRIBUTE(x) {}"}) {
    EXPECT_EQ(Found(absl::StrCat("int x;\n", text, "\n")).Only(), text);
    EXPECT_THAT(Names(text), ElementsAre(::testing::EndsWith(" k")));
  }
}

TEST(CudaFunctionsTest, AMacroWithoutASemicolonIsNotPartOfWhatFollows) {
  EXPECT_EQ(Found("DEFINE(x, y)\n__global__ void k() {}").Only(), "__global__ void k() {}");
  EXPECT_EQ(Found("BEGIN\ntemplate <int N>\n__global__ void k() {}").Only(),
            "template <int N>\n__global__ void k() {}");
}

TEST(CudaFunctionsTest, NamesAreQualifiedByWhatIsAroundThem) {
  EXPECT_THAT(
      Names("namespace a::b { namespace { inline namespace c {\n"
            "template <class T> struct alignas(16) S : public B<T> {\n"
            " public:\n  __device__ S(int x) : B<T>{x}, y(x), z{1} { f(); }\n"
            "  __device__ ~S() {}\n  __device__ float operator()(int i) const { return i; }\n"
            "  __device__ operator float() const { return 0; }\n"
            "  __device__ bool operator<(const S& o) const { return x < o.x; }\n"
            "  __device__ S& operator=(const S&) = delete;\n"
            "  struct Inner final { static __device__ void m() {} };\n};\n"
            "}}}\nextern \"C\" { __global__ void k() {} }\n"
            "void host() { struct Op { __device__ int operator()(int a) { return a; } }; }\n"
            "__device__ void n::T<int>::method(int) {}\n"
            "template <> struct Spec<int, 3> { __device__ void m() {} };\n"
            "struct O { template <> __device__ void operator()<int>(int) {} };\n"
            "struct __align__(8) V { __device__ void m() {} };\n"),
      ElementsAre("d a::b::c::S::S", "d a::b::c::S::~S", "d a::b::c::S::operator()",
                  "d a::b::c::S::operator float", "d a::b::c::S::operator<",
                  "d a::b::c::S::Inner::m", "g k", "d host::Op::operator()", "d n::T::method",
                  "d Spec::m", "d O::operator()", "d V::m"));
}

TEST(CudaFunctionsTest, FunctionsWithinLambdasOfAHostFunctionAreFound) {
  EXPECT_THAT(Names("void host(int n) {\n  for (int i = 0; i < n; ++i) { run([&] {\n"
                    "    struct Op { __device__ int operator()(int a) const { return a; } };\n"
                    "    if (a < b) { go(Op{}); }\n  }); }\n}\n__global__ void k() {}\n"),
              ElementsAre("d host::Op::operator()", "g k"));
}

TEST(CudaFunctionsTest, EveryBranchOfAConditionalHasItsFunctions) {
  EXPECT_THAT(Names("#ifdef A\n__global__ void k(int a) { f(); }\n#else\n"
                    "__global__ void k() { g(); }\n#endif\n__device__ void l() {}\n"),
              ElementsAre("g k", "g k", "d l"));
}

TEST(CudaFunctionsTest, AlternativeHeadersOfOneBodyAreOneFunction) {
  const Found found(
      "#ifdef A\ntemplate <int N> __global__ void k(int a) {\n#else\n__global__ void k() {\n"
      "#endif\n  f();\n}\n__device__ void l() {}\n");
  EXPECT_THAT(found.Names(), ElementsAre("g k", "d l"));
  EXPECT_EQ(found.GetText(found.findings().functions[0]),
            "template <int N> __global__ void k(int a) {\n#else\n__global__ void k() {\n#endif\n"
            "  f();\n}");
}

TEST(CudaFunctionsTest, UnevenBranchesInABodyMarkIt) {
  EXPECT_THAT(Names("__global__ void k() {\n#if A\nif (x) {\n#endif\nf();\n#if B\n}\n#endif\n}\n"
                    "__global__ void l() {}\n"),
              ElementsAre("g k !", "g l"));
}

TEST(CudaFunctionsTest, BrokenFunctionsDoNotHideTheNext) {
  EXPECT_THAT(Names("__global__ void a() { if (x; }\n__global__ void b() {}\n"),
              ElementsAre("g a !", "g b"));
  EXPECT_THAT(Names("__global__ void a() { {\n__global__ void b() {}\n"
                    "template <int N>\n__global__ void c() {}\n"),
              ElementsAre("g b", "g c"));
  EXPECT_THAT(Names("namespace n {\n__global__ void a() { {\n}\n__global__ void b() {}\n}\n"),
              ElementsAre("g a !", "g a::b"));
  EXPECT_THAT(Names("} ) ]\n__global__ void a() {}\n"), ElementsAre("g a"));
}

TEST(CudaFunctionsTest, LaunchesAreFoundWithTheirHosts) {
  const Found found(
      "namespace n {\nvoid run(int n) {\n  auto f = [&] {\n"
      "    detail::k<T, (4 > 3), A<B>><<<dim3(1), f(a, b), 0, s>>>(x, y);\n  };\n"
      "  if (n) k<<<1, 2>>>(x);\n  (*pointer)<<<1, 2>>>(x);\n}\n}\n"
      "int shift = a <<b;\n");
  ASSERT_EQ(found.findings().launches.size(), 2u);
  const Launch& first = found.findings().launches[0];
  EXPECT_EQ(first.name, "k");
  EXPECT_EQ(found.Text(first.first, first.last),
            "detail::k<T, (4 > 3), A<B>><<<dim3(1), f(a, b), 0, s>>>(x, y)");
  ASSERT_EQ(found.findings().hosts.size(), 1u);
  EXPECT_EQ(first.host, 0u);
  EXPECT_EQ(found.findings().launches[1].host, 0u);
  EXPECT_EQ(found.findings().hosts[0].qualname, "n::run");
  EXPECT_THAT(found.GetText(found.findings().hosts[0]), ::testing::StartsWith("void run(int n) {"));
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Each would take minutes in quadratic time, or overflow the stack in a recursion.
TEST(CudaFunctionsTest, HostileTextsTakeLinearTime) {
  constexpr int kTimes = 200000;
  for (const char* unit : {"{",
                           "(",
                           "<",
                           "a<",
                           "template <",
                           "template <class ",
                           "__device__ ",
                           "__global__ void k() {",
                           "__global__ void k(int a",
                           "k<<<",
                           "a::",
                           "a<b>::",
                           "operator ",
                           "namespace n {",
                           "struct S {",
                           "#if A\n{\n#else\n",
                           "#if A\n",
                           "} ",
                           "void f() : a{} {",
                           "f(a) ",
                           "<<<>>>",
                           "struct ",
                           "enum ",
                           "({",
                           "[{(",
                           "R\"x(",
                           "/*",
                           "\"",
                           "'",
                           "\\\n",
                           "#define \\\n",
                           "a<b,c>(d){e<f>(g)}",
                           "__device__ A<{}>"}) {
    const std::string text = Repeated(unit, kTimes);
    Found open(text);
    Found then(text + "__global__ void k(int a) { k<<<1, 2>>>(a); }");
  }
}

TEST(CudaFunctionsTest, FunctionsBehindDeepNestingAreFound) {
  const int depth = 10000;
  EXPECT_THAT(
      Names("void f() " + Repeated("{", depth) + Repeated("}", depth) +
            "__global__ void k(int x = " + Repeated("(", depth) + Repeated(")", depth) + ") {}"),
      ElementsAre("g k"));
  const Found found(Repeated("namespace nn {", depth) + "__global__ void k() {}" +
                    Repeated("}", depth));
  ASSERT_EQ(found.findings().functions.size(), 1u);
  EXPECT_LE(found.findings().functions[0].qualname.size(), 512u);
}

}  // namespace
}  // namespace kernelmill::extractor::cuda
