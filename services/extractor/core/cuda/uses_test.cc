#include "services/extractor/core/cuda/uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
