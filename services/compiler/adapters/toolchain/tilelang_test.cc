// TileLang's kernels on the real compiler, through both layers of the sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

constexpr char kScale[] = R"py(import functools
import tilelang
import tilelang.language as T
import torch
from .sizes import SIZE

@functools.lru_cache
def make(n, dtype):
    if n < 8:
        return None

    @tilelang.jit(out_idx=[-1], compile_flags=["-O3", "-DFAST"])
    def scale(block):
        @T.prim_func
        def main(x: T.Tensor((n,), dtype), y: T.Tensor((n,), dtype)):
            with T.Kernel(T.ceildiv(n, block), threads=128) as i:
                part = T.alloc_shared((block,), dtype)
                T.copy(x[i * block], part)
                for j in T.Parallel(block):
                    y[i * block + j] = part[block - 1 - j] * 2
        return main

    return scale(128)

@tilelang.jit
def wrong(n):
    @T.prim_func
    def main(x: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=128):
            x[0] = T.gone(x[0])
    return main
)py";

Try MakeTry(const std::string& n, const std::string& type) {
  Try attempt;
  for (const auto& [name, value] : {std::pair("n", n), std::pair("dtype", type)}) {
    v1::ConstexprValue& constant = *attempt.signature.add_constexprs();
    constant.set_name(name);
    constant.set_value(value);
  }
  return attempt;
}

KernelJob ScaleJob(const std::string& toolchain) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kScale;
  job.function = "make.scale";
  job.targets = {"cuda:80", "cuda:90", "cuda:100"};
  job.max_seconds = 60;
  job.tries.push_back(MakeTry("1024", "'float32'"));
  return job;
}

class TilelangTest : public ToolchainTest {
 protected:
  TargetReport GetReport(KernelJob job) {
    job.targets = {"cuda:90"};
    const auto report = compiler_->Compile(job);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
    return report->targets.empty() ? TargetReport() : report->targets[0];
  }
};

TEST_P(TilelangTest, EveryTargetIsCompiledAsByAnUnconfinedCompiler) {
  const std::vector<v1::CompileResult> results = CompileOnBoth(ScaleJob(GetParam()));
  ASSERT_EQ(results.size(), 3);
  for (const v1::CompileResult& result : results) {
    EXPECT_EQ(result.forms_size(), 2);
    EXPECT_GT(result.registers(), 0);
    EXPECT_GE(result.shared_bytes(), 128 * 4);
    EXPECT_GT(result.instructions(), 0);
  }
}

TEST_P(TilelangTest, TheNextTryIsTakenIfOneIsRefused) {
  KernelJob job = ScaleJob(GetParam());
  job.tries = {MakeTry("4", "'float16'"), MakeTry("512", "'absent'"), MakeTry("512", "'float16'")};
  const TargetReport report = GetReport(job);
  EXPECT_EQ(report.result.status(), v1::COMPILE_STATUS_OK) << report.result.message();
  EXPECT_EQ(report.attempt, 2);
}

TEST_P(TilelangTest, AFunctionThatMakesNoKernelSaysSo) {
  KernelJob job = ScaleJob(GetParam());
  job.tries = {MakeTry("4", "'float16'")};
  EXPECT_EQ(GetReport(job).result.message(), "make does not make scale");
}

TEST_P(TilelangTest, AnErrorNamesItsCause) {
  KernelJob job = ScaleJob(GetParam());
  job.function = "wrong";
  const v1::CompileResult result = GetReport(job).result;
  EXPECT_EQ(result.stage(), "frontend");
  EXPECT_EQ(result.line(), 30);
  EXPECT_THAT(result.message(), testing::HasSubstr("gone"));
}

// The module runs in the process that makes CUDA of it.
TEST_P(TilelangTest, AModuleThatHandsOutNoKernelIsRefused) {
  KernelJob job = ScaleJob(GetParam());
  job.module += "make = 1\n";
  EXPECT_EQ(GetReport(job).result.message(), "make is no kernel of the module");
}

INSTANTIATE_TEST_SUITE_P(Toolchains, TilelangTest, GetToolchains("tilelang"), ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
