// What is derived from a kernel: parameters, tuning, launcher and features.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
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

// "name role rule" of every parameter.
std::vector<std::string> Roles(absl::string_view signature, absl::string_view body) {
  const v1::Kernel kernel =
      First(absl::StrCat("@triton.jit\ndef k(", signature, "):\n", body, "\n"));
  std::vector<std::string> roles;
  for (const v1::Parameter& parameter : kernel.parameters()) {
    std::string role = v1::ParameterRole_Name(parameter.role()).substr(15);
    roles.push_back(absl::StrCat(parameter.name(), " ", role, " ", parameter.rule()));
  }
  return roles;
}

TEST(ParametersTest, AnnotationsAndDefaultsAreAsWritten) {
  const v1::Kernel kernel =
      First("@triton.jit\ndef k(a, b: tl . constexpr, c = 1 + 2, d: 'i32' = (3,)): pass\n");
  ASSERT_EQ(kernel.parameters_size(), 4);
  EXPECT_EQ(kernel.parameters(0).annotation(), "");
  EXPECT_EQ(kernel.parameters(1).annotation(), "tl . constexpr");
  EXPECT_EQ(kernel.parameters(1).role(), v1::PARAMETER_ROLE_CONSTEXPR);
  EXPECT_EQ(kernel.parameters(2).default_value(), "1 + 2");
  EXPECT_EQ(kernel.parameters(3).annotation(), "'i32'");
  EXPECT_EQ(kernel.parameters(3).default_value(), "(3,)");
}

TEST(ParametersTest, APointerIsWhatAnAddressBeginsWith) {
  EXPECT_THAT(
      Roles("X, Y, Z, W, start, scale",
            "    i = start + tl.arange(0, 8)\n"
            "    p = X + i * scale\n"
            "    q = (Y + 4).to(tl.pointer_type(tl.int8)) if scale else Z\n"
            "    x = tl.load(p + start, mask=i < 3)\n"
            "    p += 8\n"
            "    tl.atomic_add(tl.multiple_of(W, 16) + i, x)\n"
            "    tl.store(value=x, pointer=q + i)\n"),
      ElementsAre("X POINTER usage:address", "Y POINTER usage:address", "Z POINTER usage:address",
                  "W POINTER usage:address", "start OTHER none", "scale OTHER none"));
}

TEST(ParametersTest, AnIndexBeforeThePointerIsNotTakenForIt) {
  EXPECT_THAT(Roles("X, start",
                    "    i = start + tl.arange(0, 8)\n"
                    "    tl.load(i[:, None] + X, mask=i < 9)\n"),
              ElementsAre("X POINTER usage:address", "start OTHER none"));
}

TEST(ParametersTest, BlockPointersAndDescriptorsTellTheRolesOfTheirArguments) {
  EXPECT_THAT(Roles("X, a, b, s, t, d, out",
                    "    p = tl.make_block_ptr(base=X, shape=(a, b), strides=[s, t],\n"
                    "                          offsets=(0, 0), block_shape=(8, 8), order=(1, 0))\n"
                    "    e = tl.make_tensor_descriptor(out, [a, b], [s, 1], [8, 8])\n"
                    "    e.store([0, 0], d.load([0, 0]) + tl.load(p))\n"),
              ElementsAre("X POINTER usage:address", "a SIZE usage:shape", "b SIZE usage:shape",
                          "s STRIDE usage:strides", "t STRIDE usage:strides",
                          "d POINTER usage:descriptor", "out POINTER usage:address"));
}

TEST(ParametersTest, ASizeBoundsAnIndexOrALoop) {
  EXPECT_THAT(Roles("X, a, b, c, threshold, eps",
                    "    i = tl.program_id(0) * 8 + tl.arange(0, 8)\n"
                    "    x = tl.load(X + i, mask=(i < a) & (i >= 0))\n"
                    "    for j in range(0, tl.cdiv(b, 8), 1):\n"
                    "        for h in tl.range(c): pass\n"
                    "    y = tl.where(x > threshold, x, eps)\n"),
              ElementsAre("X POINTER usage:address", "a SIZE usage:compared", "b SIZE usage:cdiv",
                          "c SIZE usage:range", "threshold OTHER none", "eps OTHER none"));
}

TEST(ParametersTest, NamesTellWhereUsageDoesNot) {
  EXPECT_THAT(
      Roles("x_ptr, stride_xm, seq_len, n_elements, N, in_ptr0, alpha, a_desc",
            "    return helper(x_ptr, stride_xm, seq_len, n_elements, N, in_ptr0)\n"),
      ElementsAre("x_ptr POINTER name:ptr", "stride_xm STRIDE name:stride", "seq_len SIZE name:len",
                  "n_elements SIZE name:elements", "N SIZE name:N", "in_ptr0 POINTER name:ptr",
                  "alpha OTHER none", "a_desc POINTER name:desc"));
}

