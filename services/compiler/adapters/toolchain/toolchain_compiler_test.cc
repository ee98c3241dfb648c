#include "services/compiler/adapters/toolchain/toolchain_compiler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "common/toolchains/toolchains.h"
#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::StatusIs;

class ToolchainCompilerTest : public ToolchainTest {};

// Makes a job of AddJob() store another value than the sum.
void StoreInstead(KernelJob& job, const std::string& value) {
  const std::string sum = "tl.load(x + i, m) + tl.load(y + i, m)";
  job.module.replace(job.module.find(sum), sum.size(), value);
}

TEST_P(ToolchainCompilerTest, EveryTargetIsCompiled) {
  const auto report = compiler_->Compile(AddJob(GetParam()));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
  ASSERT_EQ(report->targets.size(), 4);
  for (const TargetReport& target : report->targets) {
    SCOPED_TRACE(target.target);
    EXPECT_EQ(target.result.status(), v1::COMPILE_STATUS_OK) << target.result.message();
    EXPECT_EQ(target.result.forms_size(), 5);
    EXPECT_GT(target.result.registers(), 0);
    EXPECT_GT(target.result.instructions(), 0);
    EXPECT_EQ(target.signature.constexprs(0).value(), "128");
  }
}

TEST_P(ToolchainCompilerTest, FormsAreThoseOfAnUnconfinedCompiler) {
  EXPECT_EQ(CompileOnBoth(AddJob(GetParam())).size(), 4);
}

TEST_P(ToolchainCompilerTest, WhatTheAssemblerRefusesIsAnErrorOfTheKernel) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  StoreInstead(job,
               "tl.inline_asm_elementwise('nonsense.b32 $0, $1;', '=r,r', "
               "[tl.load(x + i, m)], dtype=tl.float32, is_pure=True, pack=1)");
  const auto refused = compiler_->Compile(job);
  ASSERT_TRUE(refused.ok()) << refused.status();
  ASSERT_EQ(refused->targets.size(), 1);
  EXPECT_EQ(refused->targets[0].result.status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(refused->targets[0].result.stage(), "assembler");
  EXPECT_NE(refused->targets[0].result.message(), "");
  const auto next = compiler_->Compile(AddJob(GetParam()));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->targets[0].result.status(), v1::COMPILE_STATUS_OK);
}

TEST_P(ToolchainCompilerTest, AnArgumentMayBeATuple) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  StoreInstead(job, "tl.load(x[0] + i, m) + tl.load(x[1] + i, m)");
  job.tries[0].signature.mutable_arguments(0)->set_type("(*fp32, *fp32)");
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << report->targets[0].result.message();
}

TEST_P(ToolchainCompilerTest, SetsOfStringsHaveOneOrder) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  v1::ConstexprValue& order = *job.tries[0].signature.add_constexprs();
  order.set_name("ORDER");
  order.set_value("''.join(set('abcdefghijklmnop'))");
  const size_t parameters = job.module.find("BLOCK: tl.constexpr");
  job.module.insert(parameters, "ORDER: tl.constexpr, ");
  const auto first = compiler_->Compile(job);
  const std::unique_ptr<Compiler> other = Open(/*unsafe_no_sandbox=*/false);
  ASSERT_NE(other, nullptr);
  const auto second = other->Compile(job);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << first->targets[0].result.message();
  EXPECT_EQ(first->targets[0].signature.constexprs(1).value(),
            second->targets[0].signature.constexprs(1).value());
}

TEST_P(ToolchainCompilerTest, ATryOfLargeTensorsIsPutOff) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  Try large = job.tries[0];
  large.signature.mutable_constexprs(0)->set_value("1 << 17");
  job.tries.insert(job.tries.begin(), large);
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].attempt, 1);
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK);
}

