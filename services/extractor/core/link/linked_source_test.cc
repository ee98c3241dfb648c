// Modules made of several files of a source: extraction and linking together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/link/link.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kKernel[] = "@triton.jit\ndef k(x): return f(x)\n";
constexpr char kHelper[] = "@triton.jit\ndef f(x): return x\n";

// "path first-last" of every piece; "generated" for the others.
std::vector<std::string> GetPieces(const v1::Kernel& kernel) {
  std::vector<std::string> pieces;
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    pieces.push_back(piece.generated() ? "generated"
                                       : absl::StrCat(piece.path(), " ", piece.first_line(), "-",
                                                      piece.last_line()));
  }
  return pieces;
}

std::string File(const std::string& imports, const std::string& rest = kKernel) {
  return absl::StrCat("import triton\n", imports, rest);
}

TEST(LinkedSourceTest, ARelativeImportIsReplacedByWhatItNames) {
  const v1::Kernel kernel = Linked({{"p/a.py", File("from .b import f\n")},
                                    {"p/b.py", File("import torch\nN = 1\nM = N + 1\nUNUSED = 2\n",
                                                    "@triton.jit\ndef f(x): return x + M\n")}});
  EXPECT_EQ(kernel.module(),
            "import triton\n\nN = 1\n\nM = N + 1\n\n@triton.jit\ndef f(x): return x + M\n\n"
            "@triton.jit\ndef k(x): return f(x)\n");
  EXPECT_THAT(GetPieces(kernel),
              ElementsAre("p/a.py 1-1", "p/b.py 3-3", "p/b.py 4-4", "p/b.py 6-7", "p/a.py 3-4"));
  EXPECT_THAT(kernel.imports(), ElementsAre("import triton\n"));
  EXPECT_THAT(kernel.free_names(), IsEmpty());
  EXPECT_TRUE(kernel.self_contained());
}

TEST(LinkedSourceTest, AbsoluteImportsWorkFromTheRootAndFromFoldersThatAreNoPackages) {
  for (const char* root : {"", "src/", "python/"}) {
    const v1::Kernel kernel = Linked({{absl::StrCat(root, "p/q/b.py"), File("", kHelper)},
                                      {"tests/a.py", File("from p.q.b import f\n")}});
    EXPECT_TRUE(kernel.self_contained()) << root;
    EXPECT_THAT(kernel.module(), HasSubstr(kHelper)) << root;
  }
}

TEST(LinkedSourceTest, ReExportsAreFollowedThroughPackagesAndWildcards) {
  const v1::Kernel kernel = Linked({{"p/__init__.py", "from .q import *\n"},
                                    {"p/q/__init__.py", "from .b import f\n"},
                                    {"p/q/b.py", File("", kHelper)},
                                    {"a.py", File("from p import f\n")}});
  EXPECT_EQ(kernel.module(), absl::StrCat("import triton\n\n", kHelper, "\n", kKernel));
  EXPECT_TRUE(kernel.self_contained());
}

TEST(LinkedSourceTest, AWildcardBringsWhatAllNamesElseWhatHasNoUnderscore) {
  const auto linked = [](const std::string& all) {
    return Linked({{"a.py", File("from b import *\n")}, {"b.py", File(all, kHelper)}});
  };
  EXPECT_TRUE(linked("").self_contained());
  EXPECT_THAT(linked("").module(), Not(HasSubstr("from b")));
  EXPECT_TRUE(linked("__all__ = ['g']\n__all__ += ['f']\n").self_contained());
  EXPECT_THAT(linked("__all__ = ['g']\n").free_names(), ElementsAre("f"));
  EXPECT_THAT(linked("__all__ = list(names)\n").free_names(), ElementsAre("f"));
  const v1::Kernel hidden =
      Linked({{"a.py", File("from b import *\n", "@triton.jit\ndef k(x): return _f\n")},
              {"b.py", File("", "_f = 1\n")}});
  EXPECT_THAT(hidden.free_names(), ElementsAre("_f"));
  EXPECT_THAT(hidden.module(), HasSubstr("from b import *"));
}

TEST(LinkedSourceTest, AnImportUnderAnotherNameBecomesAGeneratedLine) {
  const v1::Kernel kernel = Linked({{"a.py", File("from b import g as f\n")},
                                    {"b.py", File("", "@triton.jit\ndef g(x): return x\n")}});
  EXPECT_EQ(kernel.module(),
            absl::StrCat("import triton\n\n@triton.jit\ndef g(x): return x\n\nf = g\n\n", kKernel));
  EXPECT_THAT(GetPieces(kernel), ElementsAre("a.py 1-1", "b.py 2-3", "generated", "a.py 3-4"));
  EXPECT_TRUE(kernel.self_contained());
}

