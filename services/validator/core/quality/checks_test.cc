#include "services/validator/core/quality/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "services/validator/core/quality/code_facts.h"

namespace kernelmill::validator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;

// A kernel with this body, decorated with @triton.jit.
v1::Kernel MakeKernel(const std::string& body, const std::string& parameters = "p, n") {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.add_decorators("triton.jit");
  const std::string head = absl::StrCat("@triton.jit\ndef k(", parameters, "):\n");
  kernel.set_source(head + body);
  kernel.set_body_offset(static_cast<int32_t>(head.size()));
  return kernel;
}

v1::Checks Check(const v1::Kernel& kernel) { return CheckKernel(kernel, ReadClosure(kernel)); }

// Those of the curation guide that code decides.
const std::vector<std::string>& CodeChecks() {
  static const auto& names =
      *new std::vector<std::string>(CheckNames().begin(), CheckNames().begin() + 6);
  return names;
}

TEST(CodeFactsTest, CallsHaveTheirArguments) {
  const CodeFacts facts = ReadCode("a.b(c, d(e)[0], f=g, *h)\nif i == (j):\n  k = m(n == 1,)\n");
  ASSERT_EQ(facts.calls.size(), 3u);
  EXPECT_EQ(facts.calls[0].callee, "d");
  EXPECT_EQ(facts.calls[1].callee, "a.b");
  EXPECT_EQ(facts.calls[1].positional, 3);
  EXPECT_THAT(facts.calls[1].keywords, ElementsAre("f"));
  EXPECT_EQ(facts.calls[2].callee, "m");
  EXPECT_EQ(facts.calls[2].positional, 1);
  EXPECT_TRUE(facts.calls[2].keywords.empty());
}

TEST(CodeFactsTest, BrokenCodeIsReadAsFarAsItGoes) {
  EXPECT_EQ(ReadCode(")))a(").calls.size(), 1u);
  EXPECT_TRUE(ReadCode("def f(x=1").calls.empty());
  const std::string deep(1'000'000, '(');
  EXPECT_TRUE(ReadCode(deep).calls.empty());
  EXPECT_EQ(ReadCode("f" + deep).calls.size(), 1u);
}

TEST(ChecksTest, AWholeKernelPassesAll) {
  v1::Kernel kernel = MakeKernel(
      "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
      "    tl.store(p + i, 1, mask=i < n)\n",
      "p, n, BLOCK: tl.constexpr");
  kernel.set_docstring("Stores.");
  const v1::Checks checks = Check(kernel);
  for (const std::string& name : CodeChecks()) EXPECT_TRUE(Passes(checks, name)) << name;
}

TEST(ChecksTest, AnEmptyKernelPassesNone) {
  const v1::Checks checks = Check(v1::Kernel());
  for (const std::string& name : CodeChecks()) EXPECT_FALSE(Passes(checks, name)) << name;
}

TEST(ChecksTest, CommentsAndStringsPassNoCheck) {
  v1::Kernel kernel = MakeKernel(
      "    # tl.program_id(0) tl.load(p, mask=m) tl.where BLOCK_SIZE block_m\n"
      "    x = 'tl.program_id(0); tl.load(p, mask=m); BLOCK_SIZE'\n"
      "    '''\n    tl.store(p, 1, mask=BLOCK_SIZE) program_id(0)\n    '''\n");
  kernel.clear_decorators();
  kernel.add_decorators("cache('triton.jit')");
  kernel.set_docstring("  \n ");
  const v1::Checks checks = Check(kernel);
  for (const std::string& name : CodeChecks()) EXPECT_FALSE(Passes(checks, name)) << name;
}

