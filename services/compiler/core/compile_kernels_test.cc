#include "services/compiler/core/compile_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/dsl/names.h"
#include "services/compiler/core/failures.h"

namespace kernelmill::compiler {
namespace {

class FakeCompiler : public Compiler {
 public:
  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    ++jobs;
    return answer(job);
  }
  std::function<absl::StatusOr<KernelReport>(const KernelJob&)> answer;
  int jobs = 0;
};

v1::KernelShard MakeShard(const std::string& module) {
  v1::KernelShard shard;
  v1::Kernel* kernel = shard.add_kernels();
  kernel->set_dsl(dsl::kTriton);
  kernel->set_role(v1::KERNEL_ROLE_KERNEL);
  kernel->set_self_contained(true);
  kernel->set_name("k");
  kernel->set_module(module);
  kernel->set_source(module);
  return shard;
}

v1::CompileParams Params() {
  v1::CompileParams params;
  params.add_toolchains()->set_name("triton-3.5.1");
  params.add_targets("cuda:90");
  return params;
}

constexpr char kModule[] =
    "def k(x_ptr, n, BLOCK: tl.constexpr):\n  tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)\n";

KernelReport Failing(const KernelJob& job, const std::string& message) {
  KernelReport report;
  report.module_import.set_ok(true);
  TargetReport target;
  target.target = job.targets[0];
  target.attempt = 0;
  target.result.set_status(v1::COMPILE_STATUS_ERROR);
  target.result.set_stage("frontend");
  target.result.set_message(message);
  report.targets.push_back(target);
  return report;
}

v1::CompileResult GetResult(const std::string& message) {
  FakeCompiler compiler;
  compiler.answer = [&](const KernelJob& job) { return Failing(job, message); };
  const auto made = CompileKernels(MakeShard(kModule), Params(), 2, compiler);
  return made.ok() ? made->compiled.kernels(0).results(0) : v1::CompileResult();
}

TEST(CompileKernelsTest, DeviceFunctionsAreNotAttempted) {
  v1::KernelShard shard = MakeShard(kModule);
  shard.mutable_kernels(0)->set_role(v1::KERNEL_ROLE_DEVICE);
  FakeCompiler compiler;
  const auto made = CompileKernels(shard, Params(), 1, compiler);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->compiled.kernels(0).not_attempted(), "role:device");
  EXPECT_EQ(compiler.jobs, 0);
}

TEST(CompileKernelsTest, AKernelIsForTheToolchainsOfItsLanguageAndTheTargetsThatTheyHave) {
  v1::KernelShard shard = MakeShard(kModule);
  v1::Kernel& cuda = *shard.add_kernels();
  cuda = shard.kernels(0);
  cuda.set_dsl(dsl::kCuda);
  cuda.set_qualname("a::k");
  v1::CompileParams params = Params();
  params.add_toolchains()->set_name("nvrtc-12.9");
  params.add_targets("hip:gfx942");
  FakeCompiler compiler;
  std::vector<std::string> seen;
  compiler.answer = [&](const KernelJob& job) {
    seen.push_back(
        absl::StrCat(job.toolchain, " ", job.function, " ", absl::StrJoin(job.targets, ",")));
    KernelReport report = Failing(job, "");
    report.module_import.set_ok(false);
    report.targets.clear();
    return report;
  };
  const auto made = CompileKernels(shard, params, 1, compiler);
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(seen,
              testing::ElementsAre("triton-3.5.1 k cuda:90,hip:gfx942", "nvrtc-12.9 a::k cuda:90"));
  ASSERT_EQ(made->compiled.kernels(1).results_size(), 1);
  EXPECT_EQ(made->compiled.kernels(1).results(0).toolchain(), "nvrtc-12.9");
  const CompiledKernels quarantined = QuarantinedKernels(shard, params, "crashed");
  EXPECT_EQ(quarantined.compiled.kernels(0).results_size(), 2);
  EXPECT_EQ(quarantined.compiled.kernels(1).results_size(), 1);
}