TEST(LinkedSourceTest, OneNameOfTwoFilesIsAConflictAndStaysFree) {
  const v1::Kernel kernel =
      Linked({{"a.py", File("from b import f\nfrom c import g\n",
                            "@triton.jit\ndef k(x): return f(g(x))\n")},
              {"b.py", File("N = 1\n", "@triton.jit\ndef f(x): return x + N\n")},
              {"c.py", File("N = 2\n", "@triton.jit\ndef g(x): return x + N\n")}});
  EXPECT_THAT(kernel.free_names(), ElementsAre("g"));
  EXPECT_FALSE(kernel.self_contained());
  EXPECT_THAT(kernel.module(), HasSubstr("N = 1"));
  EXPECT_THAT(kernel.module(), HasSubstr("from c import g"));
  EXPECT_THAT(kernel.module(), Not(HasSubstr("N = 2")));
}

TEST(LinkedSourceTest, TheKernelsOwnNamesAndWhatItLacksConflictToo) {
  for (const char* own : {"N = 1\n", ""}) {
    const v1::Kernel kernel =
        Linked({{"a.py", File(absl::StrCat("from b import f\n", own),
                              "@triton.jit\ndef k(x): return f(x) + N\n")},
                {"b.py", File("N = 2\n", "@triton.jit\ndef f(x): return x + N\n")}});
    EXPECT_FALSE(kernel.self_contained()) << own;
    EXPECT_THAT(kernel.module(), Not(HasSubstr("N = 2"))) << own;
  }
}

TEST(LinkedSourceTest, TheSameOutsideNameUnderItsUsualNameIsNoConflict) {
  const v1::Kernel kernel =
      Linked({{"a.py", File("import triton.language as tl\nfrom b import f\n",
                            "@triton.jit\ndef k(x): return f(tl.exp(x))\n")},
              {"b.py", File("from triton import language as tl\n",
                            "@triton.jit\ndef f(x): return tl.log(x)\n")},
              {"c.py", File("import triton.experimental.gluon.language as tl\n", kHelper)}});
  EXPECT_TRUE(kernel.self_contained());
  const v1::Kernel other =
      Linked({{"a.py", File("import triton.language as tl\nfrom b import f\n",
                            "@triton.jit\ndef k(x): return f(tl.exp(x))\n")},
              {"b.py", File("import triton.experimental.gluon.language as tl\n",
                            "@triton.jit\ndef f(x): return tl.log(x)\n")}});
  EXPECT_THAT(other.free_names(), ElementsAre("f"));
}

TEST(LinkedSourceTest, AnImportThatAddsNothingIsLeftOut) {
  const v1::Kernel kernel =
      Linked({{"a.py", File("import triton.language as tl\nfrom b import f\n",
                            "@triton.jit\ndef k(x): return f(tl.exp(x))\n")},
              {"b.py", File("import torch.nn\nfrom triton import language as tl\n",
                            "@triton.jit\ndef f(x): return tl.log(torch.nn)\n")}});
  EXPECT_THAT(kernel.imports(), ElementsAre("import triton\n", "import triton.language as tl\n",
                                            "import torch.nn\n"));
}

TEST(LinkedSourceTest, FilesThatImportOneAnotherEndAndRunInPythonsOrder) {
  const v1::Kernel kernel =
      Linked({{"p/a.py", File("N = 1\nfrom .b import f\n")},
              {"p/b.py", File("from .a import N\n", "@triton.jit\ndef f(x): return x + N\n")}});
  EXPECT_EQ(kernel.module(),
            "import triton\n\nN = 1\n\n@triton.jit\ndef f(x): return x + N\n\n"
            "@triton.jit\ndef k(x): return f(x)\n");
  EXPECT_TRUE(kernel.self_contained());
  const v1::Kernel endless = Linked({{"p/a.py", File("from .b import f\n")},
                                     {"p/b.py", File("from .c import f\n", "")},
                                     {"p/c.py", File("from .b import f\n", "")}});
  EXPECT_THAT(endless.free_names(), ElementsAre("f"));
}

