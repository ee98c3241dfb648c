// Autotuners and heuristics in decorators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::string_view kImports = "import triton\nimport triton.language as tl\n";

v1::Kernel First(absl::string_view text) {
  const v1::KernelShard shard = Extract(absl::StrCat(kImports, text));
  EXPECT_GT(shard.kernels_size(), 0);
  return shard.kernels_size() > 0 ? shard.kernels(0) : v1::Kernel();
}

std::string Options(const google::protobuf::RepeatedPtrField<v1::NamedText>& entries) {
  return absl::StrJoin(entries, ",", [](std::string* out, const v1::NamedText& entry) {
    absl::StrAppend(out, entry.name(), "=", entry.text());
  });
}

// "kwargs;options" of every configuration.
std::vector<std::string> Configs(const v1::Autotune& autotune) {
  std::vector<std::string> configs;
  for (const v1::Autotune::Config& config : autotune.configs()) {
    configs.push_back(absl::StrCat(Options(config.kwargs()), ";", Options(config.options())));
  }
  return configs;
}

v1::Kernel Decorated(absl::string_view decorators) {
  return First(absl::StrCat(decorators, "\n@triton.jit\ndef k(x, BLOCK: tl.constexpr): pass\n"));
}

TEST(AutotuneTest, ConfigurationsAreReadWhereTheyAreLiteral) {
  const v1::Autotune autotune =
      Decorated(
          "@triton.autotune(\n"
          "    configs=[\n"
          "        triton.Config({'BLOCK': 64, \"B\" : 2 * 8}, num_warps=4, num_stages=2),  # one\n"
          "        triton.Config(dict(BLOCK=128), 8, 3, pre_hook=hook),\n"
          "        triton.Config(kwargs={}, num_ctas=1, maxnreg=128),\n"
          "        triton.Config(num_warps=W if x else 8),\n"
          "    ],\n"
          "    key=['M', 'N'],\n"
          ")")
          .autotune();
  EXPECT_TRUE(autotune.resolved());
  EXPECT_EQ(autotune.decorator(), "triton.autotune");
  EXPECT_THAT(Configs(autotune),
              ElementsAre("BLOCK=64,B=16;num_warps=4,num_stages=2",
                          "BLOCK=128;num_warps=8,num_stages=3,pre_hook=hook",
                          ";num_ctas=1,maxnreg=128", ";num_warps=W if x else 8"));
  EXPECT_THAT(autotune.key(), ElementsAre("M", "N"));
  EXPECT_EQ(autotune.expression(), "");
}

TEST(AutotuneTest, WhatTheFileDoesNotTellIsKeptAsWritten) {
  for (const std::string configs :
       {"CONFIGS", "get_configs(1)", "[triton.Config({'B': 1}), *more]",
        "[triton.Config({NAME: 1})]", "[triton.Config({**base})]", "[triton.Config({}, **options)]",
        "[make(1)]", "[triton.Config(base)]", "[triton.Config({}, 4, 2, None)]",
        "[triton.Config({}, num_warps=w) for w in WARPS]",
        "[triton.Config({}, num_warps=f(w)) for w in [1, 2]]",
        "[triton.Config({}, num_warps=4)] if torch.version.hip else []",
        "[triton.Config({}, num_warps=w) for w in ([4] if is_hip() else [8])]",
        "[triton.Config({}, num_warps=w) for w in [1] if os.environ.get('X')]",
        "[triton.Config({f'B{w}': 1}) for w in [1]]", "[1, 2]", "{'B': 1}"}) {
    const v1::Kernel kernel =
        Decorated(absl::StrCat("@triton.autotune(configs=", configs, ", key=KEYS)"));
    EXPECT_FALSE(kernel.autotune().resolved()) << configs;
    EXPECT_EQ(kernel.autotune().expression(), configs);
    EXPECT_THAT(kernel.autotune().configs(), IsEmpty());
    EXPECT_EQ(kernel.autotune().key_expression(), "KEYS");
  }
}

// The configurations that an expression comes to below the statements `above`; "?" if it is not
// resolved.
std::vector<std::string> Evaluated(absl::string_view above, absl::string_view configs) {
  const v1::Kernel kernel =
      Decorated(absl::StrCat(above, "@triton.autotune(configs=", configs, ", key=[])"));
  if (!kernel.autotune().resolved()) return {"?"};
  return Configs(kernel.autotune());
}

