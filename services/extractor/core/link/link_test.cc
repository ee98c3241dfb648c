#include "services/extractor/core/link/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {
namespace {

v1::Kernel& AddKernel(v1::KernelShard& shard, int first_line, const std::string& source,
                      const std::vector<std::string>& free_names) {
  v1::Kernel& kernel = *shard.add_kernels();
  kernel.set_path("a.py");
  kernel.set_name("k");
  kernel.set_first_line(first_line);
  kernel.set_last_line(first_line + 1);
  kernel.set_source(source);
  kernel.set_sha256(Sha256Hex(source));
  for (const std::string& name : free_names) kernel.add_free_names(name);
  return kernel;
}

v1::Definition& AddDefinition(v1::KernelShard& shard, v1::Definition::Kind kind, int line,
                              const std::string& text, const std::vector<std::string>& names,
                              const std::vector<std::string>& uses = {}) {
  v1::Definition& definition = *shard.add_definitions();
  definition.set_path("a.py");
  definition.set_kind(kind);
  definition.set_first_line(line);
  definition.set_last_line(line);
  definition.set_text(text);
  for (const std::string& name : names) definition.add_names(name);
  for (const std::string& use : uses) definition.add_uses(use);
  return definition;
}

TEST(LinkTest, ModuleHoldsImportsThenDefinitionsInFileOrderThenTheKernel) {
  v1::KernelShard shard;
  AddKernel(shard, 20, "@jit\ndef k(): g(N)\n", {"N", "g", "jit"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 2, "M = 1\n", {"M"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 3, "N = M\n", {"N"}, {"M"});
  AddDefinition(shard, v1::Definition::KIND_FUNCTION, 5, "def g(x): h(x)\n", {"g"}, {"h"});
  AddDefinition(shard, v1::Definition::KIND_FUNCTION, 8, "def h(x): pass\n", {"h"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 9, "unused = 1\n", {"unused"});
  AddDefinition(shard, v1::Definition::KIND_IMPORT, 10, "from triton import jit\n", {"jit"})
      .add_modules("triton");
  shard = LinkSource(shard).value();
  EXPECT_EQ(shard.kernels(0).module(),
            "from triton import jit\n\nM = 1\n\nN = M\n\ndef g(x): h(x)\n\ndef h(x): pass\n\n"
            "@jit\ndef k(): g(N)\n");
  EXPECT_THAT(shard.kernels(0).imports(), ::testing::ElementsAre("from triton import jit\n"));
  EXPECT_THAT(shard.kernels(0).free_names(), ::testing::IsEmpty());
  EXPECT_TRUE(shard.kernels(0).self_contained());
  EXPECT_EQ(shard.definitions_size(), 0);
}

TEST(LinkTest, TheNearestBindingAboveCountsElseTheFirstBelow) {
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): A, B\n", {"A", "B"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 1, "A = 1\n", {"A"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 2, "A = 2\n", {"A"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 30, "B = 3\n", {"B"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 40, "A = B = 4\n", {"A", "B"});
  shard = LinkSource(shard).value();
  EXPECT_EQ(shard.kernels(0).module(), "A = 2\n\nB = 3\n\ndef k(): A, B\n");
}

TEST(LinkTest, ABindingThatBuildsOnAnEarlierOneBringsItAlong) {
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): A\n", {"A"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 1, "A = []\n", {"A"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 2, "A = A + [1]\n", {"A"}, {"A"});
  shard = LinkSource(shard).value();
  EXPECT_EQ(shard.kernels(0).module(), "A = []\n\nA = A + [1]\n\ndef k(): A\n");
}

TEST(LinkTest, WhatNothingDefinesStaysFree) {
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): g(gone)\n", {"g", "gone"});
  AddDefinition(shard, v1::Definition::KIND_FUNCTION, 1, "def g(x): lost\n", {"g"}, {"lost"});
  shard = LinkSource(shard).value();
  EXPECT_THAT(shard.kernels(0).free_names(), ::testing::ElementsAre("gone", "lost"));
  EXPECT_FALSE(shard.kernels(0).self_contained());
}

TEST(LinkTest, OnlyTritonTorchAndTheStandardLibraryAreSelfContained) {
  const struct {
    const char* module;
    bool self_contained;
  } kCases[] = {{"triton.language", true}, {"torch.nn", true}, {"functools", true},
                {"numpy", false},          {".", false},       {"tritonish", false}};
  for (const auto& test : kCases) {
    v1::KernelShard shard;
    AddKernel(shard, 10, "def k(): m\n", {"m"});
    AddDefinition(shard, v1::Definition::KIND_IMPORT, 1, "import m\n", {"m"})
        .add_modules(test.module);
    shard = LinkSource(shard).value();
    EXPECT_EQ(shard.kernels(0).self_contained(), test.self_contained) << test.module;
  }
}

TEST(LinkTest, ANestedKernelIsDedentedInItsModuleAlone) {
  v1::KernelShard shard;
  AddKernel(shard, 5, "    @jit\n    def k():\n        pass", {});
  AddKernel(shard, 9, "    @jit\n    def k():\n  \"\"\"odd\"\"\"\n", {});
  shard = LinkSource(shard).value();
  EXPECT_EQ(shard.kernels(0).module(), "@jit\ndef k():\n    pass\n");
  EXPECT_EQ(shard.kernels(0).source(), "    @jit\n    def k():\n        pass");
  EXPECT_EQ(shard.kernels(1).module(), "if True:\n    @jit\n    def k():\n  \"\"\"odd\"\"\"\n");
}

TEST(LinkTest, DefinitionsOfOtherFilesAreNotUsedUnlessImported) {
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): A\n", {"A"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 1, "A = 1\n", {"A"}).set_path("b.py");
  shard = LinkSource(shard).value();
  EXPECT_THAT(shard.kernels(0).free_names(), ::testing::ElementsAre("A"));
}

