// A test for each rule of rules.h that tells a type: what it gives, and that it is the one that
// gave it. value_rules_test.cc has those of values.
#include "services/compiler/core/signature/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/signature/rules_testing.h"

namespace kernelmill::compiler {
namespace {

using ::testing::IsEmpty;

TEST(TypeRulesTest, Inductor) {
  v1::Kernel kernel = MakeKernel("x, n, B: tl.constexpr", {"tl.store(x, n)"});
  kernel.set_source(absl::StrCat(
      "@heuristics(triton_meta={'signature': {'x': '*fp64', 'n': 'i64'}, 'constants': {'B': 8}})\n",
      "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    tl.store(x, n)\n"));
  EXPECT_EQ(Told(kernel, "x"), "*fp64 inductor");
  EXPECT_EQ(Told(kernel, "n"), "i64 inductor");
  EXPECT_EQ(Told(kernel, "B"), "8 inductor");
}

TEST(TypeRulesTest, Annotation) {
  EXPECT_EQ(Told("x, n: tl.int64", {"tl.store(x, n)"}, "n"), "i64 annotation");
  EXPECT_EQ(Told("x: tl.pointer_type(tl.float16)", {"tl.store(x, 1.0)"}, "x"), "*fp16 annotation");
}

TEST(TypeRulesTest, LaunchNone) {
  EXPECT_EQ(
      Told(Launched(MakeKernel("x, y", {"tl.store(x, 1.0)"}), "def f(x):\n    k[(1,)](x, None)\n"),
           "y"),
      "None launch:none");
}

TEST(TypeRulesTest, Asserted) {
  EXPECT_EQ(Told("x, y",
                 {"t: tl.constexpr = x.dtype.element_ty",
                  "tl.static_assert(t == tl.uint8 or t == tl.float8e5)", "tl.store(y, tl.load(x))"},
                 "x"),
            "*u8 usage:asserted");
}

TEST(TypeRulesTest, DotScaled) {
  const std::vector<std::string> body = {
      "a = tl.load(x)", "b = tl.load(y)", "s = tl.load(z)",
      "tl.store(o, tl.dot_scaled(a, s, 'e2m1', b, None, 'bf16'))"};
  EXPECT_EQ(Told("x, y, z, o", body, "x"), "*u8 usage:dot_scaled");
  EXPECT_EQ(Told("x, y, z, o", body, "z"), "*u8 usage:dot_scaled");
  EXPECT_EQ(Told("x, y, z, o", body, "y"), "*fp32 guess:float");
}

TEST(TypeRulesTest, AFormatOfDotScaledThatIsAConstexprIsOfBytes) {
  EXPECT_EQ(
      Told("x, s, y, o, F: tl.constexpr",
           {"tl.store(o, tl.dot_scaled(tl.load(x), tl.load(s), F, tl.load(y), None, 'bf16'))"},
           "x"),
      "*u8 usage:dot_scaled");
}

TEST(TypeRulesTest, FloatBits) {
  const v1::Kernel kernel = MakeKernel(
      "x, s, o",
      {"tl.store(o, tl.load(x).to(tl.int32, bitcast=True) & s.to(tl.uint32, bitcast=True))"});
  EXPECT_EQ(Told(kernel, "x"), "*fp32 usage:float_bits");
  EXPECT_EQ(Told(kernel, "s"), "fp32 usage:float_bits");
  EXPECT_TRUE(AnyTry(kernel, "x", "*i32 usage:float_bits"));
}

TEST(TypeRulesTest, OfSeveralWidthsThatItIsReadAsTheWidest) {
  EXPECT_EQ(Told("x, o",
                 {"k = tl.load(x)", "a = k.to(tl.int16, bitcast=True)",
                  "b = k.to(tl.int64, bitcast=True)", "tl.store(o, a + b)"},
                 "x"),
            "*i64 usage:bitcast");
}

TEST(TypeRulesTest, AnIntegerOf64BitsIsStored) {
  EXPECT_EQ(Told("x, o", {"tl.store(o, tl.argmax(tl.load(x), 0).to(tl.int64))"}, "o"),
            "*i64 usage:stored");
  EXPECT_EQ(Told("x, o", {"tl.store(o, tl.argmax(tl.load(x), 0))"}, "o"), "*i32 usage:stored");
}

TEST(TypeRulesTest, ScalesOfSequencesAreWhereTheyBegin) {
  EXPECT_EQ(
      Told("x, cu_seqlens_q_scale", {"i = tl.load(cu_seqlens_q_scale) * 2", "tl.store(x + i, 1.0)"},
           "cu_seqlens_q_scale"),
      "*i32 usage:offset");
}

TEST(TypeRulesTest, OfLaunchesByAnotherNameTheOneThatGivesAllArgumentsIsRead) {
  const v1::Kernel kernel =
      Launched(MakeKernel("x, n, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), n)"}),
               "def f(x):\n    one[grid](x, 0.5, x, 4, 64)\n    two[grid](x, 1.5)\n"
               "    three[grid](x, 2.5, 128, num_warps=4)\n");
  EXPECT_EQ(Told(kernel, "B"), "128 launch");
  EXPECT_EQ(Told(kernel, "n"), "fp32 launch:type");
}

TEST(TypeRulesTest, AnItemOfATensorIsANumber) {
  const v1::Kernel kernel = Launched(
      MakeKernel("x, total", {"tl.store(x, tl.load(x) / total)"}),
      "def f(x, t):\n    n = torch.zeros(1, dtype=torch.int64)\n    k[(1,)](x, n.sum().item())\n");
  EXPECT_EQ(Told(kernel, "total"), "i64 launch:type");
}

TEST(TypeRulesTest, Dot) {
  EXPECT_EQ(Told("x, y, o",
                 {"acc = tl.zeros((16, 16), dtype=tl.int32)", "a = tl.load(x)",
                  "acc += tl.dot(a, tl.load(y))", "tl.store(o, acc)"},
                 "x"),
            "*i8 usage:dot");
  EXPECT_EQ(
      Told("x, y, o", {"tl.store(o, tl.dot(tl.load(x), tl.load(y), out_dtype=tl.int32))"}, "y"),
      "*i8 usage:dot");
}

TEST(TypeRulesTest, LaunchDtype) {
  EXPECT_EQ(
      Told(Launched(MakeKernel("x", {"tl.store(x, 1.0)"}),
                    "def f(n):\n    y = torch.empty(n, dtype=torch.bfloat16)\n    k[(1,)](y)\n"),
           "x"),
      "*bf16 launch:dtype");
}

TEST(TypeRulesTest, Bitcast) {
  EXPECT_EQ(Told("x, o", {"tl.store(o, tl.load(x).to(tl.float16, bitcast=True))"}, "x"),
            "*i16 usage:bitcast");
}

TEST(TypeRulesTest, MadePointer) {
  EXPECT_EQ(Told("x", {"p = tl.load(x).to(tl.pointer_type(tl.float32))", "tl.store(p, 1.0)"}, "x"),
            "*i64 usage:made_pointer");
}

TEST(TypeRulesTest, Bitwise) {
  EXPECT_EQ(Told("x, o, s", {"tl.store(o, (tl.load(x) >> s) & 15)"}, "x"), "*i32 usage:bitwise");
}

TEST(TypeRulesTest, AScaleAmongPackedIntegersIsNoneOfThem) {
  EXPECT_EQ(
      Told("x, scales, o, s",
           {"b = tl.load(x)", "b = (b >> s) & 15", "b = b * tl.load(scales)", "tl.store(o, b)"},
           "scales"),
      "*fp32 name:scale");
}

TEST(TypeRulesTest, Offset) {
  EXPECT_EQ(Told("x, i, s", {"tl.store(x + tl.load(i) * s, 1.0)"}, "i"), "*i32 usage:offset");
  EXPECT_EQ(Told("x, i, s", {"tl.store(x + tl.load(i) * s, 1.0)"}, "s"), "i32 usage:offset");
}

TEST(TypeRulesTest, Range) {
  EXPECT_EQ(Told("x, q", {"for i in range(q):", "    tl.store(x, 1.0)"}, "q"), "i32 usage:range");
}

TEST(TypeRulesTest, Divides) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, tl.program_id(0) // q)"}, "q"), "i32 usage:divides");
}

