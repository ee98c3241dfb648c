// The names that a kernel needs: modules of the source, names that lead out of it, definitions that
// are too large, names that stay unresolved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kTriton[] = "import triton\nimport triton.language as tl\n";
constexpr char kTwice[] = "@triton.jit\ndef twice(x): return x + x\n";

std::string Kernel(const std::string& value) {
  return absl::StrCat("@triton.jit\ndef k(x): tl.store(x, ", value, ")\n");
}

TEST(LinkedNamesTest, MembersOfAModuleThatIsImportedComeUnderItsName) {
  const std::string module = absl::StrCat(kTriton, "import types\n\n", kTwice,
                                          "\nm = types.ModuleType(\"m\")\n\nm.twice = twice\n\n");
  for (const char* import : {"from . import helpers as m\n", "import p.helpers as m\n",
                             "from p import helpers as m\n"}) {
    const v1::Kernel kernel =
        Linked({{"p/__init__.py", ""},
                {"p/a.py", absl::StrCat(kTriton, import, Kernel("m.twice(m.twice(x))"))},
                {"p/helpers.py", absl::StrCat(kTriton, kTwice)}});
    EXPECT_EQ(kernel.module(), absl::StrCat(module, Kernel("m.twice(m.twice(x))"))) << import;
    EXPECT_THAT(Unresolved(kernel), IsEmpty()) << import;
    EXPECT_THAT(kernel.free_names(), IsEmpty()) << import;
  }
}

TEST(LinkedNamesTest, PackagesWithinPackagesAndAttributesOfMembersWorkToo) {
  const v1::Kernel kernel =
      Linked({{"p/__init__.py", "from . import q\n"},
              {"p/q/__init__.py", ""},
              {"p/q/helpers.py", "N = 1\nclass C:\n    M = 2\n"},
              {"a.py", absl::StrCat(kTriton, "import p.q.helpers\n",
                                    Kernel("p.q.helpers.N + p.q.helpers.C.M"))}});
  EXPECT_THAT(kernel.module(),
              HasSubstr("p = types.ModuleType(\"p\")\n\np.q = types.ModuleType(\"p.q\")\n\n"
                        "p.q.helpers = types.ModuleType(\"p.q.helpers\")\n\np.q.helpers.C = C\n\n"
                        "p.q.helpers.N = N\n\n"));
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
}

TEST(LinkedNamesTest, AHelperMayReadAModuleAsWell) {
  const v1::Kernel kernel =
      Linked({{"a.py", absl::StrCat(kTriton, "from b import f\n", Kernel("f(x)"))},
              {"b.py", absl::StrCat(kTriton, "import c\n", "def f(x): return c.twice(x)\n")},
              {"c.py", absl::StrCat(kTriton, kTwice)}});
  EXPECT_THAT(kernel.module(), HasSubstr("c.twice = twice\n\ndef f(x): return c.twice(x)\n"));
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
}

TEST(LinkedNamesTest, AModuleThatCannotBeHadWholeStaysImportedAndIsListed) {
  for (const char* value :
       {"m.gone(x)", "m.twice(m.open())", "m.twice(x, m)", "f'{m.twice}'", "m.k(x)", "m.TWO"}) {
    const v1::Kernel kernel = Linked(
        {{"a.py", absl::StrCat(kTriton, "import b as m\n", Kernel(value))},
         {"b.py", absl::StrCat(kTriton, "import gone\n", kTwice, "def open(): return gone.x\n",
                               "def k(x): return x\n", "TWO = gone.TWO\n")}});
    EXPECT_THAT(Unresolved(kernel), ElementsAre("m repository_import")) << value;
    EXPECT_THAT(kernel.module(), HasSubstr("import b as m\n")) << value;
    EXPECT_THAT(kernel.module(), Not(HasSubstr("ModuleType"))) << value;
  }
}