TEST(ChecksTest, MaskingHasManyForms) {
  for (const std::string body :
       {"tl.load(p, mask=m)", "tl.load(p, m)", "tl.store(p, x, m, )", "x = tl.where(a, b, c)",
        "tl.load(q, boundary_check=(0, 1))", "gl.store(p, x, mask = m)", "tl.atomic_add(p, x, m)",
        "d = tl.make_tensor_descriptor(p, [n], [1], [8])", "f(a, mask=b[0])",
        "libdevice.masked_load(p)"}) {
    EXPECT_TRUE(Check(MakeKernel("    " + body + "\n")).has_bounds_masking()) << body;
  }
  for (const std::string body : {"mask = x", "tl.load(p)", "tl.store(p, x)", "f(mask == x)", "mask",
                                 "tl.atomic_cas(p, a, b)", "json.load(p, m)", "f(a, [mask])"}) {
    EXPECT_FALSE(Check(MakeKernel("    " + body + "\n")).has_bounds_masking()) << body;
  }
  EXPECT_FALSE(Check(MakeKernel("    pass\n", "p, mask=None")).has_bounds_masking());
}

TEST(ChecksTest, ResolvedCallsCount) {
  v1::Kernel kernel = MakeKernel("    i = pid(0)\n    ld(p)\n");
  EXPECT_FALSE(Check(kernel).has_program_id());
  EXPECT_FALSE(Check(kernel).has_load_store());
  kernel.add_calls("triton.language.load");
  kernel.add_calls("triton.language.program_id");
  EXPECT_TRUE(Check(kernel).has_program_id());
  EXPECT_TRUE(Check(kernel).has_load_store());
  kernel.clear_calls();
  kernel.add_calls("triton.experimental.gluon.language.program_id");
  EXPECT_TRUE(Check(kernel).has_program_id());
}

TEST(ChecksTest, LoadsAndStoresHaveManyForms) {
  for (const std::string body :
       {"tl.load(p)", "tl.atomic_max(p, 1)", "q = tl.make_block_ptr(p)", "desc.store([0], x)",
        "gl.amd.cdna3.buffer_load(p, o)", "tma.async_copy_global_to_shared(d, [0], b, s)"}) {
    EXPECT_TRUE(Check(MakeKernel("    " + body + "\n")).has_load_store()) << body;
  }
  for (const std::string body : {"load", "preload(p)", "def load(p): pass", "x.load"}) {
    EXPECT_FALSE(Check(MakeKernel("    " + body + "\n")).has_load_store()) << body;
  }
}

TEST(ChecksTest, BlockSizesAreNames) {
  for (const std::string name : {"BLOCK", "BLOCK_SIZE", "BLOCK_M", "XBLOCK", "R0_BLOCK",
                                 "N_BLOCK_SIZE", "block_m", "kv_block_size", "BLOCKSIZE"}) {
    EXPECT_TRUE(Check(MakeKernel("    pass\n", name)).has_block_size()) << name;
    EXPECT_TRUE(Check(MakeKernel("    f(" + name + ")\n")).has_block_size()) << name;
  }
  for (const std::string name :
       {"unblock", "blocked", "q_block_ptr", "block_ptr", "make_block_ptr"}) {
    EXPECT_FALSE(Check(MakeKernel("    f(" + name + ")\n")).has_block_size()) << name;
  }
  v1::Kernel kernel = MakeKernel("    pass\n");
  kernel.add_parameters()->set_name("BLOCK_K");
  EXPECT_TRUE(Check(kernel).has_block_size());
}

TEST(ChecksTest, AConstexprThatShapesATileIsABlockSize) {
  const auto has = [](const std::string& body, const std::string& parameters) {
    v1::Kernel kernel = MakeKernel("    " + body + "\n", parameters);
    kernel.set_module(kernel.source());
    return Check(kernel).has_block_size();
  };
  for (const std::string body :
       {"i = tl.arange(0, BT)", "x = tl.zeros([BT, 4], tl.float32)", "i = gl.arange(0, BT // 2)",
        "b = tl.make_block_ptr(p, (n,), (1,), (0,), (BT,), (0,))", "y = tl.zeros((f(BT),))",
        "y = tl.reshape(p, (BT, 2))"}) {
    EXPECT_TRUE(has(body, "p, BT: tl.constexpr")) << body;
    EXPECT_FALSE(has(body, "p, BT")) << body;
  }
  for (const std::string body : {"tl.store(p, BT)", "if BT: pass", "i = tl.arange(0, 64) + BT"}) {
    EXPECT_FALSE(has(body, "p, BT: tl.constexpr")) << body;
  }
  EXPECT_TRUE(has("W: tl.constexpr = n * 2\n    i = tl.arange(0, W)", "p, n"));
  v1::Kernel kernel = MakeKernel("    i = tl.arange(0, BT)\n", "p, BT: 'tl.constexpr'");
  EXPECT_FALSE(Check(kernel).has_block_size());
  v1::Parameter& parameter = *kernel.add_parameters();
  parameter.set_name("BT");
  parameter.set_role(v1::PARAMETER_ROLE_CONSTEXPR);
  EXPECT_TRUE(Check(kernel).has_block_size());
}