// An import of `name` as another file has it; `module` is of the same folder.
void AddImport(v1::KernelShard& shard, const std::string& module, const std::string& name) {
  v1::Definition& definition =
      AddDefinition(shard, v1::Definition::KIND_IMPORT, 1,
                    absl::StrCat("from .", module, " import ", name, "\n"), {name});
  definition.add_modules(".");
  v1::ImportedName& imported = *definition.add_imported();
  imported.set_name(name);
  imported.set_module(module);
  imported.set_member(name);
  imported.set_level(1);
}

TEST(LinkTest, DefinitionsOfOtherFilesComeByImportAndFromAllShards) {
  v1::KernelShard other;
  AddDefinition(other, v1::Definition::KIND_CONSTANT, 7, "A = 1\n", {"A"}).set_path("b.py");
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): A\n", {"A"});
  AddImport(shard, "b", "A");
  v1::SourceTree tree;
  for (const char* path : {"a.py", "b.py"}) tree.add_files()->set_path(path);
  const auto read = [&](size_t i) { return i == 0 ? other : shard; };
  v1::KernelShard linked;  // the last
  const auto write = [&](size_t, v1::KernelShard written) {
    linked = std::move(written);
    return absl::OkStatus();
  };
  ASSERT_TRUE(LinkSource(tree, {2, read}, {}, write).ok());
  shard = linked;
  EXPECT_EQ(shard.kernels(0).module(), "A = 1\n\ndef k(): A\n");
  EXPECT_TRUE(shard.kernels(0).self_contained());
  ASSERT_EQ(shard.kernels(0).pieces_size(), 2);
  EXPECT_EQ(shard.kernels(0).pieces(0).path(), "b.py");
  EXPECT_EQ(shard.kernels(0).pieces(0).first_line(), 7);
  EXPECT_EQ(shard.kernels(0).pieces(0).kind(), v1::Definition::KIND_CONSTANT);
}

