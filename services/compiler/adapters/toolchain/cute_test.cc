// CuTe DSL's kernels on the real compiler, through both layers of the sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

constexpr char kScale[] = R"(import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import torch
from cutlass import Float32, const_expr
from .sizes import SIZE

@cute.kernel
def scale(x: cute.Tensor, y: cute.Tensor, factor: Float32, TWICE: cutlass.Constexpr):
    i, _, _ = cute.arch.thread_idx()
    value = x[i].to(Float32) * factor
    if const_expr(TWICE):
        value = value * 2.0
    y[i] = value.to(y.element_type)

class Sum:
    def __init__(self, threads: int):
        self.threads = threads

    @cute.jit
    def __call__(self, x: cute.Tensor, y: cute.Tensor, stream: cuda.CUstream):
        layout = cute.make_layout((self.threads, 2))
        self.kernel(x, y, layout).launch(grid=(1, 1, 1), block=(self.threads, 1, 1), stream=stream)

    @cute.kernel
    def kernel(self, x: cute.Tensor, y: cute.Tensor, layout: cute.Layout):
        i, _, _ = cute.arch.thread_idx()
        smem = cutlass.utils.SmemAllocator()
        parts = smem.allocate_tensor(Float32, layout, byte_alignment=16)
        parts[i, 0] = x[i].to(Float32)
        parts[i, 1] = x[i + self.threads].to(Float32)
        cute.arch.barrier()
        y[i] = (parts[self.threads - 1 - i, 0] + parts[i, 1]).to(y.element_type)

@cute.kernel
def wrong(x: cute.Tensor):
    cute.gone(x)
)";

constexpr char kLauncher[] = R"(@cute.jit
def launch(x: cute.Tensor, y: cute.Tensor, factor: Float32):
    scale(x, y, factor, True).launch(grid=(1, 1, 1), block=(256, 1, 1))
)";

void AddArgument(const std::string& name, const std::string& type, Try& attempt) {
  v1::ArgumentType& argument = *attempt.signature.add_arguments();
  argument.set_name(name);
  argument.set_type(type);
}

void AddConstant(const std::string& name, const std::string& text, Try& attempt) {
  v1::ConstexprValue& value = *attempt.signature.add_constexprs();
  value.set_name(name);
  value.set_value(text);
}

Try MakeTry(const std::string& entry, const std::string& tensor) {
  Try attempt;
  v1::CompileOption& option = *attempt.signature.add_options();
  option.set_name("entry");
  option.set_value(entry);
  for (const char* name : {"x", "y"}) AddArgument(name, tensor, attempt);
  return attempt;
}

KernelJob ScaleJob(const std::string& toolchain) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kScale;
  job.function = "scale";
  job.targets = {"cuda:80", "cuda:90", "cuda:100"};
  job.max_seconds = 60;
  Try& attempt = job.tries.emplace_back(MakeTry("kernel", "tensor<fp16[?]>"));
  AddArgument("factor", "fp32", attempt);
  AddConstant("TWICE", "True", attempt);
  return job;
}

class CuteTest : public ToolchainTest {
 protected:
  TargetReport GetReport(const KernelJob& job) {
    const auto report = compiler_->Compile(job);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
    return report->targets.empty() ? TargetReport() : report->targets[0];
  }
};

TEST_P(CuteTest, EveryTargetIsCompiledAsByAnUnconfinedCompiler) {
  const std::vector<v1::CompileResult> results = CompileOnBoth(ScaleJob(GetParam()));
  ASSERT_EQ(results.size(), 3);
  for (const v1::CompileResult& result : results) {
    EXPECT_EQ(result.forms_size(), 2);
    EXPECT_GT(result.registers(), 0);
    EXPECT_GT(result.instructions(), 0);
  }
  EXPECT_NE(results[0].forms(0).sha256(), results[1].forms(0).sha256());
}

TEST_P(CuteTest, AMethodIsCompiledThroughItsLauncher) {
  KernelJob job = ScaleJob(GetParam());
  job.function = "Sum.kernel";
  job.tries = {MakeTry("Sum.__call__", "tensor<fp16[?]>")};
  AddArgument("stream", "stream", job.tries[0]);
  AddConstant("__init__.threads", "64", job.tries[0]);
  EXPECT_EQ(CompileOnBoth(job).size(), 3);
}

TEST_P(CuteTest, ALauncherOutsideTheModuleStartsTheKernel) {
  KernelJob job = ScaleJob(GetParam());
  job.launcher = kLauncher;
  job.tries = {MakeTry("launch", "tensor<absent[?]>"), MakeTry("launch", "tensor<bf16[?]>")};
  for (Try& attempt : job.tries) AddArgument("factor", "fp32", attempt);
  const TargetReport report = GetReport(job);
  EXPECT_EQ(report.result.status(), v1::COMPILE_STATUS_OK) << report.result.message();
  EXPECT_EQ(report.attempt, 1);
  job.tries.erase(job.tries.begin());
  job.launcher = "@cute.jit\ndef launch(x, y, factor):\n    absent(x)\n";
  EXPECT_THAT(GetReport(job).result.message(), testing::HasSubstr("'absent' is not defined"));
}

TEST_P(CuteTest, AnErrorHasItsLine) {
  KernelJob job = ScaleJob(GetParam());
  job.function = "wrong";
  job.tries.assign(1, {});
  AddArgument("x", "tensor<fp16[?]>", job.tries[0]);
  const v1::CompileResult result = GetReport(job).result;
  EXPECT_EQ(result.stage(), "frontend");
  EXPECT_EQ(result.line(), 37);
  EXPECT_THAT(result.message(),
              testing::HasSubstr("module 'cutlass.cute' has no attribute 'gone'"));
}

// The module runs in the process that makes PTX of it.
TEST_P(CuteTest, AModuleThatHandsOutNoKernelIsRefused) {
  KernelJob job = ScaleJob(GetParam());
  job.module += "scale = 1\n";
  EXPECT_EQ(GetReport(job).result.message(), "scale is no kernel of the module");
}

INSTANTIATE_TEST_SUITE_P(Toolchains, CuteTest, GetToolchains("cute"), ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