TEST(LinkedNamesTest, WhatIsNotThereHasAReason) {
  EXPECT_THAT(Unresolved(Linked({{"a.py", absl::StrCat(kTriton, Kernel("gone"))}})),
              ElementsAre("gone undefined"));
  EXPECT_THAT(
      Unresolved(Linked({{"a.py", absl::StrCat(kTriton, "from x import *\n", Kernel("gone"))}})),
      ElementsAre("gone wildcard_import"));
  EXPECT_THAT(Unresolved(Linked(
                  {{"p/a.py", absl::StrCat(kTriton, "from .x import gone\n", Kernel("gone"))}})),
              ElementsAre("gone repository_import"));
  EXPECT_THAT(Unresolved(Linked(
                  {{"a.py", absl::StrCat(kTriton, "import numpy as np\n", Kernel("np.pi"))}})),
              ElementsAre("numpy package_import"));
  EXPECT_THAT(Unresolved(Linked({{"a.py", absl::StrCat(kTriton,
                                                       "import jax.numpy as jnp\n"
                                                       "import numpy as np\n",
                                                       Kernel("np.pi + jnp.pi"))}})),
              IsEmpty());
  EXPECT_THAT(
      Unresolved(Linked(
          {{"p/a.py", absl::StrCat(kTriton, "try:\n    from .x import N\nexcept ImportError:\n",
                                   "    import numpy\n    N = numpy.pi\n", Kernel("N"))}})),
      ElementsAre("numpy package_import"));
  EXPECT_THAT(Unresolved(Linked({{"p/a.py", absl::StrCat(kTriton, "@triton.jit\ndef k(x):\n",
                                                         "    import numpy\n    return x\n")}})),
              ElementsAre("numpy package_import"));
}

TEST(LinkedNamesTest, AnImportStatementThatStaysIsNamedByWhatIsMissingOfItAlone) {
  EXPECT_THAT(Unresolved(Linked(
                  {{"p/a.py", absl::StrCat(kTriton, "from .x import gone, other\n",
                                           "import numpy, os\n", Kernel("gone + numpy.pi"))}})),
              ElementsAre("gone repository_import", "numpy package_import"));
}

TEST(LinkedNamesTest, StatementsThatChangeAListOrADictionaryComeAlong) {
  const std::string table =
      "T = []\nT.append(1)\nif triton.fast():\n    T.append(2)\nD = {}\nD.update(a=1)\n";
  const v1::Kernel kernel =
      Linked({{"a.py", absl::StrCat(kTriton, "from b import D, T\n", Kernel("T[0] + D['a']"))},
              {"b.py", absl::StrCat("import triton\n", table)}});
  EXPECT_THAT(kernel.module(), HasSubstr("T = []\n\nT.append(1)\n\nif triton.fast():\n    "
                                         "T.append(2)\n\nD = {}\n\nD.update(a=1)\n\n"));
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
  // An added element may be missing itself.
  EXPECT_THAT(
      Unresolved(Linked({{"a.py", absl::StrCat(kTriton, "from b import T\n", Kernel("T[0]"))},
                         {"b.py", "import gone\nT = []\nT.append(gone.x)\n"}})),
      ElementsAre("T repository_import"));
}

TEST(LinkedNamesTest, WhatLoadsFilesOfItsOwnPlaceDoesNotStandAlone) {
  const std::string finds = "import importlib.util, os\n";
  EXPECT_THAT(Unresolved(Linked({{"a.py", absl::StrCat(kTriton, finds,
                                                       "spec = importlib.util."
                                                       "spec_from_file_location('x', 'x.py')\n",
                                                       Kernel("spec.x"))}})),
              ElementsAre(". repository_import"));
  const std::string vendor =
      "def vendor(name):\n    folder = os.path.dirname(__file__)\n    return "
      "importlib.import_module(name)\nshim = vendor('_' + 'x')\n";
  EXPECT_THAT(
      Unresolved(Linked({{"a.py", absl::StrCat(kTriton, "from b import shim\n", Kernel("shim.x"))},
                         {"b.py", absl::StrCat(finds, vendor)}})),
      ElementsAre("shim repository_import"));
  for (const char* value : {"importlib.import_module('math')", "os.path.dirname(__file__)",
                            "'spec_from_file_location'"}) {
    EXPECT_THAT(Unresolved(Linked(
                    {{"a.py", absl::StrCat(kTriton, finds, "X = ", value, "\n", Kernel("X"))}})),
                IsEmpty());
  }
}