TEST(ChecksTest, JitIsTheDecoratorsName) {
  const auto jit = [](const std::string& decorator, const std::string& import = "") {
    v1::Kernel kernel;
    kernel.add_decorators(decorator);
    if (!import.empty()) kernel.add_imports(import);
    return Check(kernel).has_triton_jit();
  };
  for (const std::string decorator :
       {"triton.jit", "triton.jit(do_not_specialize=['n'])", "jit", "gluon.jit", "triton_jit()",
        "tr.jit", "triton . jit", "triton.jit  # fast"}) {
    EXPECT_TRUE(jit(decorator)) << decorator;
  }
  for (const std::string decorator :
       {"triton.autotune(configs=[triton.jit])", "numba.jit", "jax.jit", "torch.jit.script",
        "libentry()", "# triton.jit", ""}) {
    EXPECT_FALSE(jit(decorator)) << decorator;
  }
  EXPECT_TRUE(jit("fast", "from triton import jit as fast\n"));
  EXPECT_FALSE(jit("fast", "from triton import autotune as fast\n"));
}

TEST(ChecksTest, RolesExempt) {
  v1::Kernel device;
  device.set_role(v1::KERNEL_ROLE_DEVICE);
  device.set_dsl(dsl::kTriton);
  for (const std::string check :
       {"has_program_id", "has_load_store", "has_block_size", "has_bounds_masking"}) {
    EXPECT_NE(Exemption(check, device), "") << check;
  }
  for (const std::string check : {"has_triton_jit", "has_docstring", "license_permissive"}) {
    EXPECT_EQ(Exemption(check, device), "") << check;
  }
  v1::Kernel kernel;
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_dsl(dsl::kGluon);
  for (const std::string& check : CheckNames()) EXPECT_EQ(Exemption(check, kernel), "") << check;
  kernel.set_dsl(dsl::kCuda);
  EXPECT_NE(Exemption("has_triton_jit", kernel), "");
  EXPECT_NE(Exemption("has_docstring", kernel), "") << "C has none";
  EXPECT_EQ(Exemption("license_permissive", kernel), "");
  EXPECT_EQ(Exemption("self_contained", kernel), "") << "its modules are closed too";
}

TEST(ChecksTest, WhatAHelperOfTheModuleDoesCounts) {
  v1::Kernel kernel = MakeKernel("    store_rows(p, n)\n");
  EXPECT_FALSE(Check(kernel).has_load_store());
  kernel.set_module(
      absl::StrCat("@triton.jit\ndef store_rows(p, n):\n    i = tl.program_id(0)\n"
                   "    tl.store(p + i, 0, mask=i < n)\n\n",
                   kernel.source()));
  EXPECT_TRUE(Check(kernel).has_load_store());
  EXPECT_TRUE(Check(kernel).has_program_id());
  EXPECT_TRUE(Check(kernel).has_bounds_masking());
}