TEST_P(ToolchainCompilerTest, ATryThatFitsIntoSharedMemoryIsTakenBeforeOneThatDoesNot) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  // The second operand of such a product is in shared memory: 4 * 256 * BLOCK bytes.
  StoreInstead(job,
               "tl.sum(tl.dot(tl.zeros((64, 256), tl.float32) + n, tl.load(x + i[None, :] + "
               "tl.arange(0, 256)[:, None])), 0)");
  job.tries[0].signature.mutable_constexprs(0)->set_value("256");
  v1::CompileOption& warps = *job.tries[0].signature.add_options();
  warps.set_name("num_warps");
  warps.set_value("16");
  const auto too_large = compiler_->Compile(job);
  ASSERT_TRUE(too_large.ok()) << too_large.status();
  EXPECT_EQ(too_large->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << too_large->targets[0].result.message();
  EXPECT_GT(too_large->targets[0].result.shared_bytes(), 232448);
  job.tries.push_back(job.tries[0]);
  job.tries[1].signature.mutable_constexprs(0)->set_value("32");
  const auto fits = compiler_->Compile(job);
  ASSERT_TRUE(fits.ok()) << fits.status();
  EXPECT_EQ(fits->targets[0].attempt, 1);
  EXPECT_LE(fits->targets[0].result.shared_bytes(), 232448);
  EXPECT_FALSE(fits->targets[0].result.limited());
  // A faster machine would compile the second.
  job.max_seconds = 10;
  job.tries[1].signature.mutable_constexprs(0)->set_value("32 + 0 * sum(range(10 ** 10))");
  const auto limited = compiler_->Compile(job);
  ASSERT_TRUE(limited.ok()) << limited.status();
  EXPECT_EQ(limited->targets[0].attempt, 0);
  EXPECT_EQ(limited->targets[0].result.status(), v1::COMPILE_STATUS_OK);
  EXPECT_TRUE(limited->targets[0].result.limited());
}

TEST_P(ToolchainCompilerTest, AFormThatIsTooLargeIsALimitOnEveryMachine) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.module +=
      "    for k in tl.static_range(COUNT):\n        tl.store(out + i * n + k, i * k, m)\n";
  job.module.insert(job.module.find("BLOCK: tl.constexpr"), "COUNT: tl.constexpr, ");
  v1::ConstexprValue& count = *job.tries[0].signature.add_constexprs();
  count.set_name("COUNT");
  count.set_value("2000");
  const auto large = compiler_->Compile(job);
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ(large->targets[0].result.stage(), "limit");
  EXPECT_THAT(large->targets[0].result.message(),
              ::testing::HasSubstr("bytes of ttir: more than 400000"));
  job.tries.push_back(job.tries[0]);
  job.tries[1].signature.mutable_constexprs(1)->set_value("2");
  job.tries[1].small = true;
  const auto small = compiler_->Compile(job);
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_EQ(small->targets[0].attempt, 1) << small->targets[0].result.message();
  EXPECT_FALSE(small->targets[0].result.limited());
}

TEST_P(ToolchainCompilerTest, AfterATryThatIsOutOfBoundsThoseOfSmallSizesAreLeft) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.max_seconds = 3;
  // Too much for the backend, unless the block is small.
  job.module +=
      "    for k in tl.static_range(2):\n        i = tl.sort(tl.load(x + i).to(tl.int32))\n    "
      "tl.store(out + i, 1.0)\n";
  job.tries[0].signature.mutable_constexprs(0)->set_value("2 ** 16");
  job.tries.push_back(job.tries[0]);
  job.tries.push_back(job.tries[0]);
  job.tries[2].signature.mutable_constexprs(0)->set_value("2");
  job.tries[2].small = true;
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].attempt, 2) << report->targets[0].result.message();
  EXPECT_TRUE(report->targets[0].result.limited());
  job.tries.pop_back();
  const auto limited = compiler_->Compile(job);
  ASSERT_TRUE(limited.ok()) << limited.status();
  EXPECT_EQ(limited->targets[0].result.stage(), "limit");
  EXPECT_EQ(limited->targets[0].attempt, 0);
}

TEST_P(ToolchainCompilerTest, WhatMlirRefusesIsToldInItsWords) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  StoreInstead(job,
               "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', "
               "[tl.load(x + i, m)], dtype=tl.float32, is_pure=True, pack=3)");
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  const v1::CompileResult& result = report->targets[0].result;
  EXPECT_EQ(result.stage(), "frontend");
  EXPECT_THAT(result.message(), ::testing::HasSubstr("must be a multiple of"));
}

