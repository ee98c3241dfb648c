// A test for each rule of rules.h that tells a constexpr's value: what it gives, and that it is the
// one that gave it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/signature/rules_testing.h"

namespace kernelmill::compiler {
namespace {

using ::testing::Not;

TEST(ValueRulesTest, Autotune) {
  v1::Kernel kernel = MakeKernel("x, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), 1.0)"});
  for (const char* size : {"256", "512"}) {
    v1::Autotune::Config& config = *kernel.mutable_autotune()->add_configs();
    v1::NamedText& argument = *config.add_kwargs();
    argument.set_name("B");
    argument.set_text(size);
    v1::NamedText& option = *config.add_options();
    option.set_name("num_warps");
    option.set_text("8");
  }
  EXPECT_EQ(Told(kernel, "B"), "256 autotune");
  EXPECT_EQ(Told(kernel, "num_warps"), "8 autotune");
  EXPECT_TRUE(AnyTry(kernel, "B", "512 autotune"));
}

TEST(ValueRulesTest, Heuristics) {
  v1::Kernel kernel = MakeKernel("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
  kernel.set_source(
      "@triton.heuristics({'E': lambda args: args['n'] > 0})\n@triton.jit\n"
      "def k(x, E: tl.constexpr):\n    if E:\n        tl.store(x, 1.0)\n");
  EXPECT_THAT(Told(kernel, "E"),
              ::testing::AllOf(::testing::HasSubstr("lambda args: args['n'] > 0"),
                               ::testing::EndsWith(" heuristics")));
}

TEST(ValueRulesTest, Launch) {
  const v1::Kernel kernel =
      Launched(MakeKernel("x, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), 1.0)"}),
               "def f(x):\n    k[(1,)](x, B=1024, num_warps=2)\n");
  EXPECT_EQ(Told(kernel, "B"), "1024 launch");
  EXPECT_EQ(Told(kernel, "num_warps"), "2 launch");
}

TEST(ValueRulesTest, ATypeThatTheLaunchGives) {
  const v1::Kernel kernel =
      Launched(MakeKernel("x, T: tl.constexpr", {"tl.store(x, tl.load(x).to(T))"}),
               "def f(x):\n    k[(1,)](x, T=torch.int64)\n");
  EXPECT_EQ(Told(kernel, "T"), "tl.int64 launch");
}

TEST(ValueRulesTest, LaunchPresent) {
  const v1::Kernel kernel =
      Launched(MakeKernel("x, b, H: tl.constexpr", {"if H:", "    tl.store(x, tl.load(b))"}),
               "def f(x, b=None):\n    k[(1,)](x, b, H=b is not None)\n");
  EXPECT_EQ(Told(kernel, "H"), "True launch:present");
  EXPECT_TRUE(AnyTry(kernel, "H", "False launch:present"));
}

TEST(ValueRulesTest, Default) {
  EXPECT_EQ(Told("x, B: tl.constexpr = 32", {"tl.store(x + tl.arange(0, B), 1.0)"}, "B"),
            "32 default");
}

TEST(ValueRulesTest, UnitStride) {
  EXPECT_EQ(Told("x, n, s, t: tl.constexpr",
                 {"d = tl.make_tensor_descriptor(x, [n, n], [s, t], [16, 16])",
                  "d.store([0, 0], d.load([0, 0]))"},
                 "t"),
            "1 unit_stride");
}

TEST(ValueRulesTest, Called) {
  EXPECT_EQ(Told("x, A: tl.constexpr, U: tl.constexpr", {"if U:", "    tl.store(x, A(1.0))"}, "A"),
            "None usage:called");
}

TEST(ValueRulesTest, Dtype) {
  EXPECT_EQ(Told("x, D: tl.constexpr", {"tl.store(x, tl.load(x).to(D))"}, "D"),
            "tl.float32 usage:dtype");
}

TEST(ValueRulesTest, ATypeThatItIsComparedWithIsTriedLate) {
  const v1::Kernel kernel =
      MakeKernel("x, D: tl.constexpr", {"if D == tl.uint8:", "    tl.store(x, 1.0)"});
  EXPECT_EQ(Told(kernel, "D"), "tl.float32 usage:dtype");
  EXPECT_TRUE(AnyTry(kernel, "D", "tl.uint8 usage:dtype"));
}

TEST(ValueRulesTest, ATypeThatIsCastToAndShiftedIsAnInteger) {
  EXPECT_EQ(Told("x, D: tl.constexpr", {"y = tl.load(x).to(D)", "tl.store(x, y << 4)"}, "D"),
            "tl.int32 usage:dtype");
}

TEST(ValueRulesTest, TheLargestNumberOfATypeIsNoType) {
  EXPECT_EQ(Told("x, DTYPE_MAX: tl.constexpr", {"tl.store(x, f(DTYPE_MAX))"}, "DTYPE_MAX"),
            "448.0 name:dtype_max");
}

TEST(ValueRulesTest, Compared) {
  EXPECT_EQ(Told("x, A: tl.constexpr", {"if A == 'relu':", "    tl.store(x, 1.0)"}, "A"),
            "'relu' usage:compared");
}

TEST(ValueRulesTest, Condition) {
  const v1::Kernel kernel = MakeKernel("x, A: tl.constexpr", {"if A:", "    tl.store(x, 1.0)"});
  EXPECT_EQ(Told(kernel, "A"), "False usage:condition");
  EXPECT_TRUE(AnyTry(kernel, "A", "True usage:condition"));
}

TEST(ValueRulesTest, Keyword) {
  EXPECT_EQ(Told("x, y, P: tl.constexpr",
                 {"tl.store(x, tl.dot(tl.load(x), tl.load(y), input_precision=P))"}, "P"),
            "'ieee' usage:keyword");
}

TEST(ValueRulesTest, Unrolled) {
  EXPECT_EQ(
      Told("x, Q: tl.constexpr", {"for i in tl.static_range(Q):", "    tl.store(x, 1.0)"}, "Q"),
      "2 usage:unrolled");
}

TEST(ValueRulesTest, None) {
  EXPECT_EQ(Told("x, Q: tl.constexpr", {"if Q is not None:", "    tl.store(x, 1.0)"}, "Q"),
            "None usage:none");
}

TEST(ValueRulesTest, Name) {
  EXPECT_EQ(Told("x, BLOCK: tl.constexpr", {"tl.store(x + tl.arange(0, BLOCK), 1.0)"}, "BLOCK"),
            "64 name:block");
  EXPECT_EQ(Told("x, BLOCK_HALF: tl.constexpr", {"tl.store(x + tl.arange(0, BLOCK_HALF), 1.0)"},
                 "BLOCK_HALF"),
            "32 name:half");
}

TEST(ValueRulesTest, AScaleThatIntegersAreDividedByIsNoFraction) {
  EXPECT_THAT(
      Told("x, SCALE: tl.constexpr", {"tl.store(x + tl.program_id(0) // SCALE, 1.0)"}, "SCALE"),
      Not(::testing::HasSubstr("1.0")));
}

TEST(ValueRulesTest, Shape) {
  EXPECT_EQ(Told("x, Q: tl.constexpr", {"tl.store(x, tl.zeros((Q,), tl.float32))"}, "Q"),
            "64 usage:size");
}

TEST(ValueRulesTest, ASizeInThreeDimensionsIsSmall) {
  const std::string shape =
      "o = tl.arange(0, B)[:, None, None] + tl.arange(0, BLOCK)[None, None, :]";
  EXPECT_EQ(Told("x, B: tl.constexpr, BLOCK: tl.constexpr", {shape, "tl.store(x + o, 1.0)"}, "B"),
            "16 usage:three_dimensional");
  EXPECT_EQ(
      Told("x, B: tl.constexpr, BLOCK: tl.constexpr", {shape, "tl.store(x + o, 1.0)"}, "BLOCK"),
      "16 usage:three_dimensional");
}

TEST(ValueRulesTest, ASizeThatTheLaunchMayGiveIsAPowerOfTwo) {
  const v1::Kernel kernel =
      Launched(MakeKernel("x, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), 1.0)"}),
               "def f(x, block=12064):\n    k[(1,)](x, B=block)\n");
  EXPECT_EQ(Told(kernel, "B"), "64 usage:size");
}