TEST(TypeRulesTest, Shape) {
  EXPECT_EQ(
      Told("x, q", {"p = tl.make_block_ptr(x, (q,), (1,), (0,), (16,), (0,))", "tl.store(p, 1.0)"},
           "q"),
      "i32 usage:shape");
}

TEST(TypeRulesTest, Cdiv) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, tl.cdiv(q, 16))"}, "q"), "i32 usage:cdiv");
}

TEST(TypeRulesTest, Random) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, tl.rand(q, tl.arange(0, 16)))"}, "q"), "i32 usage:random");
}

TEST(TypeRulesTest, Mask) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, 1.0, mask=tl.load(q))"}, "q"), "*i1 usage:mask");
}

TEST(TypeRulesTest, Atomic) {
  EXPECT_EQ(Told("x", {"tl.atomic_cas(x, 0, 1)"}, "x"), "*i32 usage:atomic");
}

TEST(TypeRulesTest, Math) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, tl.exp(q))"}, "q"), "fp32 usage:math");
}

TEST(TypeRulesTest, LaunchType) {
  EXPECT_EQ(
      Told(Launched(MakeKernel("x, q", {"tl.store(x, q)"}), "def f(x):\n    k[(1,)](x, 1.5)\n"),
           "q"),
      "fp32 launch:type");
}