TEST(AutotuneTest, ComprehensionsAreEvaluated) {
  EXPECT_THAT(Evaluated("",
                        "[triton.Config({'B': b}, num_warps=w) for b in [32, 64] "
                        "for w in (2, 4) if b * w < 200 and not (b == 32 and w == 4)]"),
              ElementsAre("B=32;num_warps=2", "B=64;num_warps=2"));
  EXPECT_THAT(Evaluated("import itertools\n",
                        "[triton.Config(dict(A=a, B=2 ** b), num_stages=s)"
                        " for (a, b), s in itertools.product([(1, 2), (3, 4)], range(2, 4))]"),
              ElementsAre("A=1,B=4;num_stages=2", "A=1,B=4;num_stages=3", "A=3,B=16;num_stages=2",
                          "A=3,B=16;num_stages=3"));
  EXPECT_THAT(Evaluated("",
                        "[triton.Config({'P': p, 'E': e}, maxnreg=r) for p in ['ieee'] "
                        "for e in [True, 1e-6] for r in [None]]"),
              ElementsAre("P='ieee',E=True;maxnreg=None", "P='ieee',E=1e-06;maxnreg=None"));
}

TEST(AutotuneTest, NamesOfTheModuleAreFollowed) {
  EXPECT_THAT(Evaluated("W = [1, 2]\nW = W + [4]\nif len(W) > 2:\n    W += [8]\nW.append(16)\n"
                        "C = [triton.Config({}, num_warps=w) for w in W]\n",
                        "C[1:3] + list(reversed(C[3:]))"),
              ElementsAre(";num_warps=2", ";num_warps=4", ";num_warps=16", ";num_warps=8"));
  EXPECT_THAT(Evaluated("W = [1, 2]\n", "[triton.Config({}, num_warps=W[-1])]"),
              ElementsAre(";num_warps=2"));
  EXPECT_THAT(Evaluated("W = [1, 2]\n", "[triton.Config({}, num_warps=w) for w in W[1:]]"),
              ElementsAre(";num_warps=2"));
  EXPECT_THAT(
      Evaluated("W = [1, 2]\nW = W + [4]\n", "[triton.Config({}, num_warps=w) for w in W[2:]]"),
      ElementsAre(";num_warps=4"));
  EXPECT_THAT(
      Evaluated("W = [1, 2]\nW += [4]\n", "[triton.Config({}, num_warps=w) for w in W[2:]]"),
      ElementsAre(";num_warps=4"));
  EXPECT_THAT(
      Evaluated("W = [1, 2]\nW.append(4)\n", "[triton.Config({}, num_warps=w) for w in W[2:]]"),
      ElementsAre(";num_warps=4"));
  // Values that depend on the machine, here or above, and values below are not known.
  EXPECT_THAT(Evaluated("W = [1]\nif torch.version.hip:\n    W = [2]\n",
                        "[triton.Config({}, num_warps=w) for w in W]"),
              ElementsAre("?"));
  EXPECT_THAT(Evaluated("try:\n    import x\n    W = [1]\nexcept ImportError:\n    W = []\n",
                        "[triton.Config({}, num_warps=w) for w in W]"),
              ElementsAre("?"));
  EXPECT_THAT(Evaluated("W = W\n", "W"), ElementsAre("?"));
}

TEST(AutotuneTest, FunctionsThatOnlyMakeAListAreEvaluated) {
  EXPECT_THAT(
      Evaluated("def get(pre=None, *, stages: int = 2):\n"
                "    \"\"\"Doc.\"\"\"\n"
                "    configs = []\n"
                "    for b in [16, 32]:\n"
                "        if b == 16: continue\n"
                "        elif stages > 5: return []\n"
                "        configs.append(make(b, stages))\n"
                "    return configs\n"
                "def make(b, s): return triton.Config({'B': b}, num_stages=s, pre_hook=hook)\n",
                "get(stages=3)"),
      ElementsAre("B=32;num_stages=3,pre_hook=hook"));
  EXPECT_THAT(Evaluated("def keep(c): return c.kwargs['B'] > 1 and c.num_warps == 4\n"
                        "C = [triton.Config({'B': b}, num_warps=4) for b in range(3)]\n",
                        "list(filter(keep, C))"),
              ElementsAre("B=2;num_warps=4"));
  EXPECT_THAT(Evaluated("def get():\n    if is_hip(): return []\n    return [triton.Config({})]\n",
                        "get()"),
              ElementsAre("?"));
  EXPECT_THAT(Evaluated("def get(n): return get(n + 1)\n", "get(1)"), ElementsAre("?"));
}