TEST_P(ToolchainCompilerTest, ATryThatImportsTritonSucceedsAndOneOfOptionalFilesDoesNot) {
  for (const char* tries :
       {"try:\n    import triton\n    import triton.language as tl\n"
        "    from ..utils import tune\n    import nowhere\nexcept Exception:\n"
        "    triton = tl = None\n",
        "try:\n    from .fast import sum as fast\nexcept ImportError:\n    fast = None\n"
        "assert fast is None\n"}) {
    KernelJob job = AddJob(GetParam());
    job.targets = {"cuda:90"};
    job.module += tries;
    const auto report = compiler_->Compile(job);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
    EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK);
  }
}

TEST_P(ToolchainCompilerTest, ARefusalTellsTheLineOfTheKernelToo) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  StoreInstead(job, "helper(n)");
  const size_t decorator = job.module.find("@triton.jit");
  job.module.insert(decorator, "@triton.jit\ndef helper(n):\n    return tl.nothing(n)\n\n");
  // The second try is refused earlier.
  job.tries.push_back(job.tries[0]);
  job.tries[1].signature.mutable_constexprs(0)->set_value("3");
  std::swap(job.tries[0], job.tries[1]);
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  const TargetReport& target = report->targets[0];
  EXPECT_EQ(target.attempt, 1) << target.result.message();
  EXPECT_GT(target.reached, target.result.line());
  const auto lines = std::count(
      job.module.begin(),
      job.module.begin() + static_cast<int64_t>(job.module.find("helper(n)", decorator + 40)),
      '\n');
  EXPECT_EQ(target.reached, lines + 1);
}

TEST_P(ToolchainCompilerTest, AHeuristicMayAskForTheSizesOfATensor) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.tries[0].signature.mutable_constexprs(0)->set_value(
      "(lambda args: 128 if args['x'].shape[-1] == args['x'].size(0) and args['x'].stride(-1) == 1 "
      "and args['x'].element_size() == 4 and args['x'].numel() > 1 else 3)({'x': "
      "__import__('torch').Tensor(__import__('torch').float32, 1024), **args})");
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << report->targets[0].result.message();
  EXPECT_EQ(report->targets[0].signature.constexprs(0).value(), "128");
}

TEST_P(ToolchainCompilerTest, ACompilerStartsAndWorksWithOneToolchain) {
  const std::string folder = ::testing::TempDir() + "/only-" + GetParam();
  std::filesystem::create_directories(folder);
  const std::string link = folder + "/" + GetParam();
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(
      std::filesystem::absolute(DefaultToolchainsFolder() + "/" + GetParam()), link);
  ToolchainOptions options;
  options.folder = folder;
  const auto compiler = OpenToolchains(options);
  ASSERT_TRUE(compiler.ok()) << compiler.status();
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  const auto report = (*compiler)->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK);
  for (const toolchains::PinnedToolchain& other : toolchains::PinnedToolchains()) {
    if (other.name == GetParam()) continue;
    job.toolchain = std::string(other.name);
    const auto refused = (*compiler)->Compile(job);
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(refused.status().message(), ::testing::HasSubstr(std::string(other.name)));
  }
}

INSTANTIATE_TEST_SUITE_P(Toolchains, ToolchainCompilerTest, GetToolchains("triton"),
                         ToolchainTestName());

TEST(OpenToolchainsTest, AToolchainThatIsNotInstalledIsNamed) {
  ToolchainOptions options;
  options.folder = "/nowhere";
  options.unsafe_no_sandbox = true;
  const auto compiler = OpenToolchains(options, {"triton-3.5.1"});
  EXPECT_THAT(compiler, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(compiler.status().message(), ::testing::HasSubstr("triton-3.5.1"));
}

TEST(OpenToolchainsTest, ACompilerWithoutAnyToolchainDoesNotStart) {
  ToolchainOptions options;
  options.folder = "/nowhere";
  options.unsafe_no_sandbox = true;
  const auto compiler = OpenToolchains(options);
  EXPECT_THAT(compiler, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(compiler.status().message(), ::testing::HasSubstr("kernelmill toolchains --install"));
}

}  // namespace
}  // namespace kernelmill::compiler
