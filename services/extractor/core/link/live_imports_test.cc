// Statements that a name is bound in the branches of: what of them runs where Triton is.
#include "services/extractor/core/link/live_imports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

LiveImports Live(const std::string& text, const std::vector<std::string>& modules,
                 v1::Definition::Kind kind = v1::Definition::KIND_CONSTANT) {
  v1::Definition definition;
  definition.set_kind(kind);
  definition.set_text(text);
  for (const std::string& module : modules) definition.add_modules(module);
  return FindLiveImports(definition);
}

TEST(LiveImportsTest, AHandlerIsNotRunWhereTheBlockImportsModulesThatAreAtHand) {
  const LiveImports live = Live(
      "try:\n    import triton\n    import triton.language as tl\n    HAVE = True\n"
      "except ImportError:\n    from mine import null\n    triton = null()\n    HAVE = False\n",
      {"mine", "triton", "triton.language"});
  EXPECT_THAT(live.needed, ElementsAre("triton", "triton.language"));
  EXPECT_THAT(live.lost, IsEmpty());
}

TEST(LiveImportsTest, AMemberMayBeAbsentSoThatItsHandlerCounts) {
  const LiveImports live = Live(
      "try:\n    from triton.language import fast\nexcept ImportError:\n    from mine import "
      "fast\n",
      {"mine", "triton.language"});
  EXPECT_THAT(live.needed, ElementsAre("mine", "triton.language"));
}

TEST(LiveImportsTest, WhatIsNotAtHandIsNotNeededUnderAHandler) {
  const LiveImports live =
      Live("try:\n    import fast\n    N = 1\nexcept ImportError:\n    N = 2\n", {"fast"});
  EXPECT_THAT(live.needed, IsEmpty());
  EXPECT_THAT(live.lost, UnorderedElementsAre("fast"));
}

TEST(LiveImportsTest, NoneIsNothingToGoOnWith) {
  EXPECT_THAT(Live("try:\n    import fast\nexcept:\n    fast = None\n", {"fast"}).lost,
              UnorderedElementsAre("fast"));
}

TEST(LiveImportsTest, AHandlerOfAnotherErrorOrOneThatRaisesGuardsNothing) {
  EXPECT_THAT(Live("try:\n    import fast\nexcept KeyError:\n    pass\n", {"fast"}).needed,
              ElementsAre("fast"));
  EXPECT_THAT(
      Live("try:\n    import fast\nexcept ImportError as e:\n    raise e\n", {"fast"}).needed,
      ElementsAre("fast"));
  EXPECT_THAT(Live("try:\n    import fast\nfinally:\n    pass\n", {"fast"}).needed,
              ElementsAre("fast"));
}

TEST(LiveImportsTest, BlocksWithinBlocksAndLinesOfTheirOwnAreRead) {
  EXPECT_THAT(
      Live("if x:\n    try: import a\n    except ImportError: N = 1\nelse: import b\n", {"a", "b"})
          .needed,
      ElementsAre("b"));
}

TEST(LiveImportsTest, WhatAFunctionBindsIsItsOwn) {
  const LiveImports live = Live(
      "def f():\n    try:\n        from a import g\n        return g()\n"
      "    except Exception:\n        return False\n",
      {"a"}, v1::Definition::KIND_FUNCTION);
  EXPECT_THAT(live.needed, IsEmpty());
  EXPECT_THAT(live.lost, IsEmpty());
}

constexpr char kTriton[] =
    "try:\n    import triton\n    import triton.language as tl\nexcept ImportError:\n"
    "    from p.null import null\n    triton = null()\n";

TEST(LiveImportsTest, AModuleTakesTheWholeStatementAndStandsAlone) {
  const v1::Kernel kernel =
      Linked({{"p/a.py", absl::StrCat(kTriton, "@triton.jit\ndef k(x): tl.store(x, 1)\n")}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(kernel.module(), HasSubstr(kTriton));
}

TEST(LiveImportsTest, TwoFilesMayGetTritonByStatementsOfTheirOwn) {
  const v1::Kernel kernel =
      Linked({{"p/__init__.py", ""},
              {"p/a.py", absl::StrCat(kTriton, "from p.b import f\n@triton.jit\ndef k(x): f(x)\n")},
              {"p/b.py", absl::StrCat(kTriton, "@triton.jit\ndef f(x): tl.store(x, 1)\n")}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(kernel.module(), HasSubstr("def f(x): tl.store(x, 1)"));
}

TEST(LiveImportsTest, AKernelThatUsesWhatIsLostDoesNotStandAlone) {
  const std::string guarded = "try:\n    from fast import f\nexcept ImportError:\n    f = None\n";
  const v1::Kernel kernel =
      Linked({{"a.py", absl::StrCat("import triton\n", guarded, "@triton.jit\ndef k(x): f(x)\n")}});
  EXPECT_FALSE(kernel.self_contained());
  ASSERT_EQ(kernel.unresolved_names_size(), 1);
  EXPECT_EQ(kernel.unresolved_names(0).name(), "f");
  EXPECT_EQ(kernel.unresolved_names(0).reason(), "package_import");
  const v1::Kernel helped =
      Linked({{"a.py", "import triton\nfrom b import g\n@triton.jit\ndef k(x): g(x)\n"},
              {"b.py", absl::StrCat("import triton\n", guarded, "@triton.jit\ndef g(x): f(x)\n")}});
  EXPECT_FALSE(helped.self_contained());
}

TEST(LiveImportsTest, VersionsAreToldByPackaging) {
  EXPECT_TRUE(IsAtHand("packaging.version"));
  EXPECT_FALSE(IsAtHand("packaging_of_others"));
  const v1::Kernel kernel =
      Linked({{"a.py",
               "import triton\nfrom packaging import version\n"
               "if version.parse(triton.__version__) >= version.parse('3.0.0'):\n"
               "    from triton.language import exp\nelse:\n    exp = triton.language.math.exp\n"
               "@triton.jit\ndef k(x): exp(x)\n"}});
  EXPECT_TRUE(kernel.self_contained());
}

}  // namespace
}  // namespace kernelmill::extractor