TEST(TypeRulesTest, Default) {
  EXPECT_EQ(Told("x, q=1e-3", {"tl.store(x, q)"}, "q"), "fp32 default");
}

TEST(TypeRulesTest, Descriptor) {
  const std::string parameters = "d, x, N: tl.constexpr, M: tl.constexpr";
  EXPECT_EQ(
      Told(parameters,
           {"i = tl.program_id(0) * N", "tl.store(x, d.load([i, tl.program_id(1) * M + 16]))"},
           "d"),
      "tensordesc<fp32[64, 16]> descriptor");
  EXPECT_EQ(Told(parameters, {"tl.store(x, d.load([0, 0]))"}, "d"),
            "tensordesc<fp32[64, 64]> descriptor");
  EXPECT_EQ(Told(parameters, {"tl.store(x, d.load(i))"}, "d"), "missing type:d");
  EXPECT_EQ(
      Told(parameters, {"for i in tl.range(0, 512, N):", "    tl.store(x, d.load([i]))"}, "d"),
      "tensordesc<fp32[64]> descriptor");
}

TEST(TypeRulesTest, ADescriptorHasTheBlockThatAHookGivesIt) {
  v1::Kernel kernel = MakeKernel("d, x, BLOCK: tl.constexpr", {"tl.store(x, d.load([0, 0, 0]))"});
  kernel.set_module(absl::StrCat(
      "def hook(nargs):\n    B = nargs['BLOCK']\n    nargs['d'].block_shape = [B // 2]\n",
      "    nargs['d'].block_shape = [1, B, nargs['BLOCK']]\n", kernel.module()));
  EXPECT_EQ(Told(kernel, "d"), "tensordesc<fp32[1, 64, 64]> descriptor");
}

TEST(TypeRulesTest, AStrideOfScalesIsAnInteger) {
  EXPECT_EQ(Told("x, stride_scale_b", {"tl.store(x, stride_scale_b)"}, "stride_scale_b"),
            "i32 name:stride");
}

TEST(TypeRulesTest, NamesOfPlacesPointToIntegers) {
  for (const std::string name :
       {"block_offset", "row_start_ptr", "m_sizes_ptr", "tile_expert", "input_ids_length",
        "slot_ptr", "pos_ptr", "KeyInds", "permutation_map_ptr", "u_cids_ptr"}) {
    EXPECT_THAT(
        Told(absl::StrCat(name, ", o"), {absl::StrCat("tl.store(o, tl.load(", name, "))")}, name),
        ::testing::StartsWith("*i32 name:"));
  }
  EXPECT_EQ(Told("INPUT_IDS, o", {"tl.store(o, tl.load(INPUT_IDS))"}, "INPUT_IDS"),
            "*i64 name:input_ids");
}