TEST(ChecksTest, OnlyTheProtosAreKnown) {
  EXPECT_EQ(CheckNames().size(), 13u);
  EXPECT_THAT(CheckIsKnown("has_docstring"), IsOk());
  EXPECT_THAT(CheckIsKnown("docstring"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ChecksTest, AWrongBodyOffsetIsHarmless) {
  for (const int offset : {-5, 0, 1'000'000}) {
    v1::Kernel kernel = MakeKernel("    tl.load(p, mask=m)\n");
    kernel.set_body_offset(offset);
    EXPECT_TRUE(Check(kernel).has_bounds_masking()) << offset;
  }
}

TEST(ChecksTest, AJitBehindAWrapperOrInACallCounts) {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_source("def k(p):\n    pass\n");
  EXPECT_FALSE(Check(kernel).has_triton_jit());
  kernel.set_form(v1::KERNEL_FORM_CALLED);
  EXPECT_TRUE(Check(kernel).has_triton_jit());
  kernel.set_dsl(dsl::kPallas);
  kernel.set_form(v1::KERNEL_FORM_WRAPPED);
  EXPECT_FALSE(Check(kernel).has_triton_jit());
}

void AddImport(const std::string& toolchain, bool ok, v1::CompiledKernel* compiled) {
  v1::ModuleImport& import = *compiled->add_imports();
  import.set_toolchain(toolchain);
  import.set_ok(ok);
}

v1::CompileResult& AddResult(const std::string& toolchain, v1::CompileStatus status,
                             v1::CompiledKernel* compiled) {
  v1::CompileResult& result = *compiled->add_results();
  result.set_toolchain(toolchain);
  result.set_target("cuda:90");
  result.set_status(status);
  return result;
}

void ExpectRule(const std::string& check, const v1::CompiledKernel& compiled,
                v1::RuleResult::Outcome outcome, const std::string& reason) {
  const v1::RuleResult result = CompilerRule(check, compiled);
  EXPECT_EQ(result.rule(), check);
  EXPECT_EQ(result.outcome(), outcome) << check;
  EXPECT_EQ(result.reason(), reason) << check;
}

TEST(CompileChecks, OneCompilerThatTakesTheKernelIsEnough) {
  v1::CompiledKernel compiled;
  AddImport("old", false, &compiled);
  AddImport("new", true, &compiled);
  AddResult("old", v1::COMPILE_STATUS_ERROR, &compiled).set_stage("import");
  AddResult("new", v1::COMPILE_STATUS_OK, &compiled);
  ExpectRule("compiles", compiled, v1::RuleResult::OUTCOME_PASS, "");
  ExpectRule("imports", compiled, v1::RuleResult::OUTCOME_PASS, "");
}

TEST(CompileChecks, ARefusalCountsWhereNobodyTakesTheKernel) {
  v1::CompiledKernel compiled;
  AddImport("old", true, &compiled);
  AddResult("old", v1::COMPILE_STATUS_UNKNOWN, &compiled).set_missing("type:x");
  v1::CompileResult& refused = AddResult("new", v1::COMPILE_STATUS_ERROR, &compiled);
  refused.set_stage("frontend");
  refused.set_message("password = 'a secret of the source'");
  ExpectRule("compiles", compiled, v1::RuleResult::OUTCOME_FAIL, "frontend: new for cuda:90");
  ExpectRule("imports", compiled, v1::RuleResult::OUTCOME_PASS, "");
}

TEST(CompileChecks, AModuleThatCannotBeLoadedFailsBoth) {
  v1::CompiledKernel compiled;
  AddImport("new", false, &compiled);
  AddResult("new", v1::COMPILE_STATUS_ERROR, &compiled).set_stage("import");
  ExpectRule("compiles", compiled, v1::RuleResult::OUTCOME_FAIL, "import: new for cuda:90");
  ExpectRule("imports", compiled, v1::RuleResult::OUTCOME_FAIL, "import: new");
}

TEST(CompileChecks, WhatSaysNothingOfTheKernelIsExempt) {
  v1::CompiledKernel absent_package;
  AddImport("new", false, &absent_package);
  AddResult("new", v1::COMPILE_STATUS_UNKNOWN, &absent_package).set_missing("import");
  v1::CompiledKernel untried;
  untried.set_not_attempted("dsl:cuda");
  for (const char* check : {"compiles", "imports"}) {
    ExpectRule(check, absent_package, v1::RuleResult::OUTCOME_EXEMPT, "unknown: import");
    ExpectRule(check, untried, v1::RuleResult::OUTCOME_EXEMPT, "not compiled: dsl:cuda");
    ExpectRule(check, v1::CompiledKernel(), v1::RuleResult::OUTCOME_EXEMPT, "unknown: no result");
  }
}

}  // namespace

}  // namespace kernelmill::validator
