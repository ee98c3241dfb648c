// Modules made of several files of a source: extraction and linking together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/adapters/tree_sitter/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kKernel[] = "@triton.jit\ndef k(x): return f(x)\n";
constexpr char kHelper[] = "@triton.jit\ndef f(x): return x\n";

// "path first-last" of every piece; "generated" for the others.
std::vector<std::string> PiecesOf(const v1::Kernel& kernel) {
  std::vector<std::string> pieces;
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    pieces.push_back(piece.generated() ? "generated"
                                       : absl::StrCat(piece.path(), " ", piece.first_line(), "-",
                                                      piece.last_line()));
  }
  return pieces;
}

// The kernel k of the files, linked.
v1::Kernel Linked(const std::vector<NamedText>& files) {
  v1::KernelShard shard = ExtractFiles(files);
  LinkShard("repository", "commit", shard);
  for (const v1::Kernel& kernel : shard.kernels()) {
    if (kernel.name() == "k") return kernel;
  }
  ADD_FAILURE() << "no kernel k";
  return {};
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
  EXPECT_THAT(PiecesOf(kernel),
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
  EXPECT_THAT(PiecesOf(kernel), ElementsAre("a.py 1-1", "b.py 2-3", "generated", "a.py 3-4"));
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
                {"a module", "from . import helpers\ndef f(x): return helpers.g(x)\n"},
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
  v1::KernelShard shard =
      Extract(absl::StrCat("\n\nasync_compile.triton('k', '''\n", File(choice), "''')\n"));
  LinkShard("repository", "commit", shard);
  ASSERT_EQ(shard.kernels_size(), 2);
  EXPECT_EQ(shard.kernels(0).module(),
            "import triton\n\nN = 1\n\n@triton.jit\ndef f(x): return x + N\n");
  EXPECT_EQ(shard.kernels(1).module(), absl::StrCat("import triton\n\n", choice, "\n", kKernel));
}

TEST(LinkedSourceTest, DefinitionsForOthersThatAreLongAreNotHandedOn) {
  const std::string table = absl::StrCat("T = '", std::string(40000, 'x'), "'\n");
  const v1::KernelShard shard = ExtractFiles({{"b.py", absl::StrCat("S = 1\n", table)}});
  ASSERT_EQ(shard.definitions_size(), 1);
  EXPECT_THAT(shard.definitions(0).names(), ElementsAre("S"));
}

}  // namespace
}  // namespace kernelmill::extractor
