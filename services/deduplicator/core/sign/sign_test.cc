#include "services/deduplicator/core/sign/sign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/base/hash.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::deduplicator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::Kernel MakeKernel(const std::string& source, const std::string& dsl = dsl::kTriton) {
  v1::Kernel kernel;
  kernel.set_source(source);
  kernel.set_dsl(dsl);
  return kernel;
}

SignedShard SignAll(const std::vector<v1::Kernel>& kernels) {
  v1::KernelShard shard;
  for (const v1::Kernel& kernel : kernels) *shard.add_kernels() = kernel;
  return SignShard(shard);
}

// A hash for each of two texts: equal where their sets are.
bool SameNear(const v1::Kernel& a, const v1::Kernel& b) {
  const v1::TokenSets sets = SignAll({a, b}).signatures.near();
  return sets.hashes(0) == sets.hashes(1) && GetMinHash(sets, 0) == GetMinHash(sets, 1);
}

TEST(Sign, GivesEachColumnAnEntryAKernel) {
  const SignedShard shard = SignAll({MakeKernel("def f(x):\n    return x\n"), MakeKernel("")});
  EXPECT_THAT(CheckSignatures(shard.signatures), IsOk());
  EXPECT_EQ(KernelsIn(shard.signatures), 2);
  EXPECT_EQ(shard.signatures.sha256().substr(0, 32), Sha256("def f(x):\n    return x\n"));
  ASSERT_EQ(shard.shingles.kernels_size(), 2);
  EXPECT_EQ(shard.shingles.kernels(0).near_size(), 4);
  EXPECT_EQ(shard.signatures.near().sizes(0), 4u);
  EXPECT_EQ(shard.signatures.near().sizes(1), 0u);
}

TEST(Sign, DocumentationAndLayoutChangeTheHashesButNotTheShingles) {
  const v1::Kernel plain = MakeKernel("def f(x):\n    return x + 1\n");
  const v1::Kernel commented =
      MakeKernel("def f( x ):\n    \"\"\"Adds one.\"\"\"\n    return x + 1  # one\n");
  EXPECT_TRUE(SameNear(plain, commented));
  const v1::SignatureShard both = SignAll({plain, commented}).signatures;
  EXPECT_NE(both.sha256().substr(0, 32), both.sha256().substr(32));
  EXPECT_NE(both.pair_sha1().substr(0, 20), both.pair_sha1().substr(20));
}

TEST(Sign, CommentsAreTheLanguagesOwn) {
  EXPECT_TRUE(SameNear(MakeKernel("int a = b; // c\n", dsl::kCuda),
                       MakeKernel("int a = b; /* d */", dsl::kCuda)));
  EXPECT_FALSE(SameNear(MakeKernel("a = b // c\n"), MakeKernel("a = b // d\n")));
}

TEST(Sign, ARenamedCloneHasTheSameStructure) {
  const v1::TokenSets sets = SignAll({MakeKernel("def f(x, n):\n    y = tl.load(x + 3)\n"),
                                      MakeKernel("def g(p, k):\n    q = tl.load(p + 4)\n")})
                                 .signatures.structural();
  EXPECT_EQ(sets.hashes(0), sets.hashes(1));
}

TEST(Sign, ThePromptsContextBelongsToThePairAlone) {
  v1::Kernel kernel = MakeKernel("def f(x):\n    return x\n");
  const SignedShard without = SignAll({kernel});
  kernel.set_prompt_context("import triton\n");
  const SignedShard with = SignAll({kernel});
  EXPECT_EQ(with.signatures.sha256(), without.signatures.sha256());
  EXPECT_NE(with.signatures.pair_sha1(), without.signatures.pair_sha1());
}

v1::Kernel Named(const std::string& source, const std::string& name) {
  v1::Kernel kernel = MakeKernel(source);
  kernel.set_name(name);
  return kernel;
}

bool SameRenamed(const v1::Kernel& a, const v1::Kernel& b) {
  const v1::SignatureShard signatures = SignAll({a, b}).signatures;
  return signatures.renamed(0) == signatures.renamed(1);
}

TEST(Sign, RenamedIsOfTheWholeTextAndItsConstants) {
  const v1::Kernel sub = Named("def sub(x, y, a):\n    return x - y * a\n", "sub");
  EXPECT_TRUE(SameRenamed(sub, Named("def minus(p, q, by):\n    return p - q * by\n", "minus")));
  // The structure is the same, but the names are in other places.
  EXPECT_FALSE(SameRenamed(sub, Named("def rsub(x, y, a):\n    return y - x * a\n", "rsub")));
  EXPECT_FALSE(SameRenamed(Named("def f(x):\n    return x + 1\n", "f"),
                           Named("def g(x):\n    return x + 2\n", "g")));
  EXPECT_FALSE(SameRenamed(Named("def f(x):\n    return tl.exp(x)\n", "f"),
                           Named("def g(x):\n    return tl.sin(x)\n", "g")));
  EXPECT_FALSE(SameRenamed(MakeKernel(""), MakeKernel("# nothing")));
}

