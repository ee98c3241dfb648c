#include "services/extractor/core/cuda/declarations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/extractor/core/cuda/conditionals.h"
#include "services/extractor/core/cuda/words.h"

namespace kernelmill::extractor::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "namespace names kind" of each declaration.
std::vector<std::string> Found(absl::string_view text) {
  static constexpr const char* kKinds[] = {"function",  "type",      "variable",
                                           "alias",     "using",     "using namespace",
                                           "namespace", "invocation"};
  const Code code = Lex(text);
  const Declarations found = FindDeclarations(code, MatchBrackets(code));
  std::vector<std::string> written;
  for (const Declaration& declaration : found.all) {
    written.push_back(absl::StrCat(found.namespaces[declaration.space].qualified, "|",
                                   absl::StrJoin(declaration.names, ","), "|",
                                   kKinds[declaration.kind]));
  }
  return written;
}

std::vector<std::string> Used(absl::string_view text) {
  std::vector<std::string> paths;
  for (const UsedName& used : ReadDeclarationWords(text).used) paths.push_back(used.path);
  return paths;
}

std::vector<std::string> UsedByMacro(absl::string_view rest) {
  std::vector<std::string> paths;
  for (const UsedName& used : ReadMacroWords(rest, rest[0] == '(').used) paths.push_back(used.path);
  return paths;
}

TEST(DeclarationsTest, KindsAndNames) {
  EXPECT_THAT(
      Found("struct A { int x; };\nenum Mode : int { kOne, kTwo = f(1), };\n"
            "enum class E { kA };\nconstexpr int kN = 3, kM = g(4);\n"
            "__constant__ float table[64];\nusing T = float;\ntypedef struct { int y; } B;\n"
            "typedef void (*Call)(int);\ntemplate <typename T> struct C;\nint value{3};\n"
            "template <typename T> __device__ T f(T x) { return x; }\nint f(int);\n"
            "using std::max;\nusing namespace n;\nnamespace s = a::b;\n"),
      ElementsAre("|A|type", "|Mode,kOne,kTwo|type", "|E,kA|type", "|kN,kM|variable",
                  "|table|variable", "|T|alias", "|B|type", "|Call|alias", "|C|type",
                  "|value|variable", "|f|function", "|f|function", "|max|using",
                  "||using namespace", "|s|namespace"));
}

TEST(DeclarationsTest, ATypedefNamesWhatItDefinesToo) {
  EXPECT_THAT(
      Found("typedef enum Mode { kOne = 0, kTwo } Mode_t;\ntypedef struct A { int x; } B;\n"),
      ElementsAre("|Mode,kOne,kTwo,Mode_t|type", "|A,B|type"));
}

TEST(WordsTest, OfHeadsInBranchesOneIsRead) {
  EXPECT_THAT(Used("#if A\n__global__ void k(\n#else\n__global__ void k2(\n#endif\n"
                   "std::array<int*, 8> a, T* b) { f(a, b); }"),
              ElementsAre("T", "f", "std::array"));
}

TEST(DeclarationsTest, NamespacesNestAndUnnamedOnesAddNothing) {
  EXPECT_THAT(Found("namespace a { namespace { int x; }\nnamespace b::c { int y; } }\n"
                    "inline namespace v1 { int z; }\nextern \"C\" { int w; }\n"),
              ElementsAre("a|x|variable", "a::b::c|y|variable", "|z|variable", "|w|variable"));
}

TEST(DeclarationsTest, MembersMacrosAndOperators) {
  EXPECT_THAT(
      Found("DEFINE(x)\nint y;\nDEFINE(z);\n__device__ A operator+(A a, A b) { return a; }\n"
            "template <class T> __device__ void C<T>::f(int a) const { }\n"
            "C::C(int a) : x(a), y{a} { }\n"
            "__global__ void __launch_bounds__(256) k(int* p) { }\n"
            "static_assert(sizeof(A) == 4, \"\");\ntemplate void g<int>(int);\n"),
      ElementsAre("||invocation", "|y|variable", "||invocation", "|operator+|function",
                  "|C::f|function", "|C::C|function", "|k|function"));
}

