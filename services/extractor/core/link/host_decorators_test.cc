// Modules without the decorators that are machinery of the host, and with helpers of used sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/core/link/decorators.h"
#include "services/extractor/core/link/link.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string File(const std::string& decorators) {
  return absl::StrCat("import triton\nfrom gone.tools import lib, choose\n\n", decorators,
                      "@triton.jit\ndef k(x, B): return x\n");
}

constexpr char kPlain[] = "import triton\n\n@triton.jit\ndef k(x, B): return x\n";

// "text function first-last reason" of each.
std::vector<std::string> Dropped(const v1::Kernel& kernel) {
  std::vector<std::string> dropped;
  for (const v1::DroppedDecorator& each : kernel.dropped_decorators()) {
    dropped.push_back(absl::StrCat(each.text(), " ", each.function(), " ", each.first_line(), "-",
                                   each.last_line(), " ", each.reason()));
  }
  return dropped;
}

TEST(HostDecoratorsTest, MachineryThatCannotBeHadIsDroppedAndTheSourceStays) {
  const v1::Kernel kernel = Linked({{"a.py", File("@lib()  # traced\n")}});
  EXPECT_EQ(kernel.module(), kPlain);
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(kernel.free_names(), IsEmpty());
  EXPECT_THAT(Dropped(kernel), ElementsAre("lib() k 4-4 host_machinery"));
  EXPECT_EQ(kernel.source(), "@lib()  # traced\n@triton.jit\ndef k(x, B): return x\n");
}

TEST(HostDecoratorsTest, WhatCanBeHadStays) {
  const v1::Kernel kernel = Linked(
      {{"a.py", "import triton\ndef lib(f): return f\n@lib\n@triton.jit\ndef k(x): return x\n"}});
  EXPECT_THAT(kernel.module(), HasSubstr("def lib(f): return f\n"));
  EXPECT_THAT(kernel.module(), HasSubstr("@lib\n@triton.jit\n"));
  EXPECT_THAT(Dropped(kernel), IsEmpty());
}

TEST(HostDecoratorsTest, ADecoratorBelowTheJitIsNeverDropped) {
  const v1::Kernel kernel = Linked(
      {{"a.py", "import triton\nfrom gone import lib\n@triton.jit\n@lib\ndef k(x): return x\n"}});
  EXPECT_THAT(kernel.module(), HasSubstr("@triton.jit\n@lib\n"));
  EXPECT_FALSE(kernel.self_contained());
  EXPECT_THAT(Dropped(kernel), IsEmpty());
}

