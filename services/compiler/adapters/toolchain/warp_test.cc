// Warp's kernels on the real compiler, through both layers of the sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

constexpr char kScale[] = R"(from typing import Any
import torch
import warp as wp
from .settings import DEVICE

TILE = wp.constant(64)

@wp.struct
class Factors:
    scale: float
    shift: wp.array(dtype=float)

@wp.func
def apply(f: Factors, x: float, i: int):
    return f.scale * x + f.shift[i]

@wp.kernel
def scale(f: Factors, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = apply(f, x[i], i)

@wp.kernel
def total(x: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    row = wp.tile_load(x[i], shape=TILE, storage="shared")
    wp.tile_store(y, wp.tile_sum(row), offset=i)

@wp.kernel
def copy(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i]

@wp.kernel
def wrong(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + gone(i)
)";

KernelJob MakeJob(const std::string& toolchain, const std::string& function,
                  const std::string& module = kScale) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = module;
  job.function = function;
  job.targets = {"cuda:90"};
  job.max_seconds = 60;
  job.tries.emplace_back();
  return job;
}

class WarpTest : public ToolchainTest {
 protected:
  // Returns the result of a module that can be loaded.
  v1::CompileResult GetResult(const KernelJob& job) {
    const auto report = compiler_->Compile(job);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
    return report->targets.empty() ? v1::CompileResult() : report->targets[0].result;
  }
};

TEST_P(WarpTest, EveryTargetIsCompiledAsByAnUnconfinedCompiler) {
  KernelJob job = MakeJob(GetParam(), "scale");
  job.targets = {"cuda:80", "cuda:90", "cuda:100"};
  const std::vector<v1::CompileResult> results = CompileOnBoth(job);
  ASSERT_EQ(results.size(), 3);
  for (const v1::CompileResult& result : results) {
    EXPECT_EQ(result.forms_size(), 2);
    EXPECT_GT(result.registers(), 0);
    EXPECT_GT(result.instructions(), 0);
  }
}

TEST_P(WarpTest, TilesCountAsSharedMemory) {
  const v1::CompileResult plain = GetResult(MakeJob(GetParam(), "scale"));
  const v1::CompileResult tiled = GetResult(MakeJob(GetParam(), "total"));
  EXPECT_EQ(tiled.status(), v1::COMPILE_STATUS_OK) << tiled.message();
  EXPECT_GE(tiled.shared_bytes(), plain.shared_bytes() + 64 * 4);
}

TEST_P(WarpTest, AKernelOfAnyTypeHasThoseOfItsOverload) {
  const v1::CompileResult untyped = GetResult(MakeJob(GetParam(), "copy"));
  EXPECT_EQ(untyped.status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(untyped.message(), "no type for x");
  const std::string overload =
      "wp.overload(copy, {\"x\": wp.array(dtype=wp.vec3), \"y\": wp.array(dtype=wp.vec3)})\n";
  const v1::CompileResult typed = GetResult(MakeJob(GetParam(), "copy", kScale + overload));
  EXPECT_EQ(typed.status(), v1::COMPILE_STATUS_OK) << typed.message();
}

TEST_P(WarpTest, AnErrorHasItsLine) {
  const v1::CompileResult result = GetResult(MakeJob(GetParam(), "wrong"));
  EXPECT_EQ(result.stage(), "frontend");
  EXPECT_EQ(result.line(), 36);
  EXPECT_EQ(result.message(), "WarpCodegenKeyError: Referencing undefined symbol: gone");
}

TEST_P(WarpTest, FilesOfTheMachineAreNotIncluded) {
  const v1::CompileResult result = GetResult(MakeJob(GetParam(), "k", R"(import warp as wp
@wp.func_native("""
#define P </etc/passwd>
#include P
""")
def secret(x: float) -> float: ...

@wp.kernel
def k(x: wp.array(dtype=float)):
    x[0] = secret(x[0])
)"));
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_TRUE(absl::StartsWith(result.message(), "cannot open source file")) << result.message();
}

// The module runs in the process that makes C++ of it.
TEST_P(WarpTest, AModuleThatHandsOutAnotherKernelIsRefused) {
  const v1::CompileResult result =
      GetResult(MakeJob(GetParam(), "wrong", std::string(kScale) + "wrong = scale\n"));
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(result.message(), "wrong is no kernel of the module");
}

INSTANTIATE_TEST_SUITE_P(Toolchains, WarpTest, GetToolchains("warp"), ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