TEST(ValueRulesTest, AFlagOfHeuristicsThatNumbersDecideIsSetWithFlags) {
  v1::Kernel kernel = MakeKernel("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
  kernel.set_source(
      "@triton.heuristics({'E': lambda args: args['n'] % 16 == 0})\n@triton.jit\n"
      "def k(x, E: tl.constexpr):\n    if E:\n        tl.store(x, 1.0)\n");
  EXPECT_TRUE(AnyTry(kernel, "E", "True heuristics:flag"));
}

TEST(ValueRulesTest, Divided) {
  const std::string parameters = "x, BLOCK: tl.constexpr";
  EXPECT_EQ(
      Told(parameters,
           {"GROUP: tl.constexpr = 32", "tl.store(x, tl.load(x).reshape(BLOCK // GROUP // 8))"},
           "BLOCK"),
      "256 usage:divided");
  EXPECT_EQ(Told(parameters, {"tl.store(x, tl.load(x).reshape(BLOCK // 4, 4))"}, "BLOCK"),
            "64 name:block");
}

TEST(ValueRulesTest, DividedInAHelper) {
  v1::Kernel kernel =
      MakeKernel("x, BLOCK: tl.constexpr", {"tl.store(x, f(tl.load(x), BLOCK // 32))"});
  kernel.set_module(absl::StrCat(kernel.module(),
                                 "@triton.jit\ndef f(x, K: tl.constexpr, S: tl.constexpr = 8):\n",
                                 "    return x.reshape(K // S, S)\n"));
  EXPECT_EQ(Told(kernel, "BLOCK"), "256 usage:divided");
}

TEST(ValueRulesTest, Multiple) {
  const std::string parameters = "x, K: tl.constexpr, BLOCK: tl.constexpr";
  EXPECT_EQ(
      Told(parameters, {"tl.static_assert(K % (4 * BLOCK) == 0)", "tl.store(x, K * BLOCK)"}, "K"),
      "256 usage:multiple");
  // Each of the other: no circle.
  EXPECT_EQ(Told(parameters,
                 {"tl.static_assert(K % BLOCK == 0 and BLOCK % K == 0)", "tl.store(x, K * BLOCK)"},
                 "BLOCK"),
            "64 name:block");
}

TEST(ValueRulesTest, GuessInt) {
  EXPECT_EQ(Told("x, Q: tl.constexpr", {"tl.store(x, Q * 2)"}, "Q"), "16 guess:int");
}

TEST(ValueRulesTest, LaunchLikely) {
  const v1::Kernel kernel =
      MakeKernel("x, B: tl.constexpr, D: tl.constexpr",
                 {"tl.store(x + tl.arange(0, B), 1.0)", "if D:", "    return"});
  EXPECT_EQ(Told(Launched(kernel, "def f(x, size=256):\n    k[(1,)](x, size // 2)\n"), "B"),
            "128 launch:likely");
  const v1::Kernel cast = Launched(
      kernel, "def f(x):\n    d = True\n    if x:\n        d = False\n    k[(1,)](x, 16, d)\n");
  EXPECT_EQ(Told(cast, "D"), "False launch:likely");
  EXPECT_TRUE(AnyTry(cast, "D", "True launch:likely"));
  EXPECT_EQ(Told(Launched(kernel, "def f(x, size=0):\n    k[(1,)](x, size)\n"), "B"),
            "64 usage:size");
  EXPECT_EQ(Told(Launched(kernel, "def f(x, n):\n    k[(1,)](x, min(n, 512))\n"), "B"),
            "512 launch:likely");
}

TEST(ValueRulesTest, ADefaultOfNoneIsNoSize) {
  EXPECT_EQ(
      Told(Launched(MakeKernel("x, BLOCK: tl.constexpr", {"tl.store(x + tl.arange(0, BLOCK), 1)"}),
                    "def f(x, size=None):\n    k[(1,)](x, size)\n"),
           "BLOCK"),
      "64 name:block");
}

TEST(ValueRulesTest, AnElementOfAListIsTheLaunchs) {
  EXPECT_EQ(Told(Launched(MakeKernel("x, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), 1.0)"}),
                          "def f(x):\n    sizes = (32, 8)\n    k[(1,)](x, sizes[1])\n"),
                 "B"),
            "8 launch");
}

