// cuTile's kernels on the real compiler, through both layers of the sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

constexpr char kMatmul[] = R"(import torch
import cuda.tile as ct
from .sizes import SIZE

ConstInt = ct.Constant[int]

def block(x, i, j, N: ConstInt):
    return ct.load(x, index=(i, j), shape=(N, N))

@ct.kernel(occupancy=2)
def matmul(a, b, c, scale, N: ConstInt):
    total = ct.full((N, N), 0.0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, 1, shape=(N, N))):
        total = ct.mma(block(a, ct.bid(0), k, N), block(b, k, ct.bid(1), N), total)
    ct.store(c, index=(ct.bid(0), ct.bid(1)), tile=ct.astype(total * scale, c.dtype))

@ct.kernel
def wrong(a):
    ct.store(a, index=(0, 0), tile=ct.gone(a))
)";

void AddArgument(const std::string& name, const std::string& type, Try& attempt) {
  v1::ArgumentType& argument = *attempt.signature.add_arguments();
  argument.set_name(name);
  argument.set_type(type);
}

Try MatmulTry(const std::string& element, const std::string& size) {
  Try attempt;
  for (const char* name : {"a", "b", "c"}) AddArgument(name, "array<" + element + ", 2>", attempt);
  AddArgument("scale", "fp32", attempt);
  v1::ConstexprValue& value = *attempt.signature.add_constexprs();
  value.set_name("N");
  value.set_value(size);
  return attempt;
}

KernelJob MatmulJob(const std::string& toolchain) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kMatmul;
  job.function = "matmul";
  job.targets = {"cuda:80", "cuda:90", "cuda:100"};
  job.max_seconds = 60;
  job.tries.push_back(MatmulTry("fp16", "32"));
  return job;
}

using CutileTest = ToolchainTest;

TEST_P(CutileTest, EveryTargetIsCompiledAsByAnUnconfinedCompiler) {
  const std::vector<v1::CompileResult> results = CompileOnBoth(MatmulJob(GetParam()));
  ASSERT_EQ(results.size(), 3);
  for (const v1::CompileResult& result : results) {
    EXPECT_EQ(result.forms_size(), 2);
    EXPECT_GT(result.registers(), 0);
    EXPECT_GT(result.shared_bytes(), 0);
    EXPECT_GT(result.instructions(), 0);
  }
}

TEST_P(CutileTest, TheNextTryIsTakenIfOneIsRefused) {
  KernelJob job = MatmulJob(GetParam());
  job.targets = {"cuda:90"};
  job.tries = {MatmulTry("fp16", "33"), MatmulTry("fp16", "GONE"), MatmulTry("bf16", "16")};
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].attempt, 2);
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << report->targets[0].result.message();
  EXPECT_EQ(report->targets[0].signature.constexprs(0).value(), "16");
}

TEST_P(CutileTest, AnErrorHasItsLine) {
  KernelJob job = MatmulJob(GetParam());
  job.function = "wrong";
  job.targets = {"cuda:90"};
  job.tries.assign(1, {});
  AddArgument("a", "array<fp16, 2>", job.tries[0]);
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  const v1::CompileResult& result = report->targets[0].result;
  EXPECT_EQ(result.stage(), "frontend");
  EXPECT_EQ(result.line(), 19);
  EXPECT_EQ(result.message(), "TypeCheckingError: Module 'cuda.tile' has no attribute 'gone'");
}

// The module runs in the process that makes bytecode of it.
TEST_P(CutileTest, AModuleThatHandsOutNoKernelIsRefused) {
  KernelJob job = MatmulJob(GetParam());
  job.module += "matmul = 1\n";
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(report->targets[0].result.message(), "matmul is no kernel of the module");
}

INSTANTIATE_TEST_SUITE_P(Toolchains, CutileTest, GetToolchains("cutile"), ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
