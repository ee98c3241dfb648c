#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

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

}  // namespace kernelmill::compiler
