#include "services/extractor/core/cuda/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

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

}  // namespace
}  // namespace kernelmill::extractor::cuda