TEST(DeclarationsTest, AnyBytesTakeLinearTime) {
  for (const char* unit :
       {"a<", "namespace a {", "(", "template <", "struct A {", "enum {", "x = {",
        "a<b>::", "using a", "}", "operator", "a b(c) ", "template a "}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += unit;
    Found(text);
    Used(text);
  }
}

TEST(ConditionalsTest, BranchesAndWholes) {
  const std::string text = "#if A\nint a;\n#elif B\nint b;\n#else\nint c;\n#endif\nint d;\n";
  const Conditionals conditionals(Lex(text));
  const auto at = [&](const char* word) {
    return conditionals.At(static_cast<uint32_t>(text.find(word)));
  };
  EXPECT_EQ(at("int a").branch, 0u);
  EXPECT_EQ(at("int c").branch, 2u);
  EXPECT_EQ(conditionals.Lines(at("int c")).size(), 3u);
  EXPECT_EQ(at("int d").conditional, Conditionals::kNone);
  const ByteSpan whole = conditionals.Whole(
      {static_cast<uint32_t>(text.find("int b")), static_cast<uint32_t>(text.find("int d"))});
  EXPECT_EQ(whole.begin, 0u);
  EXPECT_EQ(text.substr(whole.begin, whole.end - whole.begin),
            text.substr(0, text.find("\nint d") + 1));
}

TEST(ConditionalsTest, AnIncludeGuardIsNone) {
  const std::string text = "#ifndef X_H\n#define X_H\nint a;\n#endif  // X_H\n";
  EXPECT_EQ(Conditionals(Lex(text)).At(30).conditional, Conditionals::kNone);
  const std::string other = "#ifndef X\nint a;\n#endif\n";
  EXPECT_NE(Conditionals(Lex(other)).At(12).conditional, Conditionals::kNone);
}

TEST(WordsTest, WhatIsDeclaredIsNotUsed) {
  EXPECT_THAT(
      Used("template <typename T, int N = kN> __global__ void k(const T* __restrict__ in, T* out, "
           "float (&buffer)[4], n::Span<T> span) {\n"
           "  const int i = blockIdx.x; auto& [a, b] = pair; __shared__ T tile[N];\n"
           "  for (int j = 0, l = 1; j < limit; ++j) { float* p = &in[j], *q = p; use(p * q); }\n"
           "  enum { kA, kB = kC }; struct Local { int member; } local;\n"
           "  auto f = [&, c = other](T* x, int y) { return x[y] * c; };\n"
           "  asm volatile(\"\" : [name] \"=r\"(i) : \"r\"(in->field.x));\n"
           "  T::type w; helper<Traits<T>>(w, kA + kB, a, b, f, buffer, local, span, tile, l);\n"
           "label: if (i > x_max) goto label;\n}"),
      ElementsAre("Traits", "blockIdx", "helper", "kC", "kN", "limit", "n::Span", "other", "pair",
                  "use", "x_max"));
}

TEST(WordsTest, PathsKeepTheirNamespacesAndMembersAreNobodys) {
  EXPECT_THAT(Used("void f() { a::b<c>::d(::e::g, x.y, z->w, (T*)v, n::m); }"),
              ElementsAre("T", "a::b::d", "c", "e::g", "n::m", "v", "x", "z"));
}

TEST(WordsTest, MacrosUseWhatIsNoParameterAndNotPasted) {
  EXPECT_THAT(UsedByMacro("(a, b) do { int t = (a); call##b(t); f(t, kN); } while (0)"),
              ElementsAre("f", "kN"));
  EXPECT_THAT(UsedByMacro(" (kBlock * 2)"), ElementsAre("kBlock"));
  EXPECT_THAT(UsedByMacro("()"), IsEmpty());
}

TEST(WordsTest, LoopMacrosDeclareTheirArguments) {
  EXPECT_THAT(Used("void f(int n) { CUDA_LOOP(i, n) { g(i); } }"), ElementsAre("CUDA_LOOP", "g"));
}

}  // namespace
}  // namespace kernelmill::extractor::cuda