TEST(TypeRulesTest, Compared) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, 1.0, mask=tl.arange(0, 16) < q)"}, "q"),
            "i32 usage:compared");
}

TEST(TypeRulesTest, Condition) {
  EXPECT_EQ(Told("x, q", {"if q:", "    tl.store(x, 1.0)"}, "q"), "i1 usage:condition");
}

TEST(TypeRulesTest, Stored) {
  EXPECT_EQ(Told("x", {"tl.store(x, tl.program_id(0))"}, "x"), "*i32 usage:stored");
}

TEST(TypeRulesTest, WhatIsScaledByWhatIsLoadedIsNoInteger) {
  EXPECT_EQ(
      Told("x, s, o",
           {"w = tl.load(x)", "w = (w >> 4) & 15", "c = tl.load(s)", "w = w * c", "tl.store(o, w)"},
           "o"),
      "*fp32 guess:float");
}

TEST(TypeRulesTest, OnWhicheverSideALiteralStandsItSaysNothing) {
  for (const char* compared : {"v >= 0", "0 <= v"})
    EXPECT_EQ(
        Told("x, o",
             {"v = tl.load(x)", absl::StrCat("tl.store(o, tl.where(", compared, ", v, 0))")}, "x"),
        "*fp32 guess:float");
}

TEST(TypeRulesTest, Name) {
  EXPECT_EQ(Told("x, labels", {"tl.store(x, tl.load(labels))"}, "labels"), "*i64 name:label");
  EXPECT_EQ(Told("x, eps", {"tl.store(x, eps)"}, "eps"), "fp32 name:eps");
}

TEST(TypeRulesTest, Arithmetic) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, q * 1.5)"}, "q"), "fp32 usage:arithmetic");
}

TEST(TypeRulesTest, Role) {
  v1::Kernel kernel = MakeKernel("x, q", {"tl.store(x, q)"});
  kernel.add_parameters()->set_role(v1::PARAMETER_ROLE_POINTER);
  kernel.add_parameters()->set_role(v1::PARAMETER_ROLE_SIZE);
  EXPECT_EQ(Told(kernel, "q"), "i32 role:size");
}

TEST(TypeRulesTest, GuessFloat) {
  const v1::Kernel kernel = MakeKernel("x, o", {"tl.store(o, tl.load(x))"});
  EXPECT_EQ(Told(kernel, "x", 0), "*fp32 guess:float");
  EXPECT_EQ(Told(kernel, "x", 1), "*bf16 guess:float");
  EXPECT_EQ(Told(kernel, "x", 2), "*fp16 guess:float");
  EXPECT_EQ(Told(kernel, "x", 3), "*i32 guess:float");
}

TEST(TypeRulesTest, GuessInt) { EXPECT_EQ(Told("x, q", {"tl.store(x, q)"}, "q"), "i32 guess:int"); }

TEST(TypeRulesTest, AnAssertedValueIsFollowedToItsPointer) {
  v1::Kernel kernel = MakeKernel("x, o", {"tl.store(o, count(tl.reshape(tl.load(x), [4, 4])))"});
  kernel.set_module(absl::StrCat(kernel.module(), "@triton.jit\ndef count(x):\n",
                                 "    tl.static_assert(x.dtype == tl.uint32)\n    return x\n"));
  EXPECT_EQ(Told(kernel, "x"), "*u32 usage:asserted");
}

TEST(TypeRulesTest, Alternative) {
  EXPECT_EQ(Told("b, o, n",
                 {"if n > 0:", "    y = tl.load(b)", "else:", "    y = tl.zeros([16], tl.float32)",
                  "tl.store(o, y)"},
                 "b"),
            "*fp32 usage:alternative");
  EXPECT_EQ(Told("x, q", {"q = q.to(tl.int64)", "tl.store(x, q)"}, "q"), "i64 usage:alternative");
}