TEST(LinkTest, WhatOtherFilesHaveIsLeftOutBeyondTheLimit) {
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): A\n", {"A", "B"});
  AddImport(shard, "b", "A");
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 2, "B = 1\n", {"B"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 1,
                absl::StrCat("A = '", std::string(2000, 'x'), "'\n"), {"A"})
      .set_path("b.py");
  for (const char* path : {"a.py", "b.py"}) shard.add_files()->set_path(path);
  LinkOptions options;
  options.max_module_bytes = 1000;
  shard = LinkSource(shard, options).value();
  EXPECT_EQ(shard.kernels(0).module(), "from .b import A\n\nB = 1\n\ndef k(): A\n");
  EXPECT_THAT(shard.kernels(0).free_names(), ::testing::ElementsAre("A"));
}

TEST(LinkTest, LongChainsOfFilesAndRingsOfImportsEnd) {
  constexpr int kFiles = 5000;
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): N0\n", {"N0"});
  AddImport(shard, "f0", "N0");
  shard.add_files()->set_path("a.py");
  for (int i = 0; i < kFiles; ++i) {
    const std::string path = absl::StrCat("f", i, ".py");
    const std::string next = absl::StrCat("N", (i + 1) % kFiles);
    AddImport(shard, absl::StrCat("f", (i + 1) % kFiles), next);
    shard.mutable_definitions()->rbegin()->set_path(path);
    AddDefinition(shard, v1::Definition::KIND_FUNCTION, 2, absl::StrCat("def N", i, "(): pass\n"),
                  {absl::StrCat("N", i)}, {next})
        .set_path(path);
    shard.add_files()->set_path(path);
  }
  shard = LinkSource(shard).value();
  EXPECT_THAT(shard.kernels(0).free_names(), ::testing::ElementsAre("N0"));
}

TEST(LinkTest, WildcardImportsAreLeftOutBeyondTheLimit) {
  v1::KernelShard shard;
  AddKernel(shard, 1000, "def k(): A\n", {"A"});
  for (int line = 1; line < 1000; ++line) {
    AddDefinition(shard, v1::Definition::KIND_IMPORT, line, "from a import *\n", {"*"});
  }
  LinkOptions options;
  options.max_module_bytes = 160;
  shard = LinkSource(shard, options).value();
  EXPECT_EQ(shard.kernels(0).imports_size(), 11);
}

// A hundred thousand imports for each of ten thousand kernels would take minutes.
TEST(LinkTest, ImportsInAFunctionAreNotWalkedForEachKernelInIt) {
  constexpr int kImports = 100'000;
  constexpr int kKernels = 10'000;
  v1::KernelShard shard;
  AddDefinition(shard, v1::Definition::KIND_FUNCTION, 1, "def f():\n", {"f"})
      .set_last_line(kImports + 2 * kKernels + 1);
  for (int i = 0; i < kImports; ++i) {
    AddDefinition(shard, v1::Definition::KIND_IMPORT, 2 + i, " import a\n", {"a"})
        .set_in_function(true);
  }
  for (int i = 0; i < kKernels; ++i) AddKernel(shard, kImports + 2 + 2 * i, " def k(): 0\n", {});
  shard = LinkSource(shard).value();
  EXPECT_EQ(shard.kernels(0).module(), "def k(): 0\n");
}

TEST(LinkTest, AModuleBeyondTheLimitIsTheKernelAlone) {
  v1::KernelShard shard;
  AddKernel(shard, 10, "def k(): A\n", {"A"});
  AddDefinition(shard, v1::Definition::KIND_CONSTANT, 1,
                absl::StrCat("A = '", std::string(2000, 'x'), "'\n"), {"A"});
  LinkOptions options;
  options.max_module_bytes = 1000;
  shard = LinkSource(shard, options).value();
  EXPECT_EQ(shard.kernels(0).module(), "def k(): A\n");
  EXPECT_THAT(shard.kernels(0).free_names(), ::testing::ElementsAre("A"));
}

}  // namespace
}  // namespace kernelmill::extractor