TEST(LinkedSourceTest, AnotherFilesPartsStandWhereItIsFirstImported) {
  const v1::Kernel kernel = Linked(
      {{"a.py", File("A = 1\nfrom b import B\nC = B + A\n", "@triton.jit\ndef k(x): return C\n")},
       {"b.py", File("from c import D\nB = D\n", "")},
       {"c.py", File("D = 3\n", "")}});
  EXPECT_EQ(kernel.module(),
            "import triton\n\nA = 1\n\nD = 3\n\nB = D\n\nC = B + A\n\n"
            "@triton.jit\ndef k(x): return C\n");
}

TEST(LinkedSourceTest, WhatDoesNotCloseStaysImportedAndFree) {
  const struct {
    const char* what;
    std::string text;
  } kCases[] = {{"a name that is nowhere", "@triton.jit\ndef f(x): return gone(x)\n"},
                {"an outside package", "import numpy\ndef f(x): return numpy.exp(x)\n"},
                {"a module as such", "from . import helpers\ndef f(x): return (helpers, x)\n"},
                {"a relative import in a block",
                 "try:\n    from .d import f\nexcept ImportError:\n    f = None\n"},
                {"nothing of that name", ""}};
  for (const auto& test : kCases) {
    const v1::Kernel kernel = Linked({{"p/a.py", File("from .b import f\n")},
                                      {"p/b.py", File("", test.text)},
                                      {"p/helpers.py", "def g(x): return x\n"}});
    EXPECT_THAT(kernel.free_names(), ElementsAre("f")) << test.what;
    EXPECT_FALSE(kernel.self_contained()) << test.what;
    EXPECT_EQ(kernel.module(), absl::StrCat("import triton\nfrom .b import f\n\n", kKernel))
        << test.what;
  }
}

TEST(LinkedSourceTest, AMissingFileOrAModuleAsSuchStaysImportedAndFree) {
  for (const char* import : {"from .gone import f\n", "from . import f\n", "import p.b as f\n"}) {
    const v1::Kernel kernel =
        Linked({{"p/a.py", File(import)}, {"p/b.py", File("", kHelper)}, {"p/f.py", "x = 1\n"}});
    EXPECT_THAT(kernel.free_names(), ElementsAre("f")) << import;
    EXPECT_THAT(kernel.module(), HasSubstr(import));
  }
}

TEST(LinkedSourceTest, OutsidePackagesAreImportedAndNotFree) {
  const v1::Kernel kernel = Linked({{"p/a.py", File("from numpy import f\n")}});
  EXPECT_THAT(kernel.free_names(), IsEmpty());
  EXPECT_FALSE(kernel.self_contained());
}

TEST(LinkedSourceTest, AChoiceBetweenTwoBindingsComesWhole) {
  const std::string choice =
      "if triton.fast():\n    f = triton.exp\nelse:\n    @triton.jit\n    def f(x): return x\n";
  const v1::Kernel kernel =
      Linked({{"a.py", File("from b import f\n")}, {"b.py", File(choice, "")}});
  EXPECT_EQ(kernel.module(), absl::StrCat("import triton\n\n", choice, "\n", kKernel));
  const v1::Kernel own = Linked({{"a.py", File(choice)}});
  EXPECT_EQ(own.module(), kernel.module());
}

TEST(LinkedSourceTest, AllBindingsOfANameOfAnotherFileComeInOrder) {
  const v1::Kernel kernel =
      Linked({{"a.py", File("from b import N\n", "@triton.jit\ndef k(x): return N\n")},
              {"b.py", File("N = 1\nM = 2\nN += 1\n", "")}});
  EXPECT_EQ(kernel.module(),
            "import triton\n\nN = 1\n\nN += 1\n\n@triton.jit\ndef k(x): return N\n");
}

TEST(LinkedSourceTest, AKernelInAStringIsMadeFromItsStringAlone) {
  const v1::Kernel kernel =
      Linked({{"a.py",
               "async_compile.triton('k', '''\nimport triton\nfrom b import f\n"
               "@triton.jit\ndef k(x): return f(x)\n''')\n"},
              {"b.py", File("", kHelper)}});
  EXPECT_THAT(kernel.module(), HasSubstr("from b import f"));
  EXPECT_THAT(kernel.module(), Not(HasSubstr("def f")));
  EXPECT_FALSE(kernel.self_contained());
}