// Their compilers are told the kernel's name, and the arguments that its text does not type.
TEST(CompileKernelsTest, KernelsOfWarpAndCutileAreTried) {
  v1::KernelShard shard = MakeShard("import warp as wp\n@wp.kernel\ndef k(x: float):\n  pass\n");
  shard.mutable_kernels(0)->set_dsl("warp");
  v1::Kernel& tiles = *shard.add_kernels();
  tiles = shard.kernels(0);
  tiles.set_dsl("cutile");
  tiles.set_module(
      "import cuda.tile as ct\n@ct.kernel\ndef k(x, N: ct.Constant[int]):\n  ct.load(x, 0, N)\n");
  v1::CompileParams params;
  for (const char* name : {"warp-1.19", "cutile-1.7"}) params.add_toolchains()->set_name(name);
  params.add_targets("cuda:90");
  FakeCompiler compiler;
  std::vector<std::string> seen;
  compiler.answer = [&](const KernelJob& job) {
    const v1::KernelSignature& first = job.tries[0].signature;
    seen.push_back(absl::StrCat(job.toolchain, " ", job.function, " ", first.arguments_size(), " ",
                                first.constexprs_size()));
    return Failing(job, "TypeError: no");
  };
  const auto made = CompileKernels(shard, params, 1, compiler);
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(seen, testing::ElementsAre("warp-1.19 k 0 0", "cutile-1.7 k 1 1"));
  EXPECT_EQ(made->compiled.kernels(0).results(0).status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(made->compiled.kernels(1).results(0).missing(), "constexpr:N");
}

TEST(CompileKernelsTest, ATypeThatWasGuessedIsUnknownNotAnError) {
  const v1::CompileResult result = GetResult("Unsupported ptr type fp32 in `tl.load`");
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_NE(result.missing(), "");
}

TEST(CompileKernelsTest, AFunctionThatTritonHasNotIsAnError) {
  EXPECT_EQ(GetResult("module 'triton.language' has no attribute 'libdevice'").status(),
            v1::COMPILE_STATUS_ERROR);
}

TEST(CompileKernelsTest, AStandInForAPackageIsNotTheKernelsFault) {
  const v1::CompileResult result = GetResult(
      "Unsupported function referenced: <module 'torch' (<kernelmill_harness.absent.Finder "
      "object>)>");
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_EQ(
      GetResult("Unsupported function referenced: <torch.x, which is not installed>").status(),
      v1::COMPILE_STATUS_UNKNOWN);
}

v1::CompileResult MakeImport(const std::string& error) {
  v1::ModuleImport failed;
  failed.set_error(error);
  return JudgeImport(failed, {"triton"});
}

TEST(CompileKernelsTest, WhatAModuleLacksIsTheKernelsFaultWhereItIsTritons) {
  EXPECT_EQ(MakeImport("ModuleNotFoundError: No module named 'triton.ops'").status(),
            v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(MakeImport("ModuleNotFoundError: No module named 'x'").missing(), "import");
  EXPECT_EQ(MakeImport("KeyError: <x.vendor, which is not installed>").missing(), "import");
}

TEST(CompileKernelsTest, WhatTheSandboxRefusesSaysNothingOfTheKernelAndItsBoundsDo) {
  EXPECT_EQ(MakeImport("sandbox: PermissionError: denied").missing(), "import:sandbox");
  EXPECT_EQ(MakeImport("limit: more than 60 s").status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(MakeImport("limit: more than 60 s").stage(), "limit");
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("sandbox");
  JudgeFailure("", {}, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_EQ(result.missing(), "sandbox");
}

TEST(CompileKernelsTest, WhatTheClockEndedMayBeTheMachinesFault) {
  EXPECT_EQ(MakeImport("clock: no answer in 600 s").missing(), "import:clock");
  EXPECT_EQ(MakeImport("clock: no answer in 600 s").status(), v1::COMPILE_STATUS_UNKNOWN);
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("clock");
  JudgeFailure("", {}, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_EQ(result.missing(), "clock");
}

TEST(CompileKernelsTest, WhatTritonHasRemovedIsAnError) {
  EXPECT_EQ(GetResult("NotImplementedError: Block pointers have been removed").status(),
            v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(
      GetResult("'triton._C.libtriton.ir.builder' object has no attribute 'create_x'").status(),
      v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(GetResult("TypeError(\"'dtype' object is not callable\")").status(),
            v1::COMPILE_STATUS_ERROR);
  for (const char* never :
       {"NotImplementedError: __setitem__ is not supported in triton",
        "'tuple_type' object has no attribute 'is_ptr'",
        "ValueError: unsupported tensor index: <triton.language.core.slice object at 0x>",
        "LLVM ERROR: Building op `amdgpu.x` but it isn't known in this MLIRContext",
        "AssertionError('invalid intrinsic shape; accepted shapes are [[32, 32]]')"}) {
    EXPECT_EQ(GetResult(never).status(), v1::COMPILE_STATUS_ERROR) << never;
  }
}

TEST(CompileKernelsTest, AnElementOfAnArgumentIsUnknownSinceItMayBeATuple) {
  EXPECT_EQ(GetResult("ValueError: unsupported tensor index: constexpr[0]").status(),
            v1::COMPILE_STATUS_UNKNOWN);
}

TEST(CompileKernelsTest, AnInstructionOfAnotherChipIsAnError) {
  v1::KernelSignature signature;
  v1::ArgumentType& pointer = *signature.add_arguments();
  pointer.set_type("*fp32");
  pointer.set_rule("guess:float");
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("assembler");
  result.set_message("ptxas: Instruction 'cvt' not supported on .target 'sm_90a'");
  JudgeFailure("", signature, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_ERROR);
}

TEST(CompileKernelsTest, ABackendThatBreaksIsAnErrorAndALibraryThatIsNotAtHandIsNot) {
  v1::KernelSignature signature;
  signature.add_arguments()->set_rule("guess:float");
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("passes");
  result.set_message("'tt.make_tensor_ptr' op operation destroyed but still has uses");
  JudgeFailure("", signature, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_ERROR);
  result.set_stage("assembler");
  result.set_message("ptxas fatal   : Unresolved extern function 'nvshmemx_signal_op'");
  JudgeFailure("", signature, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_EQ(result.missing(), "library");
}

TEST(CompileKernelsTest, ANameThatNothingBindsIsTheKernelsFault) {
  EXPECT_EQ(GetResult("NameError('pow is not defined')").status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(GetResult("NameError('n is not defined')").status(), v1::COMPILE_STATUS_UNKNOWN);
}

TEST(CompileKernelsTest, ShapesAreConstexprsAffair) {
  const char* const message = "ValueError: arange's range must be a power of 2";
  EXPECT_EQ(GetResult(message).missing(), "constexpr:BLOCK");
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_message(message);
  v1::KernelSignature signature;
  v1::ArgumentType& pointer = *signature.add_arguments();
  pointer.set_type("*fp32");
  pointer.set_rule("guess:float");
  JudgeFailure("", signature, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_ERROR);
  pointer.set_type("tensordesc<fp32[48]>");
  JudgeFailure("", signature, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_UNKNOWN);
}

TEST(CompileKernelsTest, SizesThatAreGuessedAreNoErrorOfTheKernel) {
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("frontend");
  result.set_message("ValueError: reshape() cannot change total number of elements in tensor");
  v1::KernelSignature signature;
  v1::ConstexprValue& width = *signature.add_constexprs();
  width.set_name("OW");
  width.set_value("64");
  width.set_rule("usage:size");
  JudgeFailure("", signature, /*compiles_elsewhere=*/false, result);
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_EQ(result.missing(), "constexpr:OW");
}

TEST(CompileKernelsTest, TriesTellPointersFromNumbers) {
  FakeCompiler compiler;
  std::vector<std::string> types;
  compiler.answer = [&](const KernelJob& job) {
    if (compiler.jobs > 1) return Failing(job, "x");  // second guesses
    for (const Try& one : job.tries) {
      types.push_back(one.signature.arguments(0).type());
      EXPECT_EQ(one.small, types.size() > 5);
    }
    EXPECT_EQ(job.tries[0].signature.arguments(1).type(), "i32");
    return Failing(job, "x");
  };
  ASSERT_TRUE(CompileKernels(MakeShard(kModule), Params(), 1, compiler).ok());
  EXPECT_THAT(types, ::testing::ElementsAre("*fp32", "*bf16", "*fp16", "*i32", "*fp8e4nv", "*fp32",
                                            "*fp16"));
}

// A kernel whose helper module raises under a mode that nothing tells.
constexpr char kModes[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def k(x_ptr, MODE: tl.constexpr, FLAG: tl.constexpr, EVEN: tl.constexpr = 1):\n"
    "  if MODE == 1:\n"
    "    raise ValueError()\n"  // line 6
    "  elif MODE == 2:\n"
    "    y = 1.0\n"
    "  if FLAG:\n"
    "    z = 1.0\n"
    "  if EVEN == 1:\n"
    "    tl.nothing()\n"  // line 12
    "  tl.nothing()\n"    // line 13
    "  tl.store(x_ptr, y)\n";

// Fails each try at a line, unless a constexpr has the value.
v1::CompiledKernel CompileModes(const std::string& message, int line, const std::string& name = "",
                                const std::string& value = "") {
  FakeCompiler compiler;
  compiler.answer = [&](const KernelJob& job) {
    KernelReport report = Failing(job, message);
    TargetReport& target = report.targets[0];
    target.result.set_line(line);
    target.reached = line;
    for (size_t i = 0; i < job.tries.size(); ++i) {
      for (const v1::ConstexprValue& each : job.tries[i].signature.constexprs()) {
        if (name.empty() || each.name() != name || each.value() != value) continue;
        target.attempt = static_cast<int>(i);
        target.signature = job.tries[i].signature;
        target.result.Clear();
        target.result.set_status(v1::COMPILE_STATUS_OK);
        return report;
      }
    }
    return report;
  };
  const auto made = CompileKernels(MakeShard(kModes), Params(), 1, compiler);
  EXPECT_LE(compiler.jobs, 4);
  return made.ok() ? made->compiled.kernels(0) : v1::CompiledKernel();
}

TEST(SecondGuessesTest, AGuessThatLedIntoABranchThatRaisesIsNoErrorOfTheKernel) {
  const std::string raise = "unsupported AST node type: Raise";
  EXPECT_EQ(CompileModes(raise, 6).results(0).status(), v1::COMPILE_STATUS_UNKNOWN);
  const v1::CompiledKernel other = CompileModes(raise, 6, "MODE", "2");
  ASSERT_EQ(other.results(0).status(), v1::COMPILE_STATUS_OK);
  EXPECT_EQ(other.signatures(0).constexprs(0).rule(), "guess:second");
}

TEST(SecondGuessesTest, ADefaultIsAChoiceOfTheTryAndAPlainLineIsNot) {
  const std::string lacks = "module 'triton.language' has no attribute 'nothing'";
  EXPECT_EQ(CompileModes(lacks, 12).results(0).status(), v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_EQ(CompileModes(lacks, 13).results(0).status(), v1::COMPILE_STATUS_ERROR);
}

TEST(SecondGuessesTest, TheRowSaysWhichGuessCompiled) {
  const v1::CompiledKernel made = CompileModes("NameError('y is not defined')", 14, "MODE", "2");
  ASSERT_EQ(made.results(0).status(), v1::COMPILE_STATUS_OK);
  const v1::KernelSignature& signature = made.signatures(made.results(0).signature());
  EXPECT_GT(signature.attempt(), 1);
  EXPECT_EQ(signature.constexprs(0).name(), "MODE");
  EXPECT_EQ(signature.constexprs(0).value(), "2");
  EXPECT_EQ(signature.constexprs(0).rule(), "guess:second");
}

TEST(SecondGuessesTest, EachToolchainGuessesForItself) {
  FakeCompiler compiler;
  std::vector<size_t> tries;
  compiler.answer = [&](const KernelJob& job) {
    tries.push_back(job.tries.size());
    return Failing(job, "Unsupported ptr type fp32 in `tl.load`");
  };
  v1::CompileParams params = Params();
  params.add_toolchains()->set_name("triton-3.9.0");
  ASSERT_TRUE(CompileKernels(MakeShard(kModule), params, 1, compiler).ok());
  ASSERT_EQ(tries.size() % 2, 0);
  const std::vector<size_t> first(tries.begin(), tries.begin() + tries.size() / 2);
  EXPECT_EQ(first, std::vector<size_t>(tries.begin() + tries.size() / 2, tries.end()));
}

TEST(CompileKernelsTest, LostCompilerIsTheStagesError) {
  FakeCompiler compiler;
  compiler.answer = [](const KernelJob&) { return absl::UnavailableError("lost"); };
  EXPECT_EQ(CompileKernels(MakeShard(kModule), Params(), 1, compiler).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace kernelmill::compiler