TEST(HostDecoratorsTest, AnAutotunerOfTheRepositorysOwnIsReplacedByItsConfigurations) {
  const v1::Kernel kernel =
      Linked({{"a.py", File("@lib(configs=[triton.Config({'B': 2 * n}, num_warps=n) "
                            "for n in [4, 8]],\n     key=['x'], "
                            "reset_to_zero=['x'], cache=choose)\n")}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(kernel.module(),
              HasSubstr("@triton.autotune(\n    configs=[\n"
                        "        triton.Config({'B': 8}, num_warps=4),\n"
                        "        triton.Config({'B': 16}, num_warps=8),\n    ],\n"
                        "    key=['x'],\n    reset_to_zero=['x'],\n)\n@triton.jit\n"));
  ASSERT_EQ(kernel.replaced_texts_size(), 1);
  EXPECT_EQ(kernel.replaced_texts(0).reason(), "autotune_configs");
  EXPECT_EQ(kernel.replaced_texts(0).first_line(), 4);
  EXPECT_EQ(kernel.replaced_texts(0).last_line(), 5);
  EXPECT_THAT(kernel.source(), HasSubstr(kernel.replaced_texts(0).original()));
  EXPECT_THAT(kernel.module(), HasSubstr(kernel.replaced_texts(0).replacement()));
  EXPECT_THAT(Dropped(kernel), IsEmpty());
}

TEST(HostDecoratorsTest, ConfigurationsAndHeuristicsThatNobodyKnowsAreDropped) {
  const v1::Kernel kernel =
      Linked({{"a.py", File("@triton.autotune(configs=choose('k'), key=['x'])\n"
                            "@triton.heuristics({'B': choose})\n")}});
  EXPECT_EQ(kernel.module(), kPlain);
  EXPECT_THAT(Dropped(kernel),
              ElementsAre("triton.autotune(configs=choose('k'), key=['x']) k 4-4 autotune_configs",
                          "triton.heuristics({'B': choose}) k 5-5 heuristics"));
}

TEST(HostDecoratorsTest, AHelpersMachineryIsDroppedToo) {
  const v1::Kernel kernel = Linked(
      {{"p/a.py", "import triton\nfrom .b import f\n@triton.jit\ndef k(x): return f(x)\n"},
       {"p/b.py", "import triton\nfrom gone import lib\n@lib\n@triton.jit\ndef f(x): return x\n"}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_THAT(kernel.module(), HasSubstr("@triton.jit\ndef f(x): return x\n"));
  EXPECT_THAT(kernel.module(), Not(HasSubstr("lib")));
  EXPECT_THAT(Dropped(kernel), ElementsAre("lib f 3-3 host_machinery"));
}

TEST(HostDecoratorsTest, AFunctionThatIsNoKernelKeepsItsDecorators) {
  const v1::Kernel kernel = Linked({{"a.py",
                                     "import triton\nfrom gone import lib\n@lib\n"
                                     "@staticmethod\ndef n(): return 1\nN = n()\n"
                                     "@triton.jit\ndef k(x): return x + N\n"}});
  EXPECT_FALSE(kernel.self_contained());
  EXPECT_THAT(Dropped(kernel), IsEmpty());
}

TEST(HostDecoratorsTest, ATextIsTakenApartByItsStatements) {
  const auto parts =
      ReadDecoratedFunction("@a.b(c=d,\n  e=[1])  # f\n@g\nasync def h(i=j): return k\n");
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->name, "h");
  ASSERT_EQ(parts->decorators.size(), 2u);
  EXPECT_EQ(parts->decorators[0].text, "a.b(c=d,\n  e=[1])");
  EXPECT_EQ(parts->decorators[0].callee, "a.b");
  EXPECT_EQ(parts->decorators[0].last_line, 1);
  EXPECT_TRUE(parts->decorators[0].words.contains("d"));
  EXPECT_FALSE(parts->decorators[0].words.contains("c"));
  EXPECT_TRUE(parts->words.contains("k"));
  EXPECT_EQ(FindKeywordArgument("a(b=c(d, e=f), g=[1, 2])", "g"), "[1, 2]");
  EXPECT_EQ(FindKeywordArgument("a(b=c(d, e=f), g=[1, 2])", "e"), "");
  EXPECT_FALSE(ReadDecoratedFunction("x = 1  # @\n").has_value());
}

class UsedSourceTest : public ::testing::Test {
 protected:
  static v1::SourceTree MakeTree(const v1::KernelShard& shard) {
    v1::SourceTree tree;
    for (const v1::ExtractedFile& file : shard.files()) tree.add_files()->set_path(file.path());
    return tree;
  }

  // The kernel k of `own`, linked with the sources "lib" and "other".
  static v1::Kernel LinkedWith(const std::vector<NamedText>& own, const std::vector<NamedText>& lib,
                               const std::vector<NamedText>& other = {}) {
    const v1::KernelShard shard = ExtractFiles(own);
    std::vector<UsedSourceShards> used;
    for (const auto& [name, files] : {std::pair("lib", lib), std::pair("other", other)}) {
      if (files.empty()) continue;
      const v1::KernelShard there = ExtractFiles(files);
      used.push_back({name, MakeTree(there), {1, [there](size_t) { return there; }}});
    }
    v1::KernelShard linked;
    const auto write = [&linked](size_t, v1::KernelShard written) {
      linked = std::move(written);
      return absl::OkStatus();
    };
    const auto read = [&shard](size_t) { return shard; };
    EXPECT_TRUE(LinkSource(MakeTree(shard), {1, read}, used, write).ok());
    return FindKernel(linked, "k");
  }
};

constexpr char kUser[] =
    "import triton\nfrom lib.ops import f\n@triton.jit\ndef k(x): return f(x)\n";
constexpr char kHelper[] = "import triton\nN = 2\n@triton.jit\ndef f(x): return x + N\n";

// A used source's definition of a name takes precedence over the name alone.
TEST_F(UsedSourceTest, AWrapperMayComeFromItToo) {
  const std::string kernel = "\n@w.triton.jit\ndef k(x): return x\n";
  const std::string jits = "import triton\nmy_jit = triton.jit\n";
  EXPECT_EQ(LinkedWith({{"a.py", "import lib.w as w" + kernel}}, {{"lib/w.py", jits}}).found_by(),
            "lib.w.triton.jit");
  EXPECT_EQ(
      LinkedWith({{"a.py", "from lib.w import my_jit  # triton\n@my_jit\ndef k(x): return x\n"}},
                 {{"lib/w.py", jits}})
          .found_by(),
      "lib.w.my_jit");
  EXPECT_EQ(LinkedWith({{"a.py", "import gone.w as w" + kernel}}, {{"lib/w.py", jits}}).found_by(),
            "name:gone.w.triton.jit");
}

TEST_F(UsedSourceTest, AHelperComesFromItAndItsPieceSaysSo) {
  const v1::Kernel kernel = LinkedWith({{"a.py", kUser}}, {{"lib/ops.py", kHelper}});
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.module(),
            "import triton\n\nN = 2\n\n@triton.jit\ndef f(x): return x + N\n\n"
            "@triton.jit\ndef k(x): return f(x)\n");
  std::vector<std::string> pieces;
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    pieces.push_back(absl::StrCat(piece.used_source(), " ", piece.path(), " ", piece.first_line()));
  }
  EXPECT_THAT(pieces, ElementsAre(" a.py 1", "lib lib/ops.py 2", "lib lib/ops.py 3", " a.py 3"));
}

TEST_F(UsedSourceTest, ItsFilesImportFromItAlone) {
  const v1::Kernel kernel = LinkedWith(
      {{"a.py", kUser}, {"lib2.py", "M = 1\n"}},
      {{"lib/ops.py", "import triton\nfrom lib2 import M\n@triton.jit\ndef f(x): return x + M\n"}});
  EXPECT_FALSE(kernel.self_contained());
}

TEST_F(UsedSourceTest, WhatTheSourceHasItselfComesFirstThenTheUsedOnesInTheirOrder) {
  const NamedText own = {"lib/ops.py", "import triton\n@triton.jit\ndef f(x): return 0\n"};
  EXPECT_THAT(LinkedWith({{"a.py", kUser}, own}, {{"lib/ops.py", kHelper}}).module(),
              HasSubstr("return 0"));
  EXPECT_THAT(LinkedWith({{"a.py", kUser}}, {{"lib/ops.py", kHelper}}, {own}).module(),
              HasSubstr("return x + N"));
}

}  // namespace
}  // namespace kernelmill::extractor
