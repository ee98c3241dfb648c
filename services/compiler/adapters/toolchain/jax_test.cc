// Pallas's kernels on the real compiler, through both layers of the sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

constexpr char kAdd[] = R"py(import jax.numpy as jnp
from jax.experimental import pallas as pl
from .sizes import SIZE

def add(x_ref, y_ref, o_ref, *, scale):
    o_ref[...] = x_ref[...] + y_ref[...] * scale

def wrong(x_ref, o_ref):
    o_ref[...] = x_ref.gone
)py";

constexpr char kAddLauncher[] = R"py(@functools.partial(jax.jit, static_argnames=["block"])
def host(x, y, block):
    kernel = functools.partial(add, scale=2.0)
    spec = pl.BlockSpec((block, 128), lambda i: (i, 0))
    call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(x.shape[0] // block,),
                          in_specs=[spec, spec], out_specs=spec, interpret=True)
    return helper(call(x, y))
)py";

Try AddTry(const std::string& array) {
  Try attempt;
  for (const char* const name : {"x", "y"}) {
    v1::ArgumentType& argument = *attempt.signature.add_arguments();
    argument.set_name(name);
    argument.set_type(array);
  }
  v1::ConstexprValue& block = *attempt.signature.add_constexprs();
  block.set_name("block");
  block.set_value("128");
  return attempt;
}

KernelJob PallasJob(const std::string& toolchain) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kAdd;
  job.function = "add";
  job.source =
      "def add(x_ref, y_ref, o_ref, *, scale):\n"
      "    o_ref[...] = x_ref[...] + y_ref[...] * scale\n";
  job.launcher = kAddLauncher;
  job.targets = {"tpu:v6e", "cuda:90"};
  job.max_seconds = 60;
  job.tries.push_back(AddTry("tensor<fp32[512, 128]>"));
  return job;
}

class JaxTest : public ToolchainTest {
 protected:
  TargetReport GetReport(const KernelJob& job) {
    const auto report = compiler_->Compile(job);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
    return report->targets.empty() ? TargetReport() : report->targets[0];
  }

  std::string GetMessage(const KernelJob& job) { return GetReport(job).result.message(); }
};

TEST_P(JaxTest, EveryTargetIsCompiledAsByAnUnconfinedCompiler) {
  const std::vector<v1::CompileResult> results = CompileOnBoth(PallasJob(GetParam()));
  ASSERT_EQ(results.size(), 2);
  for (const v1::CompileResult& result : results) {
    ASSERT_EQ(result.forms_size(), 2);
    EXPECT_EQ(result.forms(0).form(), "stablehlo");
    EXPECT_EQ(result.forms(1).form(), "mosaic");
  }
  EXPECT_EQ(results[0].shared_bytes(), 3 * 128 * 128 * 4);
  EXPECT_GT(results[1].shared_bytes(), 3 * 128 * 128 * 4);
}

TEST_P(JaxTest, AKeptFormIsTheKernelsModule) {
  KernelJob job = PallasJob(GetParam());
  job.keep = {"mosaic"};
  const TargetReport report = GetReport(job);
  ASSERT_EQ(report.kept.size(), 1);
  EXPECT_THAT(report.kept[0].text(), testing::HasSubstr("sym_name = \"add\""));
}

TEST_P(JaxTest, TheNextTryIsTakenIfOneIsRefused) {
  KernelJob job = PallasJob(GetParam());
  job.tries = {AddTry("tensor<fp32[128]>"), AddTry("tensor<bf16[256, 128]>")};
  const TargetReport report = GetReport(job);
  EXPECT_EQ(report.result.status(), v1::COMPILE_STATUS_OK) << report.result.message();
  EXPECT_EQ(report.attempt, 1);
}

TEST_P(JaxTest, AnErrorHasItsLine) {
  KernelJob job = PallasJob(GetParam());
  job.function = "wrong";
  job.source = "def wrong(x_ref, o_ref):\n    o_ref[...] = x_ref.gone\n";
  job.launcher =
      "  def test(self):\n"
      "    pl.pallas_call(wrong, out_shape=jnp.ones((8, 128)))(jnp.ones((8, 128)))\n";
  job.tries.assign(1, {});
  const v1::CompileResult result = GetReport(job).result;
  EXPECT_EQ(result.stage(), "frontend");
  EXPECT_EQ(result.line(), 9);
  EXPECT_THAT(result.message(), testing::HasSubstr("gone"));
}

TEST_P(JaxTest, ALauncherThatDoesNotStartTheKernelIsNoErrorOfTheKernel) {
  KernelJob job = PallasJob(GetParam());
  job.launcher = "def host(x, y, block):\n    return x + y\n";
  EXPECT_EQ(GetMessage(job), "the launcher does not start add");
  // A value that the text does not have.
  job.launcher = kAddLauncher;
  job.launcher.replace(job.launcher.find("2.0"), 3, "SCALE");
  EXPECT_THAT(GetMessage(job), testing::StartsWith("the launcher does not start add"));
}

// The module runs in the process that lowers it.
TEST_P(JaxTest, AModuleThatHandsOutNoKernelIsRefused) {
  KernelJob job = PallasJob(GetParam());
  job.module += "add = None\n";
  EXPECT_THAT(GetMessage(job), testing::StartsWith("the launcher does not start add"));
}

TEST_P(JaxTest, SyntaxOfANewerPythonIsMissing) {
  KernelJob job = PallasJob(GetParam());
  job.module += "type Number = int\n";
  job.targets = {"tpu:v6e"};
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->module_import.error(), testing::HasSubstr("which is not installed"));
}

INSTANTIATE_TEST_SUITE_P(Toolchains, JaxTest, GetToolchains("jax"), ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