TEST(LinkedSourceTest, AChoiceInAStringComesWholeToKernelsBesideItAndInPartsToItsOwn) {
  const std::string choice =
      "if triton.fast():\n    N = 1\n    @triton.jit\n    def f(x): return x + N\n"
      "else:\n    f = triton.exp\n";
  const v1::KernelShard shard =
      ExtractAndLink(absl::StrCat("\n\nasync_compile.triton('k', '''\n", File(choice), "''')\n"));
  ASSERT_EQ(shard.kernels_size(), 2);
  EXPECT_EQ(shard.kernels(0).module(),
            "import triton\n\nN = 1\n\n@triton.jit\ndef f(x): return x + N\n");
  EXPECT_EQ(shard.kernels(1).module(), absl::StrCat("import triton\n\n", choice, "\n", kKernel));
}

TEST(LinkedSourceTest, TheStatementThatMakesAFunctionAKernelComesAfterIt) {
  const v1::Kernel kernel = Linked({{"a.py",
                                     "import triton\ndef k(x): return x + N\nN = 1\n"
                                     "k = triton.jit(\n    k)\nk[1,](2)\n"}});
  EXPECT_EQ(kernel.module(),
            "import triton\n\nN = 1\n\ndef k(x): return x + N\n\nk = triton.jit(\n    k)\n");
  EXPECT_THAT(GetPieces(kernel), ElementsAre("a.py 1-1", "a.py 3-3", "a.py 2-2", "a.py 4-5"));
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.source(), "def k(x): return x + N\n");
}

TEST(LinkedSourceTest, WhatThatStatementNeedsComesBeforeTheKernel) {
  const v1::Kernel kernel = Linked({{"a.py",
                                     "import triton\nfrom b import CONFIGS\n"
                                     "def k(x): return x\n"
                                     "g = triton.autotune(CONFIGS, key=[])(triton.jit(k))\n"},
                                    {"b.py", "CONFIGS = []\n"}});
  EXPECT_EQ(kernel.module(),
            "import triton\n\nCONFIGS = []\n\ndef k(x): return x\n\n"
            "g = triton.autotune(CONFIGS, key=[])(triton.jit(k))\n");
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_FALSE(Linked({{"a.py",
                        "import triton\nfrom b import CONFIGS\ndef k(x): return x\n"
                        "k = triton.autotune(CONFIGS, key=[])(triton.jit(k))\n"}})
                   .self_contained());
}

TEST(LinkedSourceTest, AStatementThatDoesMoreThanMakeAKernelStaysOut) {
  for (const char* statement :
       {"triton.jit(k)", "y = triton.jit(k)[1,](2)", "y = run(triton.jit(k))",
        "a.b = triton.jit(k)", "def f(): y = triton.jit(k)"}) {
    const v1::Kernel kernel =
        Linked({{"a.py", absl::StrCat("import triton\ndef k(x): return x\n", statement, "\n")}});
    EXPECT_EQ(kernel.module(), "def k(x): return x\n") << statement;
    EXPECT_NE(kernel.applied_by(), "") << statement;
  }
}

TEST(LinkedSourceTest, ABindingUnderAConditionNeedsTheOneBeforeIt) {
  for (const char* second : {"if triton.fast():\n    N = 2\n", "for N in range(3): pass\n",
                             "while(N > 2):\n    N -= 1\n", "if N > 2: N = N - 1\n"}) {
    const std::string texts = absl::StrCat("import triton\nN = 0\nN = 1\n", second);
    const v1::Kernel kernel =
        Linked({{"a.py", absl::StrCat(texts, "@triton.jit\ndef k(x): return x + N\n")}});
    EXPECT_EQ(kernel.module(), absl::StrCat("import triton\n\nN = 1\n\n", second,
                                            "\n@triton.jit\ndef k(x): return x + N\n"));
  }
  EXPECT_EQ(
      Linked({{"a.py", "import triton\nN = 1\niffy = N = 2\n@triton.jit\ndef k(x): return N\n"}})
          .module(),
      "import triton\n\niffy = N = 2\n\n@triton.jit\ndef k(x): return N\n");
}

constexpr char kStore[] = "@triton.jit\ndef k(x): tl.store(x, 1)\n";

TEST(LinkedSourceTest, AFunctionOfAnotherFileThatImportsTheKernelIsItsLauncher) {
  const std::string host = "def host(x):\n    k[(1,)](x)\n";
  for (const char* import : {"from p.a import k", "from .a import k", "from p import k",
                             "from p.a import *", "from .a import k as l"}) {
    const bool renamed = absl::StrContains(import, " as ");
    const std::string text = renamed ? "def host(x):\n    l[(1,)](x)\n" : host;
    const v1::Kernel kernel = Linked({{"p/__init__.py", "from .a import k\n"},
                                      {"p/a.py", File("", kStore)},
                                      {"p/b.py", File(absl::StrCat(import, "\n"), text)}});
    EXPECT_EQ(kernel.launcher().path(), "p/b.py") << import;
    EXPECT_EQ(kernel.launcher().qualname(), "host") << import;
    EXPECT_EQ(kernel.launcher().first_line(), 3) << import;
    EXPECT_EQ(kernel.launcher().text(), text) << import;
    EXPECT_EQ(kernel.launcher().count(), 1) << import;
  }
}

