// Numba's kernels on the real compiler, through both layers of the sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

constexpr char kScale[] = R"py(import math
import torch
from numba import cuda, float32, int32, void
from .sizes import SIZE

@cuda.jit("float32(float32)", device=True)
def squash(x):
    return math.tanh(x)

@cuda.jit(cache=True)
def reverse(x, y, n):
    part = cuda.shared.array(128, float32)
    i = cuda.grid(1)
    part[cuda.threadIdx.x] = squash(x[i])
    cuda.syncthreads()
    if i < n:
        y[i] = part[127 - cuda.threadIdx.x] * 2

@cuda.jit(void(int32[:]))
def typed(x):
    x[0] = 1

@cuda.jit
def wrong(x):
    x[0] = x.gone
)py";

void AddArgument(const std::string& name, const std::string& type, Try& attempt) {
  v1::ArgumentType& argument = *attempt.signature.add_arguments();
  argument.set_name(name);
  argument.set_type(type);
}

Try ReverseTry(const std::string& array) {
  Try attempt;
  AddArgument("x", array, attempt);
  AddArgument("y", array, attempt);
  AddArgument("n", "int64", attempt);
  return attempt;
}

KernelJob ReverseJob(const std::string& toolchain) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kScale;
  job.function = "reverse";
  job.targets = {"cuda:80", "cuda:90", "cuda:100"};
  job.max_seconds = 60;
  job.tries.push_back(ReverseTry("float32[::1]"));
  return job;
}

class NumbaTest : public ToolchainTest {
 protected:
  TargetReport GetReport(const KernelJob& job) {
    const auto report = compiler_->Compile(job);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
    return report->targets.empty() ? TargetReport() : report->targets[0];
  }
};

TEST_P(NumbaTest, EveryTargetIsCompiledAsByAnUnconfinedCompiler) {
  const std::vector<v1::CompileResult> results = CompileOnBoth(ReverseJob(GetParam()));
  ASSERT_EQ(results.size(), 3);
  for (const v1::CompileResult& result : results) {
    EXPECT_EQ(result.forms_size(), 2);
    EXPECT_GT(result.registers(), 0);
    EXPECT_EQ(result.shared_bytes(), 128 * 4);
    EXPECT_GT(result.instructions(), 0);
  }
}

TEST_P(NumbaTest, TheNextTryIsTakenIfOneIsRefused) {
  KernelJob job = ReverseJob(GetParam());
  job.targets = {"cuda:90"};
  job.tries = {ReverseTry("complex64[::1]"), ReverseTry("absent[::1]"), ReverseTry("float64[::1]")};
  const TargetReport report = GetReport(job);
  EXPECT_EQ(report.result.status(), v1::COMPILE_STATUS_OK) << report.result.message();
  EXPECT_EQ(report.attempt, 2);
}

TEST_P(NumbaTest, AKernelWithASignatureHasItsTypes) {
  KernelJob job = ReverseJob(GetParam());
  job.function = "typed";
  job.tries.assign(1, {});
  EXPECT_EQ(GetReport(job).result.status(), v1::COMPILE_STATUS_OK);
}

TEST_P(NumbaTest, AnErrorHasItsLine) {
  KernelJob job = ReverseJob(GetParam());
  job.function = "wrong";
  job.tries.assign(1, {});
  AddArgument("x", "int32[::1]", job.tries[0]);
  const v1::CompileResult result = GetReport(job).result;
  EXPECT_EQ(result.stage(), "frontend");
  EXPECT_EQ(result.line(), 25);
  EXPECT_THAT(result.message(), testing::HasSubstr("Unknown attribute 'gone'"));
}

// The module runs in the process that makes PTX of it.
TEST_P(NumbaTest, AModuleThatHandsOutNoKernelIsRefused) {
  KernelJob job = ReverseJob(GetParam());
  job.module += "reverse = 1\n";
  EXPECT_EQ(GetReport(job).result.message(), "reverse is no kernel of the module");
}

INSTANTIATE_TEST_SUITE_P(Toolchains, NumbaTest, GetToolchains("numba"), ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