TEST(Sign, GeneratedCodeHasNoNameOfItsOwn) {
  v1::Kernel kernel = Named("def f(x): pass\n", "f");
  EXPECT_NE(NameHash(kernel), 0u);
  EXPECT_NE(NameHash(kernel), NameHash(Named("def g(x): pass\n", "g")));
  EXPECT_EQ(NameHash(MakeKernel("def f(x): pass\n")), 0u);
  kernel.set_form(v1::KERNEL_FORM_STRING);
  EXPECT_EQ(NameHash(kernel), 0u);
  kernel.set_form(v1::KERNEL_FORM_DECORATED);
  kernel.mutable_inductor();
  EXPECT_EQ(NameHash(kernel), 0u);
}

TEST(Sign, ModuleAndLauncherHaveRunsOfTheirOwn) {
  v1::Kernel kernel = MakeKernel("def f(x):\n    return a + b + c + d + e + g\n");
  kernel.set_module("def h(y):\n    return i + j + k + l + m + n\n" + kernel.source());
  kernel.mutable_launcher()->set_text("def run(x):\n    f[(1, 2, 3)](x, y, z, u, v, w)\n");
  const v1::KernelShingles shingles = SignAll({kernel}).shingles.kernels(0);
  const int of_kernel = 18 - 12, of_module = 36 - 12;
  EXPECT_EQ(shingles.runs_size(), of_kernel);
  EXPECT_EQ(shingles.module_runs_size(), of_module - of_kernel);  // without the kernel's own
  EXPECT_GT(shingles.launcher_runs_size(), 0);
  EXPECT_THAT(
      CheckSet({shingles.module_runs().data(), static_cast<size_t>(shingles.module_runs_size())}),
      IsOk());
}

v1::Kernel WholeFile(const std::string& source) {
  v1::Kernel file = MakeKernel(source, "");
  file.set_form(v1::KERNEL_FORM_FILE);
  file.set_path("a.py");
  file.set_first_line(1);
  return file;
}

TEST(SignFile, NothingOfAFileIsAKernelsButItsRuns) {
  const std::string text = "def f(x):\n    return a + b + c + d + e + g + h + i\n";
  v1::Kernel kernel = MakeKernel(text);
  kernel.set_first_line(1);
  const SignedShard shard = SignAll({kernel, WholeFile(text)});
  EXPECT_THAT(CheckSignatures(shard.signatures), IsOk());
  EXPECT_FALSE(IsFile(shard.signatures, 0));
  EXPECT_TRUE(IsFile(shard.signatures, 1));
  EXPECT_NE(shard.signatures.pair_sha1().substr(0, 20), shard.signatures.pair_sha1().substr(20));
  EXPECT_NE(shard.signatures.renamed(0), shard.signatures.renamed(1));
  EXPECT_EQ(shard.signatures.structural().sizes(1), 0u);
  const v1::KernelShingles& of_kernel = shard.shingles.kernels(0);
  const v1::KernelShingles& of_file = shard.shingles.kernels(1);
  ASSERT_EQ(of_kernel.near_size(), of_file.near_size());
  for (const uint64_t shingle : of_kernel.near()) {
    EXPECT_EQ(std::count(of_file.near().begin(), of_file.near().end(), shingle), 0);
  }
  EXPECT_EQ(of_file.runs_size(), 0);
  EXPECT_EQ(std::set<uint64_t>(of_kernel.runs().begin(), of_kernel.runs().end()),
            std::set<uint64_t>(of_file.module_runs().begin(), of_file.module_runs().end()));
}

TEST(SignFile, FilesThatDifferInCommentsAreEqual) {
  EXPECT_TRUE(SameNear(WholeFile("x = 1  # one\n"), WholeFile("x = 1\n")));
  EXPECT_FALSE(SameNear(WholeFile("x = 1\n"), WholeFile("x = 2\n")));
}

TEST(SignFile, OfABinaryOneNothingIsCompared) {
  const SignedShard shard = SignAll({WholeFile(std::string("a b c d e f\0", 12))});
  EXPECT_EQ(shard.signatures.near().sizes(0), 0u);
  EXPECT_EQ(shard.shingles.kernels(0).module_runs_size(), 0);
}

TEST(CheckSignatures, RefusesColumnsThatDiffer) {
  const v1::SignatureShard good = SignAll({MakeKernel("a"), MakeKernel("b")}).signatures;
  v1::SignatureShard bad = good;
  bad.mutable_near()->mutable_minhash()->pop_back();
  EXPECT_THAT(CheckSignatures(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.add_paths();
  EXPECT_THAT(CheckSignatures(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.add_names(1);
  EXPECT_THAT(CheckSignatures(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.add_renamed(1);
  bad.add_computations(1);
  EXPECT_THAT(CheckSignatures(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.mutable_sha256()->push_back('x');
  EXPECT_THAT(CheckSignatures(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  bad = good;
  bad.mutable_structural()->add_sizes(1);
  EXPECT_THAT(CheckSignatures(bad), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Expected values: Python's a, b = set(p.split()), set(c.split()); len(a & b), len(a | b).
TEST(WordOverlap, IsOfDistinctWords) {
  const Overlap overlap = WordOverlap({"x = load(p)\n\ty = x", "y = x + 1\r\n\vx = x"});
  EXPECT_EQ(overlap.common, 3u);
  EXPECT_EQ(overlap.total, 6u);
  EXPECT_EQ(WordOverlap({"a b", ""}).common, 0u);
  EXPECT_EQ(Similarity(WordOverlap({"", " "})), 0);
  EXPECT_EQ(Similarity(WordOverlap({"a b c d", "e d c b a"})), 0.8);
}

}  // namespace
}  // namespace kernelmill::deduplicator
