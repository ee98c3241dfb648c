// Statements that change the object of a name, and those that only name it.
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

constexpr char kTriton[] = "import triton\nimport triton.language as tl\n";

std::string Kernel(const std::string& value) {
  return absl::StrCat("@triton.jit\ndef k(x): tl.store(x, ", value, ")\n");
}

constexpr char kLayout[] = "def layout(n): return n\n";

TEST(LinkedChangesTest, StatementsThatSetAnAttributeOfAFunctionComeAlong) {
  for (const char* set :
       {"layout.builtin = True\n", "layout.builtin: bool = True\n", "layout.count += 1\n",
        "layout.table['a'] = 1\n", "layout.names.append(1)\n", "setattr(layout, 'a', 1)\n",
        "layout.a = layout.b = 1\n", "layout.a, layout.b = 1, 2\n",
        "if triton.fast():\n    layout.a = 1\n"}) {
    const std::string helper = absl::StrCat(kLayout, "\n", set, "\n");
    EXPECT_THAT(
        Linked({{"a.py", absl::StrCat(kTriton, kLayout, set, Kernel("layout(x)"))}}).module(),
        HasSubstr(helper));
    EXPECT_THAT(
        Linked({{"a.py", absl::StrCat(kTriton, "from b import layout\n", Kernel("layout(x)"))},
                {"b.py", absl::StrCat("import triton\n", kLayout, set)}})
            .module(),
        HasSubstr(helper));
  }
}

TEST(LinkedChangesTest, WhatAnAttributeIsSetToComesAlongToo) {
  const v1::Kernel kernel =
      Linked({{"a.py", absl::StrCat(kTriton, kLayout, "ONE = 1\nlayout.one = ONE\n",
                                    Kernel("layout(x)"))}});
  EXPECT_THAT(kernel.module(), HasSubstr("ONE = 1\n\nlayout.one = ONE\n\n"));
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
  EXPECT_THAT(Unresolved(Linked({{"a.py", absl::StrCat(kTriton, kLayout, "layout.one = gone\n",
                                                       Kernel("layout(x)"))}})),
              ElementsAre("gone undefined"));
}

TEST(LinkedChangesTest, StatementsThatOnlyHandANameOnStayBehind) {
  for (const char* line :
       {"registry['layout'] = layout\n", "library.impl('layout', layout)\n", "register(layout)\n",
        "other.layout = layout\n", "layout(1).a = 2\n", "layout.run(2)\n", "layout.a: int\n",
        "if __name__ == '__main__':\n    layout.a = 1\n", "def f():\n    layout.a = 1\n"}) {
    EXPECT_EQ(Linked({{"a.py", absl::StrCat(kTriton, "registry = {}\n", kLayout, line,
                                            Kernel("layout(x)"))}})
                  .module(),
              absl::StrCat(kTriton, "\n", kLayout, "\n", Kernel("layout(x)")))
        << line;
  }
}

TEST(LinkedChangesTest, SettingsOfOtherModulesAreNotTheKernels) {
  const v1::Kernel kernel =
      Linked({{"a.py", absl::StrCat("import os\n", kTriton,
                                    "os.environ['A'] = '1'\ntriton.knobs.a = 1\ntl.f = os.getpid\n",
                                    Kernel("os.sep"))}});
  EXPECT_EQ(kernel.module(), absl::StrCat("import os\n", kTriton, "\n", Kernel("os.sep")));
}

TEST(LinkedChangesTest, WhatChangesANameBelowTheKernelComesUpToTheNextBinding) {
  const std::string kernel = Kernel("layout(x) + T[0]");
  EXPECT_EQ(
      Linked({{"a.py", absl::StrCat(kTriton, "T = {}\n", kernel, kLayout, "layout.a = 1\n",
                                    "T[0] = 1\nT['k'] = k\nT = 2\nT[1] = 3\n")}})
          .module(),
      absl::StrCat(kTriton, "\nT = {}\n\n", kLayout, "\nlayout.a = 1\n\nT[0] = 1\n\n", kernel));
}

TEST(LinkedChangesTest, AChangeOfTheKernelItselfIsNotInItsModule) {
  const std::string kernel = Kernel("k");
  EXPECT_EQ(Linked({{"a.py", absl::StrCat(kTriton, kernel, "k.a = 1\n")}}).module(),
            absl::StrCat(kTriton, "\n", kernel));
}

}  // namespace
}  // namespace kernelmill::extractor