TEST(TypeRulesTest, ASumThatBeginsAsAnIntegerIsOneWhateverItsNameIsLater) {
  EXPECT_EQ(
      Told("x, y, o",
           {"acc = tl.zeros((16, 16), dtype=tl.int32)", "a = tl.load(x)",
            "acc += tl.dot(a, tl.load(y))", "acc = acc.to(tl.float32) * 0.5", "tl.store(o, acc)"},
           "x"),
      "*i8 usage:dot");
}

TEST(TypeRulesTest, ShiftsByTheirMethodsAreBitwise) {
  EXPECT_EQ(Told("x, o", {"tl.store(o, tl.load(x).__rshift__(4))"}, "x"), "*i32 usage:bitwise");
}

TEST(TypeRulesTest, ANumberOfPythonsRandomIsNoTensor) {
  const std::string launch = "    k[(1,)](x, seed)\n";
  const v1::Kernel kernel = MakeKernel("x, q", {"tl.store(x, q)"});
  EXPECT_EQ(Told(Launched(kernel, "def f(x):\n    seed = randint(0, 9)\n" + launch), "q"),
            "i32 launch:type");
  EXPECT_EQ(
      Told(Launched(kernel, "def f(x):\n    seed = torch.randint(0, 9, (4,))\n" + launch), "q"),
      "*i64 launch:dtype");
}

TEST(TypeRulesTest, ADescriptorHasTheBlockThatTheLaunchGivesIt) {
  const v1::Kernel kernel =
      MakeKernel("d, x, B: tl.constexpr, D: tl.constexpr", {"tl.store(x, d.load([0, 0, 0]))"});
  EXPECT_EQ(Told(Launched(kernel,
                          "def f(q, x, dim):\n    rows = 32\n"
                          "    d = TensorDescriptor.from_tensor(q, [1, rows, dim])\n"
                          "    k[(1,)](d, x, B=rows, D=dim)\n"),
                 "d"),
            "tensordesc<fp32[1, 32, 16]> descriptor");
  EXPECT_EQ(Told(Launched(kernel,
                          "def f(q, x):\n    stands_in = [1, 1, 1]\n"
                          "    d = TensorDescriptor(q, q.shape, q.stride(), stands_in)\n"
                          "    k[(1,)](d, x)\n"),
                 "d"),
            "tensordesc<fp32[16, 16, 16]> descriptor");
}

TEST(TypeRulesTest, ADimensionWithoutAStepIsOne) {
  EXPECT_EQ(
      Told("d, x, h, B: tl.constexpr", {"tl.store(x, d.load([h, tl.program_id(0) * B]))"}, "d"),
      "tensordesc<fp32[1, 16]> descriptor");
}

TEST(TypeRulesTest, WhatIsADescriptorInOneCaseAloneIsAPointer) {
  EXPECT_EQ(
      Told(Launched(MakeKernel("d, x, T: tl.constexpr", {"if T:", "    y = d.load([0])", "else:",
                                                         "    y = tl.load(d)", "tl.store(x, y)"}),
                    "def f(q, x, tma):\n    d = q\n    if tma:\n"
                    "        d = TensorDescriptor(q, q.shape, q.stride(), [1])\n"
                    "    k[(1,)](d, x, T=tma)\n"),
           "d"),
      "*fp32 guess:float");
}

TEST(RulesTest, AKernelThatTheModuleLacksIsMissing) {
  v1::Kernel kernel = MakeKernel("x", {"tl.store(x, 1)"});
  kernel.set_name("other");
  EXPECT_EQ(Inference::Infer(kernel)->missing(), "function");
  EXPECT_THAT(Inference::Infer(kernel)->tries(), IsEmpty());
}

TEST(RulesTest, UnknownNamesAreNoRules) {
  for (const absl::string_view name : {"usage:cdiv", "launch:none", "name:block", "role:size"})
    EXPECT_TRUE(IsKnownRule(name)) << name;
  // A record's rule alone, misspelled ones, and prefixes.
  for (const absl::string_view name :
       {"usage:descriptor", "usage:cdviv", "launch:nome", "usage:", ""})
    EXPECT_FALSE(IsKnownRule(name)) << name;
}

}  // namespace
}  // namespace kernelmill::compiler
