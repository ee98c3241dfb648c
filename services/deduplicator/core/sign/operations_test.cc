#include "services/deduplicator/core/sign/operations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelmill::deduplicator {
namespace {

std::vector<uint64_t> Of(absl::string_view text, Language language = Language::kPython) {
  return Operations(Tokenize(text, language), language, "f");
}

std::string Body(absl::string_view expression) {
  return "def f(x, y, n):\n    a = tl.load(x)\n    z = " + std::string(expression) + "\n";
}

TEST(Operations, FunctionsOperatorsAndConstantsCount) {
  const std::vector<uint64_t> plain = Of(Body("tl.exp(a) + n"));
  EXPECT_NE(Of(Body("tl.sin(a) + n")), plain);
  EXPECT_NE(Of(Body("tl.exp(a) - n")), plain);
  EXPECT_NE(Of(Body("tl.exp(a) + n * 0.5")), Of(Body("tl.exp(a) + n * 0.7")));
  EXPECT_NE(Of(Body("a < n")), Of(Body("a > n")));
  EXPECT_EQ(Of(Body("tl.exp(a) + n + n")), plain);  // a set
}

TEST(Operations, PlumbingNamesAndSizesDoNot) {
  const std::vector<uint64_t> plain = Of(Body("tl.exp(a) * 2"));
  EXPECT_EQ(Of(Body("libdevice.exp(other.to(tl.float32)) * 16.0")), plain);
  EXPECT_EQ(Of(Body("tl.exp(a) * 1e-6")), plain);
  EXPECT_EQ(Of(Body("f(tl.exp(a) * 2)")), plain);  // the kernel itself
  EXPECT_EQ(Of("@autotune(configs=[c(1) + d(2) for x in y])\n" + Body("tl.exp(a) * 2")), plain);
}

TEST(Operations, AnAssignmentsOperatorIsItsOwn) {
  EXPECT_EQ(Of("def f(a, b):\n    a += b\n"), Of("def f(a, b):\n    a = a + b\n"));
  EXPECT_NE(Of("def f(a, b):\n    a += b\n"), Of("def f(a, b):\n    a -= b\n"));
}

TEST(Operations, OfCToo) {
  const auto c = [](absl::string_view text) { return Of(text, Language::kC); };
  EXPECT_EQ(c("void f(int a) { g(a + 1); }"), c("void f(int b) { g(1 + b); }"));
  EXPECT_NE(c("void f(int a) { g(a + 1); }"), c("void f(int a) { h(a + 1); }"));
  EXPECT_NE(c("float f() { return 0.5f; }"), c("float f() { return 0.25f; }"));
}

TEST(Operations, AnythingCanBeRead) {
  for (const absl::string_view text : {"", "def", "def f(", "def f(:", "(", "1e999", "0x", "f("}) {
    Of(text);
    Of(text, Language::kC);
  }
}

}  // namespace
}  // namespace kernelmill::deduplicator