TEST(LinkedNamesTest, ABuiltinsNameThatTheFileBindsIsTheFiles) {
  for (const char* bound : {"pow = tl.extra.pow\n", "def pow(x, y): return x\n",
                            "@triton.jit\ndef pow(x, y): return x\n"}) {
    const v1::Kernel kernel = Linked({{"a.py", absl::StrCat(kTriton, bound, Kernel("pow(x, 2)"))}});
    EXPECT_THAT(kernel.module(), HasSubstr(bound));
    EXPECT_THAT(Unresolved(kernel), IsEmpty());
  }
  const v1::Kernel imported =
      Linked({{"a.py", absl::StrCat(kTriton, "from b import pow\n", Kernel("pow(x, max(2, 3))"))},
              {"b.py", "abs = abs\ndef pow(x, y): return abs(x)\n"}});
  EXPECT_THAT(imported.module(), HasSubstr("abs = abs\n\ndef pow(x, y): return abs(x)\n\n"));
  EXPECT_THAT(Unresolved(imported), IsEmpty());
  EXPECT_THAT(
      Unresolved(
          Linked({{"a.py", absl::StrCat(kTriton, "from gone import pow\n", Kernel("pow(x, 2)"))}})),
      ElementsAre("gone package_import"));
  EXPECT_EQ(Linked({{"a.py", absl::StrCat(kTriton, "class C:\n    def pow(self): pass\n",
                                          Kernel("pow(x, 2)"))}})
                .module(),
            absl::StrCat(kTriton, "\n", Kernel("pow(x, 2)")));
}

// A tuner of so many bytes.
std::string Tuner(size_t size) {
  return absl::StrCat("class Tuner:\n    text = '", std::string(size, 'x'), "'\n",
                      "def tuned(configs): return Tuner(configs)\n");
}