TEST(LinkedSourceTest, LaunchesThroughModulesAndImportsInFunctionsCountToo) {
  for (const char* host :
       {"from . import a\ndef host(x): a.k[(1,)](x)\n", "import p.a\ndef host(x): p.a.k[(1,)](x)\n",
        "import p.a as m\ndef host(x): m.k.run(x, grid=1)\n",
        "def host(x):\n    from p.a import k\n    k[(1,)](x)\n"}) {
    const v1::Kernel kernel =
        Linked({{"p/__init__.py", ""}, {"p/a.py", File("", kStore)}, {"p/b.py", File("", host)}});
    EXPECT_EQ(kernel.launcher().qualname(), "host") << host;
  }
}

TEST(LinkedSourceTest, OfSeveralLaunchersTheKernelsOwnFileComesFirstThenPathAndLine) {
  const std::string import = "from a import k\n";
  const v1::Kernel other =
      Linked({{"a.py", File("", kStore)},
              {"c.py", File(import, "def c(x): k[(1,)](x)\n")},
              {"b.py", File(import, "def b(x): k[(1,)](x)\ndef d(x): k[(1,)](x)\n")}});
  EXPECT_EQ(other.launcher().qualname(), "b");
  EXPECT_EQ(other.launcher().count(), 3);
  const v1::Kernel own = Linked({{"a.py", File("", absl::StrCat(kStore, "def z(x): k[(1,)](x)\n"))},
                                 {"b.py", File(import, "def b(x): k[(1,)](x)\n")}});
  EXPECT_EQ(own.launcher().qualname(), "z");
  EXPECT_EQ(own.launcher().count(), 1);
}

TEST(LinkedSourceTest, ALauncherThatIsTooLongGivesWayToAShortOne) {
  const std::string filler(20000, '#');
  const v1::Kernel kernel =
      Linked({{"a.py", File("", kStore)},
              {"b.py", File("from a import k\n",
                            absl::StrCat("def b(x):  ", filler, "\n    k[(1,)](x)\n"))},
              {"c.py", File("from a import k\n", "def c(x): k[(1,)](x)\n")}});
  EXPECT_EQ(kernel.launcher().qualname(), "c");
}

TEST(LinkedSourceTest, WhatIsLaunchedElsewhereIsNoDeviceFunction) {
  const std::string caller = "@triton.jit\ndef c(x): k(x)\n";
  EXPECT_EQ(Linked({{"a.py", File("", absl::StrCat(kStore, caller))}}).role(),
            v1::KERNEL_ROLE_DEVICE);
  EXPECT_EQ(Linked({{"a.py", File("", absl::StrCat(kStore, caller))},
                    {"b.py", File("from a import k\n", "def b(x): k[(1,)](x)\n")}})
                .role(),
            v1::KERNEL_ROLE_KERNEL);
}

TEST(LinkedSourceTest, AnImportThatMayFailAndAnotherNameForItAreLaunchedToo) {
  const std::string import = "try:\n    from a import k\nexcept ImportError:\n    k = None\n";
  for (const char* host :
       {"def host(x): k[(1,)](x)\n", "def host(x):\n    f = k if x else None\n    f[1](x)\n",
        "def host(x): launch(k, x)\n"}) {
    const v1::Kernel kernel = Linked({{"a.py", File("", kStore)}, {"b.py", File(import, host)}});
    EXPECT_EQ(kernel.launcher().qualname(), "host") << host;
  }
}

TEST(LinkedSourceTest, WhatOnlyKernelsOfOtherFilesUseIsADeviceFunction) {
  EXPECT_EQ(Linked({{"a.py", File("", kStore)}}).role(), v1::KERNEL_ROLE_KERNEL);
  for (const char* user : {"from a import k\n@triton.jit\ndef c(x): k(x)\n",
                           "import a\n@triton.jit\ndef c(x): a.k(x)\n"}) {
    EXPECT_EQ(Linked({{"a.py", File("", kStore)}, {"b.py", File("", user)}}).role(),
              v1::KERNEL_ROLE_DEVICE)
        << user;
  }
}