TEST(ParametersTest, GluonsAccessesTakeTheirAddressInOtherPlaces) {
  EXPECT_THAT(
      Roles("smem, A, B, C, D, value",
            "    gl.store(A, value)\n"
            "    gl.amd.cdna4.buffer_store(value, B, 0)\n"
            "    gl.amd.cdna4.buffer_store(value, ptr=C, offsets=0)\n"
            "    s = gl.allocate_shared_memory(t, [8], layout)\n"
            "    cp.async_copy_global_to_shared(s, D + 8)\n"),
      ElementsAre("smem OTHER none", "A POINTER usage:address", "B POINTER usage:address",
                  "C POINTER usage:address", "D POINTER usage:address", "value OTHER none"));
}

TEST(ParametersTest, LongTextsTakeNoLongTime) {
  std::string body;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&body, "    p", i + 1, " = p", i, " + 1\n");
  absl::StrAppend(&body, "    p0 = X\n    tl.load(p20000)\n    y = ");
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&body, "tl.cdiv(n < ");
  absl::StrAppend(&body, "1", std::string(20000, ')'), "\n");
  EXPECT_EQ(Roles("X, n", body)[0], "X POINTER usage:address");
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
              ElementsAre("BLOCK=64,B=2 * 8;num_warps=4,num_stages=2",
                          "BLOCK=128;num_warps=8,num_stages=3,pre_hook=hook",
                          ";num_ctas=1,maxnreg=128", ";num_warps=W if x else 8"));
  EXPECT_THAT(autotune.key(), ElementsAre("M", "N"));
  EXPECT_EQ(autotune.expression(), "");
}

