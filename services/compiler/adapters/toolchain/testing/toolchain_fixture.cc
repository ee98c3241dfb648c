#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::compiler {
namespace {

constexpr char kAdd[] = R"(
import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(out + i, tl.load(x + i, m) + tl.load(y + i, m), m)
)";

}  // namespace

// Makes a job with one try, whose arguments are as those that Triton would see at a launch.
KernelJob AddJob(const std::string& toolchain) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kAdd;
  job.function = "add";
  job.targets = {"cuda:80", "cuda:90", "cuda:100", "hip:gfx942"};
  Try& attempt = job.tries.emplace_back();
  for (const char* name : {"x", "y", "out", "n"}) {
    v1::ArgumentType& argument = *attempt.signature.add_arguments();
    argument.set_name(name);
    argument.set_type(argument.name() == "n" ? "i32" : "*fp32");
    argument.set_divisible_by_16(true);
  }
  v1::ConstexprValue& block = *attempt.signature.add_constexprs();
  block.set_name("BLOCK");
  block.set_value("2 ** 7");
  return job;
}

// Skips the test on machines without the toolchain or without the sandbox.
void ToolchainTest::SetUp() {
  const auto environment = FindEnvironment(DefaultToolchainsFolder(), GetParam());
  if (!environment.ok()) GTEST_SKIP() << environment.status();
  if (const absl::Status status = CheckSandbox(); !status.ok()) GTEST_SKIP() << status;
  compiler_ = Open(/*unsafe_no_sandbox=*/false);
  ASSERT_NE(compiler_, nullptr);
}

std::unique_ptr<Compiler> ToolchainTest::Open(bool unsafe_no_sandbox) {
  ToolchainOptions options;
  options.folder = DefaultToolchainsFolder();
  options.unsafe_no_sandbox = unsafe_no_sandbox;
  absl::StatusOr<std::unique_ptr<Compiler>> compiler = OpenToolchains(options, {GetParam()});
  EXPECT_TRUE(compiler.ok()) << compiler.status();
  return compiler.ok() ? *std::move(compiler) : nullptr;
}

std::vector<v1::CompileResult> ToolchainTest::CompileOnBoth(const KernelJob& job) {
  std::vector<v1::CompileResult> results;
  const std::unique_ptr<Compiler> unconfined = Open(/*unsafe_no_sandbox=*/true);
  EXPECT_NE(unconfined, nullptr);
  if (unconfined == nullptr) return results;
  const auto report = compiler_->Compile(job);
  const auto other = unconfined->Compile(job);
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(other.ok()) << other.status();
  if (!report.ok() || !other.ok()) return results;
  EXPECT_TRUE(report->module_import.ok()) << report->module_import.error();
  EXPECT_EQ(report->targets.size(), job.targets.size());
  EXPECT_EQ(other->targets.size(), report->targets.size());
  for (size_t i = 0; i < std::min(report->targets.size(), other->targets.size()); ++i) {
    const v1::CompileResult& result = report->targets[i].result;
    EXPECT_EQ(result.status(), v1::COMPILE_STATUS_OK) << result.message();
    EXPECT_EQ(result.SerializeAsString(), other->targets[i].result.SerializeAsString());
    results.push_back(result);
  }
  return results;
}

}  // namespace kernelmill::compiler