TEST(ValueRulesTest, AFunctionOfHeuristicsThatAsksForATypeHearsOfATensor) {
  v1::Kernel kernel = MakeKernel("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
  kernel.set_module("def flag(args):\n    return args['x'].dtype is None\n\n" + kernel.module());
  kernel.set_source(
      "@triton.heuristics({'E': flag})\n@triton.jit\n"
      "def k(x, E: tl.constexpr):\n    if E:\n        tl.store(x, 1.0)\n");
  EXPECT_THAT(Told(kernel, "E"), ::testing::HasSubstr("'x': __import__('torch').Tensor("));
}

TEST(ValueRulesTest, ATypeOfShiftedIntegersIsThatOfThePointersInTriesWithFlags) {
  const v1::Kernel kernel =
      MakeKernel("x, T: tl.constexpr", {"b = tl.load(x)", "b = b.to(T) >> 2", "tl.store(x, b)"});
  EXPECT_EQ(Told(kernel, "T"), "tl.int32 usage:dtype");
  EXPECT_TRUE(AnyTry(kernel, "T", "tl.float32 usage:dtype"));
}

TEST(ValueRulesTest, AHeuristicMayReadWhatItIsGivenItself) {
  v1::Kernel kernel = MakeKernel("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
  kernel.set_source(
      "@triton.heuristics({'E': lambda args: bool(args['E'])})\n@triton.jit\n"
      "def k(x, E: tl.constexpr):\n    if E:\n        tl.store(x, 1.0)\n");
  EXPECT_THAT(Told(kernel, "E"), ::testing::HasSubstr("'E': False, "));
  kernel.mutable_heuristics()->add_names("E");
  bool few = false;
  for (size_t i = 0; i < kMaxTries; ++i) few |= absl::StrContains(Told(kernel, "E", i), "'x': 12");
  EXPECT_TRUE(few);
}

TEST(ValueRulesTest, AHeuristicThatAsksForSizesHearsOfATensorThatHasThem) {
  for (const char* asked : {"args['x'].shape[0] > 2", "args['x'].stride(0) == 1",
                            "args['x'].numel() > 2", "args['x'].data_ptr() % 16 == 0"}) {
    v1::Kernel kernel = MakeKernel("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
    kernel.set_source(absl::StrCat("@triton.heuristics({'E': lambda args: ", asked,
                                   "})\n@triton.jit\ndef k(x, E: tl.constexpr):\n    if E:\n"
                                   "        tl.store(x, 1.0)\n"));
    EXPECT_THAT(Told(kernel, "E"),
                ::testing::HasSubstr("Tensor(__import__('torch').float32, 1024)"))
        << asked;
  }
}

TEST(ValueRulesTest, ALayoutOfGluonIsALayout) {
  v1::Kernel kernel = MakeKernel("x, N: gl.constexpr, layout: gl.constexpr",
                                 {"gl.store(x + gl.arange(0, N, layout=layout), 1.0)"});
  kernel.set_dsl(dsl::kGluon);
  EXPECT_THAT(Told(kernel, "layout"), ::testing::AllOf(::testing::HasSubstr("BlockedLayout([1], "),
                                                       ::testing::EndsWith(" usage:keyword")));
  EXPECT_EQ(Told(kernel, "N"), "64 name:n");
}

TEST(ValueRulesTest, AHelperHasTheShapeOfTheAddressThatItLoads) {
  v1::Kernel kernel = MakeKernel(
      "x, M: tl.constexpr, K: tl.constexpr",
      {"p = x + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]", "a = get(p, True)",
       "tl.store(x, tl.sum(tl.sum(a.reshape((M * K // 2, 2)), 1), 0))"});
  kernel.set_module(
      absl::StrCat(kernel.module(),
                   "\n@triton.jit\ndef get(p, masked: tl.constexpr):\n    return tl.load(p)\n"));
  EXPECT_EQ(Told(kernel, "K"), "64 usage:size");
  kernel.set_module(
      absl::StrCat(kImports, "@triton.jit\ndef get(p):\n    return tl.load(p)\n\n@triton.jit\n",
                   "def k(x, M: tl.constexpr, K: tl.constexpr):\n",
                   "    p = x + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]\n",
                   "    tl.store(x + tl.arange(0, K), tl.sum(get(p).reshape((K, 1)), 1))\n"));
  EXPECT_EQ(Told(kernel, "M"), "1 usage:reshape");
}

TEST(ValueRulesTest, AHeuristicThatAsksForATensorHearsOfOne) {
  v1::Kernel kernel = MakeKernel("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
  kernel.set_source(
      "@triton.heuristics({'E': lambda args: isinstance(args['x'], torch.Tensor)})\n@triton.jit\n"
      "def k(x, E: tl.constexpr):\n    if E:\n        tl.store(x, 1.0)\n");
  EXPECT_THAT(
      Told(kernel, "E"),
      ::testing::HasSubstr("'x': __import__('torch').Tensor(__import__('torch').float32, 1024)"));
}

TEST(ValueRulesTest, AHeuristicMayCallItsArgumentsAnything) {
  v1::Kernel kernel = MakeKernel("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
  kernel.set_source(
      "@triton.heuristics({'E': lambda nargs: isinstance(nargs['x'], torch.Tensor)})\n"
      "@triton.jit\ndef k(x, E: tl.constexpr):\n    if E:\n        tl.store(x, 1.0)\n");
  EXPECT_THAT(Told(kernel, "E"), ::testing::HasSubstr("'x': __import__('torch').Tensor("));
}

TEST(ValueRulesTest, ComparedWithAConstantOfTheModule) {
  v1::Kernel kernel =
      MakeKernel("x, MODE: tl.constexpr", {"if MODE == LATE:", "    tl.store(x, 1.0)"});
  kernel.set_module("LATE = 7\n" + kernel.module());
  EXPECT_EQ(Told(kernel, "MODE"), "LATE usage:compared");
}

TEST(ValueRulesTest, OfSeveralNumbersThatItIsComparedWithTheFirst) {
  const std::string parameters = "x, BITS: tl.constexpr";
  EXPECT_EQ(
      Told(parameters,
           {"if BITS == 8:", "    tl.store(x, 1.0)", "elif BITS == 16:", "    tl.store(x, 2.0)"},
           "BITS"),
      "8 usage:compared");
  EXPECT_EQ(
      Told(parameters,
           {"if BITS == 8:", "    tl.store(x, 1.0)", "elif BITS == 4:", "    tl.store(x, 2.0)"},
           "BITS"),
      "4 name:bits");
}

TEST(ValueRulesTest, Order) {
  const std::vector<std::string> body = {
      "p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), order=(F, G))",
      "tl.store(p, 1.0)"};
  EXPECT_EQ(Told("x, n, F: tl.constexpr, G: tl.constexpr", body, "F"), "0 usage:order");
  EXPECT_EQ(Told("x, n, F: tl.constexpr, G: tl.constexpr", body, "G"), "1 usage:order");
}

TEST(ValueRulesTest, Equals) {
  EXPECT_EQ(Told("x, Q: tl.constexpr", {"tl.static_assert(Q == 3)", "tl.store(x, Q)"}, "Q"),
            "3 usage:equals");
  EXPECT_EQ(Told("x, Q: tl.constexpr", {"tl.static_assert(Q)", "if Q:", "    tl.store(x, 1)"}, "Q"),
            "True usage:equals");
  EXPECT_EQ(
      Told("x, Q: tl.constexpr", {"tl.static_assert(not Q, 'no')", "if Q:", "    return"}, "Q"),
      "False usage:equals");
}

TEST(ValueRulesTest, AnAssertedBoundIsKept) {
  EXPECT_EQ(
      Told("x, BLOCK: tl.constexpr",
           {"tl.static_assert(BLOCK >= 128)", "tl.store(x + tl.arange(0, BLOCK), 1.0)"}, "BLOCK"),
      "128 usage:divided");
  EXPECT_EQ(Told(Launched(MakeKernel("x, BLOCK: tl.constexpr, HEAD_DIM: tl.constexpr",
                                     {"tl.static_assert(BLOCK <= HEAD_DIM)",
                                      "tl.store(x + tl.arange(0, BLOCK), tl.arange(0, HEAD_DIM))"}),
                          "def f(x, d):\n    k[(1,)](x, BLOCK=128, HEAD_DIM=d)\n"),
                 "HEAD_DIM"),
            "128 usage:multiple");
}

TEST(ValueRulesTest, ADeviceFunctionIsPreferredToOneThatStandsInForIt) {
  v1::Kernel kernel = MakeKernel("x, BLOCK: tl.constexpr", {"tl.store(x, f(tl.load(x), BLOCK))"});
  kernel.set_module(absl::StrCat(
      kImports, "if triton:\n    @triton.jit\n    def f(x, B: tl.constexpr):\n",
      "        return x.reshape(B // 128, 128)\nelse:\n    def f(*args):\n        raise\n",
      kernel.module()));
  EXPECT_EQ(Told(kernel, "BLOCK"), "128 usage:divided");
}

TEST(ValueRulesTest, AStrideIsANumberWhateverItIsAStrideOf) {
  EXPECT_EQ(
      Told("x, stride_scale: tl.constexpr", {"tl.store(x + stride_scale, 1.0)"}, "stride_scale"),
      "64 name:stride");
}

}  // namespace
}  // namespace kernelmill::compiler