TEST(AutotuneTest, WhatOnlyRunningWouldTellIsKeptAsWritten) {
  for (const std::string configs :
       {"CONFIGS", "get_configs(1)", "[triton.Config({}, num_warps=w) for w in [1, 2]]",
        "[triton.Config({'B': 1}), *more]", "[triton.Config({NAME: 1})]",
        "[triton.Config({**base})]", "[triton.Config({}, **options)]", "[make(1)]",
        "[triton.Config(base)]", "[triton.Config({}, 4, 2, None)]"}) {
    const v1::Kernel kernel =
        Decorated(absl::StrCat("@triton.autotune(configs=", configs, ", key=KEYS)"));
    EXPECT_FALSE(kernel.autotune().resolved()) << configs;
    EXPECT_EQ(kernel.autotune().expression(), configs);
    EXPECT_THAT(kernel.autotune().configs(), IsEmpty());
    EXPECT_EQ(kernel.autotune().key_expression(), "KEYS");
  }
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

v1::Launcher LauncherOf(absl::string_view rest) {
  return First(absl::StrCat("@triton.jit\ndef k(x): tl.store(x, 1)\n", rest)).launcher();
}

TEST(LauncherTest, IsTheSmallestFunctionAroundTheLaunch) {
  const v1::Launcher launcher = LauncherOf(
      "class F(torch.autograd.Function):\n"
      "    @staticmethod\n"
      "    def forward(ctx, x):  # \xff\n"
      "        grid = lambda meta: (1,)\n"
      "        k[grid](x)\n"
      "        return x\n"
      "    # after\n"
      "def other(x):\n    k[(1,)](x)\n    k[(2,)](x)\n");
  EXPECT_EQ(launcher.path(), "a.py");
  EXPECT_EQ(launcher.qualname(), "F.forward");
  EXPECT_EQ(launcher.first_line(), 6);
  EXPECT_EQ(launcher.last_line(), 10);
  EXPECT_EQ(launcher.text(),
            "    @staticmethod\n"
            "    def forward(ctx, x):  # \xff\n"
            "        grid = lambda meta: (1,)\n"
            "        k[grid](x)\n"
            "        return x\n");
  EXPECT_EQ(launcher.count(), 2);
}

TEST(LauncherTest, OtherFormsOfLaunching) {
  for (const std::string launch : {"m.k[1, 2](x)", "wrap_triton(k)[grid](x)", "(k)[grid](x)",
                                   "k.run(x, grid=grid)", "k.run(x, stream=s)"}) {
    EXPECT_EQ(LauncherOf(absl::StrCat("def f(x):\n    ", launch, "\n")).qualname(), "f") << launch;
  }
  for (const std::string other :
       {"k(x)", "k.run(x)", "k[x]", "other[grid](k)", "wrap(k, x)[grid](x)"}) {
    EXPECT_EQ(LauncherOf(absl::StrCat("def f(x):\n    ", other, "\n")).count(), 0) << other;
  }
}

TEST(LauncherTest, NoFunctionIsOneOutsideAnyOrInAKernel) {
  EXPECT_EQ(LauncherOf("k[(1,)](x)\n").count(), 0);
  EXPECT_EQ(LauncherOf("@triton.jit\ndef h(x):\n    k[(1,)](x)\n").count(), 0);
}

TEST(LauncherTest, AKernelInAFunctionIsLaunchedThereAlone) {
  const v1::KernelShard shard =
      Extract(absl::StrCat(kImports,
                           "@triton.jit\ndef k(x): pass\n"
                           "def a():\n    @triton.jit\n    def k(x): pass\n    def run(): k[1](1)\n"
                           "def b():\n    @triton.jit\n    def k(x): pass\n    k[1](1)\n"
                           "def c(): k[1](1)\n"));
  std::vector<std::string> launchers;
  for (const v1::Kernel& kernel : shard.kernels()) {
    launchers.push_back(absl::StrCat(kernel.launcher().qualname(), kernel.launcher().count()));
  }
  EXPECT_THAT(launchers, ElementsAre("c1", "a.run1", "b1"));
}

TEST(LauncherTest, TheFirstInBoundsIsTaken) {
  const std::string large =
      absl::StrCat("def large(x):\n    k[1](x)\n    y = '", std::string(16 << 10, 'y'), "'\n");
  const v1::Launcher second = LauncherOf(large + "def small(x):\n    k[1](x)\n");
  EXPECT_EQ(second.qualname(), "small");
  EXPECT_EQ(second.count(), 2);
  const v1::Launcher only = LauncherOf(large);
  EXPECT_EQ(only.qualname(), "large");
  EXPECT_EQ(only.text(), "");
  EXPECT_EQ(only.first_line(), 5);
}

TEST(LauncherTest, AllTextsTogetherAreInBounds) {
  std::string text(kImports);
  std::string launches = "def run(x):\n";
  for (int i = 0; i < 300; ++i) {
    absl::StrAppend(&text, "@triton.jit\ndef k", i, "(x): pass\n");
    absl::StrAppend(&launches, "    k", i, "[(1,)](x)\n");
  }
  text += launches;
  size_t bytes = 0;
  const v1::KernelShard shard = Extract(text);
  for (const v1::Kernel& kernel : shard.kernels()) {
    EXPECT_EQ(kernel.launcher().qualname(), "run");
    bytes += kernel.launcher().text().size();
  }
  EXPECT_GT(bytes, 7 * text.size());
  EXPECT_LE(bytes, 8 * text.size());
}

TEST(LauncherTest, InAStringItsLinesAreTheFiles) {
  const v1::KernelShard shard = Extract(
      "k = async_compile.triton('k', '''\n"
      "import triton\n@triton.jit\ndef k(x): pass\n\ndef call(x):\n    k.run(x, grid=1)\n''')\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).first_line(), 3);
  EXPECT_EQ(shard.kernels(0).launcher().first_line(), 6);
  EXPECT_EQ(shard.kernels(0).launcher().last_line(), 7);
}

TEST(FeaturesTest, NamesAndOptionsOfTheLanguageTell) {
  EXPECT_THAT(
      First("from triton.language.extra import libdevice\n"
            "@triton.jit\ndef k(x, y):\n"
            "    p = tl.make_block_ptr(x)\n"
            "    for i in tl.range(3): z = libdevice.exp(tl.load(p, eviction_policy='first'))\n"
            "    tl.atomic_add(y, z.to(tl.float8e5), sem='relaxed')\n"
            "    y.gather(z)\n")
          .features(),
      ElementsAre("atomics", "block_pointers", "cache_hints", "float8", "libdevice",
                  "pipelined_loops"));
  EXPECT_THAT(First("@triton.jit\ndef k(x): return range(x)\n").features(), IsEmpty());
}

TEST(FeaturesTest, GluonLayoutsAreOne) {
  EXPECT_THAT(First("from triton.experimental import gluon\n"
                    "from triton.experimental.gluon import language as gl\n"
                    "@gluon.jit\ndef k(x):\n"
                    "    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n"
                    "    gl.allocate_shared_memory(gl.float16, [8], layout)\n")
                  .features(),
              ElementsAre("layouts", "shared_memory"));
}

}  // namespace
}  // namespace kernelmill::extractor