TEST(LinkedSourceTest, AKernelOfThatNameThatIsNotImportedIsNotWhatIsLaunched) {
  const v1::Kernel kernel = Linked({{"a.py", File("", kStore)},
                                    {"b.py", File("from c import k\n", "def b(x): k[(1,)](x)\n")},
                                    {"d.py", File("import x\n", "def d(x): k[(1,)](x)\n")}});
  EXPECT_FALSE(kernel.has_launcher());
}

TEST(LinkedSourceTest, DefinitionsForOthersThatAreLongAreNotHandedOn) {
  const std::string table = absl::StrCat("T = '", std::string(40000, 'x'), "'\n");
  const v1::KernelShard shard = ExtractFiles({{"b.py", absl::StrCat("S = 1\n", table)}});
  ASSERT_EQ(shard.definitions_size(), 1);
  EXPECT_THAT(shard.definitions(0).names(), ElementsAre("S"));
}

// Links files that are a shard each, in this order.
std::vector<v1::KernelShard> LinkShards(const std::vector<NamedText>& files,
                                        const LinkOptions& options = {}) {
  v1::SourceTree tree;
  std::vector<v1::KernelShard> shards;
  for (const NamedText& file : files) {
    tree.add_files()->set_path(file.first);
    shards.push_back(ExtractFiles({file}));
  }
  std::vector<v1::KernelShard> linked(shards.size());
  const auto write = [&linked](size_t shard, v1::KernelShard written) {
    linked[shard] = std::move(written);
    return absl::OkStatus();
  };
  const auto read = [&shards](size_t shard) { return shards[shard]; };
  EXPECT_TRUE(LinkSource(tree, {shards.size(), read}, {}, write, options).ok());
  return linked;
}

// The launchers' texts have a bound in all, so that the first shards get theirs.
TEST(LinkedSourceTest, TheNumberOfThreadsDoesNotMatter) {
  std::vector<NamedText> files;
  for (int i = 0; i < 20; ++i) {
    const std::string helper = absl::StrCat("f", i);
    files.emplace_back(absl::StrCat("p/b", i, ".py"),
                       File("", absl::StrCat("@triton.jit\ndef ", helper, "(x): return x\n")));
    files.emplace_back(absl::StrCat("p/a", i, ".py"),
                       File(absl::StrCat("from .b", i, " import ", helper, "\n"),
                            absl::StrCat("@triton.jit\ndef k(x): return ", helper, "(x)\n")));
    files.emplace_back(absl::StrCat("p/c", i, ".cu"),
                       "__global__ void k(int* x) { *x = 1; }\nvoid host() { k<<<1, 1>>>(0); }\n");
  }
  LinkOptions options;
  options.max_launch_bytes = 300;
  const std::vector<v1::KernelShard> on_one = LinkShards(files, options);
  EXPECT_THAT(on_one[1].kernels(0).module(), HasSubstr("def f0(x)"));
  EXPECT_THAT(on_one[2].kernels(0).launcher().text(), HasSubstr("host"));
  EXPECT_THAT(on_one[59].kernels(0).launcher().text(), IsEmpty());
  for (options.threads = 2; options.threads <= 8; options.threads *= 2) {
    const std::vector<v1::KernelShard> linked = LinkShards(files, options);
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(linked[i].SerializeAsString(), on_one[i].SerializeAsString()) << files[i].first;
    }
  }
}

// b looks for N in a, and a in b: after a question to b, a would have no N.
TEST(LinkedSourceTest, WhatAShardAsksForDoesNotChangeAnother) {
  const NamedText a = {"p/a.py", "from .b import *\n"};
  const NamedText b = {"p/b.py", "from .c import *\nfrom .a import *\n"};
  const NamedText c = {"p/c.py", "N = 1\n"};
  const std::string kernel = "@triton.jit\ndef k(x): return x + N\n";
  const NamedText of_b = {"p/of_b.py", File("from .b import N\n", kernel)};
  const NamedText of_a = {"p/of_a.py", File("from .a import N\n", kernel)};
  const v1::KernelShard last = LinkShards({a, b, c, of_b, of_a})[4];
  const v1::KernelShard first = LinkShards({a, b, c, of_a, of_b})[3];
  EXPECT_TRUE(first.kernels(0).self_contained());
  EXPECT_EQ(last.SerializeAsString(), first.SerializeAsString());
}

}  // namespace
}  // namespace kernelmill::extractor