TEST(AutotuneTest, OnlyWhatRanAboveCounts) {
  const v1::KernelShard shard = Extract(
      absl::StrCat(kImports,
                   "W = [1]\n"
                   "@triton.autotune([triton.Config({}, num_warps=w) for w in W], [])\n"
                   "@triton.jit\ndef a(): pass\n"
                   "W = [2]\n"
                   "if HAS:\n"
                   "    V = W + [3]\n"
                   "    @triton.autotune([triton.Config({}, num_warps=w) for w in V], [])\n"
                   "    @triton.jit\n    def b(): pass\n"
                   "def make(X):\n"
                   "    U = [5]\n"
                   "    @triton.autotune([triton.Config({}, num_warps=w) for w in U + W], [])\n"
                   "    @triton.jit\n    def c(): pass\n"
                   "    @triton.autotune(X, [])\n"
                   "    @triton.jit\n    def d(): pass\n"));
  ASSERT_EQ(shard.kernels_size(), 4);
  EXPECT_THAT(Configs(shard.kernels(0).autotune()), ElementsAre(";num_warps=1"));
  EXPECT_THAT(Configs(shard.kernels(1).autotune()), ElementsAre(";num_warps=2", ";num_warps=3"));
  EXPECT_THAT(Configs(shard.kernels(2).autotune()), ElementsAre(";num_warps=5", ";num_warps=2"));
  EXPECT_EQ(shard.kernels(3).autotune().expression(), "X");
}

TEST(AutotuneTest, KeysAreEvaluated) {
  EXPECT_THAT(
      Decorated("KEY = ['M']\n@triton.autotune([], key=KEY + ['N', *('K',)])").autotune().key(),
      ElementsAre("M", "N", "K"));
  EXPECT_EQ(Decorated("@triton.autotune([], key=[1])").autotune().key_expression(), "[1]");
}

TEST(AutotuneTest, HostileExpressionsEnd) {
  EXPECT_THAT(Evaluated("", "[triton.Config({}) for a in range(10 ** 9)]"), ElementsAre("?"));
  EXPECT_THAT(Evaluated("", "[triton.Config({})] * 10 ** 12"), ElementsAre("?"));
  EXPECT_THAT(Evaluated("", "[triton.Config({}) for a in range(100) for b in range(100)]"),
              ElementsAre("?"));  // more than 4096
  EXPECT_THAT(Evaluated("def f():\n    while True: pass\n", "f()"), ElementsAre("?"));
  EXPECT_THAT(Evaluated("x = ['a']\nx = x + x\nx.append(x)\n", "x"), ElementsAre("?"));
  std::string doubled = "x0 = [1, 1]\n";
  for (int i = 1; i < 60; ++i)
    absl::StrAppend(&doubled, "x", i, " = [x", i - 1, ", x", i - 1, "]\n");
  EXPECT_THAT(Evaluated(doubled, "[triton.Config({'B': x59})]"), ElementsAre("?"));
  EXPECT_THAT(Evaluated("", absl::StrCat("[triton.Config({'B': ", std::string(5000, '('), "1",
                                         std::string(5000, ')'), "})]")),
              ElementsAre("B=1;"));
  std::string deep = "1";
  for (int i = 0; i < 2000; ++i) deep = absl::StrCat("[", deep, "][0]");
  EXPECT_THAT(Evaluated("", absl::StrCat("[triton.Config({'B': ", deep, "})]")), ElementsAre("?"));
  std::string many;
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&many,
                    "@triton.autotune([triton.Config({'B': a * 1000 + b}) for a in range(64)"
                    " for b in range(64)], [])\n@triton.jit\ndef k",
                    i, "(): pass\n");
  }
  const v1::KernelShard shard = Extract(absl::StrCat(kImports, many));
  size_t configs = 0;
  for (const v1::Kernel& kernel : shard.kernels()) configs += kernel.autotune().configs_size();
  EXPECT_GT(configs, 4096u);
  EXPECT_LT(configs, 300'000u);
}

TEST(AutotuneTest, WrappersCountByTheirConfigurations) {
  const v1::Autotune positional =
      Decorated("@triton.autotune([triton.Config({'B': 1})], ['n'])").autotune();
  EXPECT_THAT(Configs(positional), ElementsAre("B=1;"));
  EXPECT_THAT(positional.key(), ElementsAre("n"));
  const v1::Autotune own =
      Decorated("@lib.tune(name='k', configs=[Config({'B': 1})], key=['n'])").autotune();
  EXPECT_EQ(own.decorator(), "lib.tune");
  EXPECT_THAT(Configs(own), ElementsAre("B=1;"));
  EXPECT_FALSE(Decorated("@lib.tune([triton.Config({})])").has_autotune());
  EXPECT_FALSE(Decorated("@triton.autotune").has_autotune());
}

TEST(AutotuneTest, HeuristicsAreNamed) {
  const v1::Kernel kernel = Decorated(
      "@triton.heuristics({'EVEN': lambda args: args['n'] % 2 == 0})\n"
      "@triton.heuristics(values=dict(B=f))\n@triton.heuristics(VALUES)");
  EXPECT_THAT(kernel.heuristics().names(), ElementsAre("EVEN", "B"));
  EXPECT_THAT(kernel.heuristics().expressions(), ElementsAre("VALUES"));
  EXPECT_FALSE(Decorated("").has_heuristics());
}

}  // namespace
}  // namespace kernelmill::extractor