TEST(LinkedNamesTest, ADecoratorsMachineryIsTakenInUpToItsBounds) {
  const std::string kernel = "@tuned([])\n@triton.jit\ndef k(x): return twice(x)\n";
  const auto linked = [&](size_t size) {
    return Linked({{"a.py", absl::StrCat(kTriton, "from b import tuned\n", kTwice, kernel)},
                   {"b.py", Tuner(size)}});
  };
  EXPECT_THAT(Unresolved(linked(3'000)), IsEmpty());
  const v1::Kernel bounded = linked(5'000);
  const std::string without = "@triton.jit\ndef k(x): return twice(x)\n";
  EXPECT_THAT(Unresolved(bounded), IsEmpty());
  EXPECT_EQ(bounded.module(), absl::StrCat("import triton\n\n", kTwice, "\n", without));
  EXPECT_EQ(bounded.dropped_decorators_size(), 1);
  // In the kernel's own file as well.
  const v1::Kernel own = Linked({{"a.py", absl::StrCat(kTriton, Tuner(5'000), kTwice, kernel)}});
  EXPECT_THAT(Unresolved(own), IsEmpty());
  EXPECT_THAT(own.module(), Not(HasSubstr("Tuner")));
}

TEST(LinkedNamesTest, WhatTheBodyNeedsIsNoMachinery) {
  const std::string table = absl::StrCat("T = '", std::string(5'000, 'x'), "'\n");
  const v1::Kernel kernel =
      Linked({{"a.py", absl::StrCat(kTriton, table, "def tuned(f): return T\n",
                                    "@tuned\n@triton.jit\ndef k(x): return T\n")}});
  EXPECT_THAT(Unresolved(kernel), IsEmpty());
  EXPECT_THAT(kernel.module(), HasSubstr("def tuned"));
  const v1::Kernel long_kernel = Linked(
      {{"a.py", absl::StrCat(kTriton, Tuner(5'000), "@tuned\n@triton.jit\ndef k(x):\n    '''",
                             std::string(2'000, 'x'), "'''\n    return x\n")}});
  EXPECT_THAT(Unresolved(long_kernel), IsEmpty());
}

TEST(LinkedNamesTest, AMethodIsAFunctionInItsModule) {
  const v1::Kernel kernel =
      Linked({{"a.py",
               "import triton\nclass A:\n    @staticmethod\n    @triton.jit\n    def k(x):\n"
               "        '''Doc.\n        more'''\n        return x\n"}});
  EXPECT_EQ(
      kernel.module(),
      "import triton\n\n@triton.jit\ndef k(x):\n    '''Doc.\n        more'''\n    return x\n");
  EXPECT_THAT(kernel.source(), HasSubstr("@staticmethod"));
}

TEST(LinkedNamesTest, ModulesHaveOneKindOfLineEnd) {
  const v1::Kernel kernel = Linked(
      {{"a.py", "import triton\r\nfrom b import N\r\n@triton.jit\r\ndef k(x):\r\n  return N"},
       {"b.py", "N = (1,\n  2)\r"}});
  EXPECT_EQ(kernel.module(),
            "import triton\n\nN = (1,\n  2)\n\n@triton.jit\ndef k(x):\n  return N\n");
  EXPECT_THAT(kernel.source(), HasSubstr("\r\n"));
}

TEST(LinkedNamesTest, TritonFromAFileOfTheSourceIsTriton) {
  const std::string plain = absl::StrCat(kTriton, "\n");
  const std::string choice =
      "try:\n    import triton\n    import triton.language as tl\n"
      "except ImportError:\n    triton = tl = None\n";
  const std::string further = "from .more import tl, triton\n";
  for (const std::string& utils : {plain, choice, further}) {
    for (const char* import : {"from .utils import tl, triton\n", "from .utils import *\n",
                               "from p.utils import tl, triton\n"}) {
      const v1::Kernel kernel =
          Linked({{"p/a.py",
                   absl::StrCat(import, "@triton.jit\ndef k(x):\n    tl.store(x, tl.dot(x, x))\n")},
                  {"p/more.py", choice},
                  {"p/utils.py", utils}});
      EXPECT_THAT(kernel.calls(), ElementsAre("triton.language.dot", "triton.language.store"))
          << import << utils;
      EXPECT_THAT(kernel.features(), ElementsAre("dot")) << import;
      EXPECT_FALSE(kernel.tags().empty()) << import;
    }
  }
}

std::string Context(const std::string& before, const std::string& body,
                    const std::vector<NamedText>& others = {}) {
  std::vector<NamedText> files = others;
  files.emplace_back("p/a.py", absl::StrCat(before, "@triton.jit\ndef k(x):\n", body));
  return Linked(files).prompt_context();
}

TEST(PromptContextTest, HasTheImportsThatTheKernelItselfUses) {
  EXPECT_EQ(
      Context("from __future__ import annotations\nimport os, triton, math  # noqa\n"
              "import triton.language as tl\nfrom torch import (\n    float32,\n    int8 as i8,\n"
              "    int16)\ndef h(): return os\n",
              "    return tl.exp(h() + i8 + float32)\n"),
      "import triton\nimport triton.language as tl\nfrom torch import float32, int8 as i8\n\n"
      "# def h():\n");
}

TEST(PromptContextTest, AnImportInATryIsThatImport) {
  EXPECT_EQ(Context("try:\n    import triton\n    from triton.language.extra import libdevice\n"
                    "except ImportError:\n    libdevice = None\n",
                    "    return libdevice.exp(x)\n"),
            "import triton\nfrom triton.language.extra import libdevice\n");
}

TEST(PromptContextTest, WhatStandsForTritonWhereThereIsNoneIsNotShown) {
  EXPECT_EQ(
      Context("try:\n    import triton\n    HAVE = True\nexcept ImportError:\n    HAVE = False\n"
              "if not HAVE:\n    triton = None\n",
              "    return x\n"),
      "import triton\n");
}

TEST(PromptContextTest, ShowsHelpersAsSignaturesAndConstantsAsTheyAre) {
  EXPECT_EQ(Context("import triton\nN = 64  # of a block\nM = [\n    1,\n    2,\n]\n"
                    "T = '" +
                        std::string(500, 'x') +
                        "'\n"
                        "@triton.jit\ndef h(x,  # left\n      y: int = (1,),\n):\n"
                        "    '''\n    Adds.\n\n    More.'''\n    return x + y\n",
                    "    return h(x, N + M[0]) + T\n"),
            "import triton\n\n# N = 64  # of a block\n# M = [\n#     1,\n#     2,\n# ]\n# T = ...\n"
            "# def h(x, y: int = (1,)): Adds.\n");
}

TEST(PromptContextTest, ShowsClassesWithTheirFieldsAndMethods) {
  EXPECT_EQ(
      Context("import triton\nclass C(tuple):\n    '''Holds.'''\n    a: int\n    b = 1\n"
              "    @triton.jit\n    def f(self,\n          y):\n        z = 1\n        return z\n",
              "    return C(x).f(1)\n"),
      "import triton\n\n# class C(tuple): Holds.\n#     a: int\n#     b = 1\n"
      "#     def f(self, y):\n");
}

TEST(PromptContextTest, OfWhatWasTakenInItShowsTheSignatureOfTheRestTheImport) {
  const NamedText helpers = {"p/b.py",
                             "import gone\ndef f(x): return x\ndef g(x): return gone.g\nN = 1\n"};
  EXPECT_EQ(Context("import triton\nfrom .b import f as h, g\nfrom . import b\n",
                    "    return h(g(x)) + b.f(x) + b.N + u + k\n", {helpers}),
            "import triton\nfrom .b import g\n\n# def h(x):\n# b.N = 1\n# def b.f(x):\n"
            "# Defined elsewhere: u\n");
}

TEST(PromptContextTest, AWildcardStandsThereWhereItMayBringAName) {
  EXPECT_EQ(Context("import triton\nfrom numpy import *\n", "    return pi\n"),
            "import triton\nfrom numpy import *\n\n# Defined elsewhere: pi\n");
  EXPECT_EQ(Context("import triton\nfrom numpy import *\n", "    return x\n"), "import triton\n");
}

// The square of its size is minutes.
TEST(PromptContextTest, LongLinesOfAClassTakeTimeInProportion) {
  std::string text = "import triton\nclass C:\n    a = 1";
  for (int i = 0; i < 100'000; ++i) text += "; b()";
  EXPECT_EQ(Context(absl::StrCat(text, "\n    c = 2\n"), "    return C\n"),
            "import triton\n\n# class C:\n#     a = 1\n#     c = 2\n");
}

TEST(PromptContextTest, IsBounded) {
  std::string definitions = "import triton\n";
  std::string body = "    return (";
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&definitions, "a", i, " = 'something of some length'\n");
    absl::StrAppend(&body, "a", i, ", ");
  }
  EXPECT_LT(Context(definitions, body + ")\n").size(), 20'000u);
}

// The module still imports the other package, so it does not stand alone.
TEST(LinkedNamesTest, ANameThatIsTakenAtItsWordIsDescribedAsTritons) {
  const std::string body =
      "@triton.autotune(configs=[triton.Config({'N': 64}, num_warps=4)], key=['n'])\n"
      "@triton.jit\n"
      "def k(p, n, N: tl.constexpr):\n"
      "    i = tl.program_id(0) * triton.cdiv(n, N)\n"
      "    tl.atomic_add(p, tl.dot(tl.load(p), i))\n";
  const std::string import = "from vllm.triton_utils import tl, triton\n";
  for (const std::string& imports :
       {import, absl::StrCat("try:\n    ", import, "except ImportError:\n    pass\n")}) {
    const v1::Kernel kernel = Linked({{"p/a.py", imports + body}});
    EXPECT_THAT(kernel.calls(),
                ElementsAre("triton.cdiv", "triton.language.atomic_add", "triton.language.dot",
                            "triton.language.load", "triton.language.program_id"));
    EXPECT_THAT(kernel.features(), ElementsAre("atomics", "dot"));
    EXPECT_EQ(kernel.autotune().configs_size(), 1);
    EXPECT_THAT(kernel.module(), HasSubstr(import));
    EXPECT_FALSE(kernel.self_contained());
  }
  EXPECT_THAT(Unresolved(Linked({{"p/a.py", import + body}})),
              ElementsAre("vllm.triton_utils package_import"));
}

TEST(LinkedNamesTest, MembersOfAModuleThatIsNotThereAreTakenAtTheirWordToo) {
  const v1::Kernel kernel = Linked({{"a.py",
                                     "import vllm.utils\n@vllm.utils.triton.jit\ndef k(p):\n"
                                     "    vllm.utils.tl.atomic_add(p, vllm.utils.other(p))\n"}});
  EXPECT_THAT(kernel.calls(), ElementsAre("triton.language.atomic_add", "vllm.utils.other"));
  EXPECT_THAT(kernel.features(), ElementsAre("atomics"));
}

TEST(LinkedNamesTest, ANameThroughAFileOfTheSourceIsTakenAtItsWordAtTheEnd) {
  const v1::Kernel kernel =
      Linked({{"p/__init__.py", ""},
              {"p/compat.py", "from vllm.triton_utils import tl, triton\n"},
              {"p/a.py", "from .compat import tl, triton\n@triton.jit\ndef k(p): tl.load(p)\n"}});
  EXPECT_THAT(kernel.calls(), ElementsAre("triton.language.load"));
  EXPECT_FALSE(kernel.self_contained());
}

}  // namespace
}  // namespace kernelmill::extractor
