// The roles of parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;

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
      ElementsAre("smem POINTER name:smem", "A POINTER usage:address", "B POINTER usage:address",
                  "C POINTER usage:address", "D POINTER usage:address", "value OTHER none"));
}

// "name role rule" of every parameter of the first kernel, with other functions below it.
std::vector<std::string> RolesWith(absl::string_view signature, absl::string_view body,
                                   absl::string_view helpers) {
  return Roles(signature, absl::StrCat(body, "\n", helpers));
}

TEST(ParametersTest, APointerIsOneInEitherBranchAndUnderAnotherName) {
  EXPECT_THAT(Roles("X, Y, Z, c, scale",
                    "    i = tl.arange(0, 8)\n"
                    "    p = tl.where(c, X, Y)\n"
                    "    q = p\n"
                    "    q += i\n"
                    "    x = tl.load(q)\n"
                    "    Z = tl.load(Z + i)\n"
                    "    y = Z * scale\n"),
              ElementsAre("X POINTER usage:address", "Y POINTER usage:address",
                          "Z POINTER usage:address", "c OTHER none", "scale OTHER none"));
}

TEST(ParametersTest, HelpersTellWhatTheyTakeAParameterFor) {
  const std::string helpers =
      "@triton.jit\ndef take(p, i, m, s, BLOCK: tl.constexpr):\n"
      "    return tl.load(p + (i * s + tl.arange(0, BLOCK)), mask=tl.arange(0, BLOCK) < m)\n"
      "@triton.jit\ndef outer(o, stride_o, m, b): return take(o, 1, m, stride_o, BLOCK=b)\n";
  EXPECT_THAT(RolesWith("x, y, n, a, b, seqlens, scale",
                        "    p = y + tl.program_id(0)\n"
                        "    u = outer(x, a, n, b) + take(p, 1, m=n, s=2, BLOCK=8)\n"
                        "    take(p=seqlens, i=scale * 2, m=1, s=1, BLOCK=8)\n",
                        helpers),
              ElementsAre("x POINTER helper:usage:address", "y POINTER helper:usage:address",
                          "n SIZE name:n", "a STRIDE helper:name:stride",
                          "b CONSTEXPR helper:annotation:constexpr",
                          "seqlens POINTER helper:usage:address", "scale OTHER none"));
  EXPECT_THAT(RolesWith("x, y", "    return f(x, y)",
                        "@triton.jit\ndef f(a, b): return f(b, a) + tl.load(a)\n"),
              ElementsAre("x POINTER helper:usage:address", "y POINTER helper:usage:address"));
  // Functions of other files, and loaded values, tell nothing.
  EXPECT_THAT(RolesWith("x, y", "    return other(x) + take(lib.f(y), 1, 1, 1, 8)", helpers),
              ElementsAre("x OTHER none", "y OTHER none"));
}

TEST(ParametersTest, WhatDividesOrMultipliesAnIndexIsASize) {
  EXPECT_THAT(
      Roles("X, a, b, T, s_t, k",
            "    i = tl.program_id(0)\n"
            "    j, h = i // a, i % (b * 2)\n"
            "    x = tl.load(X + j * T + h * s_t + i * k)\n"
            "    y = x * k // 3\n"),
      ElementsAre("X POINTER usage:address", "a SIZE usage:divides", "b SIZE usage:divides",
                  "T SIZE usage:multiplies", "s_t STRIDE usage:multiplies", "k OTHER none"));
}

TEST(ParametersTest, WhatIsNoBoundIsNoSize) {
  EXPECT_THAT(Roles("X, p, first, offs, config, dim_offset, row_start, n",
                    "    i = tl.arange(0, 8)\n"
                    "    r = tl.rand(1, i) > p\n"
                    "    m = (first + offs[:, None]) >= i[None, :]\n"
                    "    for j in range(0, config.n): pass\n"
                    "    x = tl.load(X + i, mask=(i < n) & m & r)\n"),
              ElementsAre("X POINTER usage:address", "p OTHER none", "first OTHER none",
                          "offs OTHER none", "config OTHER none", "dim_offset OTHER none",
                          "row_start OTHER none", "n SIZE usage:compared"));
}

TEST(ParametersTest, PallasReferencesAreSubscriptedOrCopied) {
  const v1::KernelShard shard = Extract(
      "from jax.experimental import pallas as pl\n"
      "def k(x_ref, o_ref, y_ref, z_gmem, n):\n"
      "  o_ref[...] = x_ref[...] + n\n"
      "  pltpu.sync_copy(y_ref, o_ref.at[0])\n"
      "def run(x): return pl.pallas_call(k, out_shape=x)(x)\n");
  std::vector<std::string> rules;
  for (const v1::Parameter& parameter : shard.kernels(0).parameters()) {
    rules.push_back(absl::StrCat(parameter.name(), " ", parameter.rule()));
  }
  EXPECT_THAT(rules, ElementsAre("x_ref usage:reference", "o_ref usage:reference",
                                 "y_ref usage:reference", "z_gmem name:gmem", "n name:n"));
}

TEST(ParametersTest, LongTextsTakeNoLongTime) {
  std::string body;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&body, "    p", i + 1, " = p", i, " + 1\n");
  absl::StrAppend(&body, "    p0 = X\n    tl.load(p20000)\n    y = ");
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&body, "tl.cdiv(n < ");
  absl::StrAppend(&body, "1", std::string(20000, ')'), "\n");
  EXPECT_EQ(Roles("X, n", body)[0], "X POINTER usage:address");
}

TEST(ParametersTest, ManyArgumentsTakeNoLongTime) {
  std::string names = "a0";
  std::string body;
  for (int i = 1; i < 200; ++i) absl::StrAppend(&names, ", a", i);
  for (int i = 0; i < 200; ++i) absl::StrAppend(&body, "    x = a", i, "\n");
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&body, "    g(x + ", i, ")\n");
  std::string text = "@triton.jit\ndef g(p): return tl.load(p)\n";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&text, "@triton.jit\ndef f", i, "(", names, "):\n", body);
  }
  absl::StrAppend(&text, "def host(", names, "):\n");
  for (int i = 0; i < 200; ++i) absl::StrAppend(&text, "    a", i, "[1]()\n");
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&text, "host(f0)\n");
  const v1::KernelShard shard = Extract(absl::StrCat(kImports, text));
  ASSERT_EQ(shard.kernels_size(), 21);
  EXPECT_EQ(shard.kernels(1).parameters(0).rule(), "helper:usage:address");
}

}  // namespace
}  // namespace kernelmill::extractor
