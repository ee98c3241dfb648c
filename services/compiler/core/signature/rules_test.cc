// A test for each rule of rules.h: what it gives, and that it is the one that gave it.
#include "services/compiler/core/signature/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/compiler/core/signature/infer.h"

namespace kernelmill::compiler {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kImports[] = "import triton\nimport triton.language as tl\n";

// The kernel k(`parameters`) with `body`, one statement a line.
v1::Kernel KernelOf(const std::string& parameters, const std::vector<std::string>& body) {
  std::string text = absl::StrCat(kImports, "@triton.jit\ndef k(", parameters, "):\n");
  for (const std::string& line : body) absl::StrAppend(&text, "    ", line, "\n");
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_module(text);
  kernel.set_source(text);
  return kernel;
}

v1::Kernel Launched(v1::Kernel kernel, const std::string& host) {
  kernel.mutable_launcher()->set_text(host);
  return kernel;
}

// "type rule" of an argument, "value rule" of a constexpr or an option, of the try with that place.
std::string Told(const v1::Kernel& kernel, const std::string& name, size_t attempt = 0) {
  const Inference inference = InferSignature(kernel);
  if (attempt >= inference.tries.size()) return absl::StrCat("missing ", inference.missing);
  const v1::KernelSignature& made = inference.tries[attempt];
  for (const auto& each : made.arguments()) {
    if (each.name() == name) return absl::StrCat(each.type(), " ", each.rule());
  }
  for (const auto& each : made.constexprs()) {
    if (each.name() == name) return absl::StrCat(each.value(), " ", each.rule());
  }
  for (const auto& each : made.options()) {
    if (each.name() == name) return absl::StrCat(each.value(), " ", each.rule());
  }
  return "nothing";
}

std::string Told(const std::string& parameters, const std::vector<std::string>& body,
                 const std::string& name) {
  return Told(KernelOf(parameters, body), name);
}

// In any of the tries.
bool AnyTry(const v1::Kernel& kernel, const std::string& name, const std::string& told) {
  for (size_t i = 0; i < kMaxTries; ++i) {
    if (Told(kernel, name, i) == told) return true;
  }
  return false;
}

// Types.

TEST(TypeRulesTest, Inductor) {
  v1::Kernel kernel = KernelOf("x, n, B: tl.constexpr", {"tl.store(x, n)"});
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
      Told(Launched(KernelOf("x, y", {"tl.store(x, 1.0)"}), "def f(x):\n    k[(1,)](x, None)\n"),
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
      Told(Launched(KernelOf("x", {"tl.store(x, 1.0)"}),
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
      Told(Launched(KernelOf("x, q", {"tl.store(x, q)"}), "def f(x):\n    k[(1,)](x, 1.5)\n"), "q"),
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
  EXPECT_EQ(Told(parameters, {"tl.store(x, d.load([0, 0]))"}, "d"), "missing type:d");
  EXPECT_EQ(
      Told(parameters, {"for i in tl.range(0, 512, N):", "    tl.store(x, d.load([i]))"}, "d"),
      "tensordesc<fp32[64]> descriptor");
}

TEST(TypeRulesTest, ADescriptorHasTheBlockThatAHookGivesIt) {
  v1::Kernel kernel = KernelOf("d, x, BLOCK: tl.constexpr", {"tl.store(x, d.load([0, 0, 0]))"});
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
       {"block_offset", "row_start_ptr", "m_sizes_ptr", "tile_expert", "input_ids_length"}) {
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

TEST(TypeRulesTest, Name) {
  EXPECT_EQ(Told("x, labels", {"tl.store(x, tl.load(labels))"}, "labels"), "*i64 name:label");
  EXPECT_EQ(Told("x, eps", {"tl.store(x, eps)"}, "eps"), "fp32 name:eps");
}

TEST(TypeRulesTest, Arithmetic) {
  EXPECT_EQ(Told("x, q", {"tl.store(x, q * 1.5)"}, "q"), "fp32 usage:arithmetic");
}

TEST(TypeRulesTest, Role) {
  v1::Kernel kernel = KernelOf("x, q", {"tl.store(x, q)"});
  kernel.add_parameters()->set_role(v1::PARAMETER_ROLE_POINTER);
  kernel.add_parameters()->set_role(v1::PARAMETER_ROLE_SIZE);
  EXPECT_EQ(Told(kernel, "q"), "i32 role:size");
}

TEST(TypeRulesTest, GuessFloat) {
  const v1::Kernel kernel = KernelOf("x, o", {"tl.store(o, tl.load(x))"});
  EXPECT_EQ(Told(kernel, "x", 0), "*fp32 guess:float");
  EXPECT_EQ(Told(kernel, "x", 1), "*bf16 guess:float");
  EXPECT_EQ(Told(kernel, "x", 2), "*fp16 guess:float");
}

TEST(TypeRulesTest, GuessInt) { EXPECT_EQ(Told("x, q", {"tl.store(x, q)"}, "q"), "i32 guess:int"); }

// Values.

TEST(ValueRulesTest, Autotune) {
  v1::Kernel kernel = KernelOf("x, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), 1.0)"});
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
  v1::Kernel kernel = KernelOf("x, E: tl.constexpr", {"if E:", "    tl.store(x, 1.0)"});
  kernel.set_source(
      "@triton.heuristics({'E': lambda args: args['n'] > 0})\n@triton.jit\n"
      "def k(x, E: tl.constexpr):\n    if E:\n        tl.store(x, 1.0)\n");
  EXPECT_THAT(Told(kernel, "E"),
              ::testing::AllOf(::testing::HasSubstr("lambda args: args['n'] > 0"),
                               ::testing::EndsWith(" heuristics")));
}

TEST(ValueRulesTest, Launch) {
  const v1::Kernel kernel =
      Launched(KernelOf("x, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), 1.0)"}),
               "def f(x):\n    k[(1,)](x, B=1024, num_warps=2)\n");
  EXPECT_EQ(Told(kernel, "B"), "1024 launch");
  EXPECT_EQ(Told(kernel, "num_warps"), "2 launch");
}

TEST(ValueRulesTest, LaunchPresent) {
  const v1::Kernel kernel =
      Launched(KernelOf("x, b, H: tl.constexpr", {"if H:", "    tl.store(x, tl.load(b))"}),
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

TEST(ValueRulesTest, TheLargestNumberOfATypeIsNoType) {
  EXPECT_EQ(Told("x, DTYPE_MAX: tl.constexpr", {"tl.store(x, f(DTYPE_MAX))"}, "DTYPE_MAX"),
            "448.0 name:dtype_max");
}

TEST(ValueRulesTest, Compared) {
  EXPECT_EQ(Told("x, A: tl.constexpr", {"if A == 'relu':", "    tl.store(x, 1.0)"}, "A"),
            "'relu' usage:compared");
}

TEST(ValueRulesTest, Condition) {
  const v1::Kernel kernel = KernelOf("x, A: tl.constexpr", {"if A:", "    tl.store(x, 1.0)"});
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
            "64 usage:shape");
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
      KernelOf("x, BLOCK: tl.constexpr", {"tl.store(x, f(tl.load(x), BLOCK // 32))"});
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

TEST(RulesTest, AKernelThatTheModuleLacksIsMissing) {
  v1::Kernel kernel = KernelOf("x", {"tl.store(x, 1)"});
  kernel.set_name("other");
  EXPECT_EQ(InferSignature(kernel).missing, "function");
  EXPECT_THAT(InferSignature(kernel).tries, IsEmpty());
}

}  // namespace
}  // namespace kernelmill::compiler
