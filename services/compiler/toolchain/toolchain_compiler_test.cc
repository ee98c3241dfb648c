#include "services/compiler/toolchain/toolchain_compiler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/toolchains/toolchains.h"
#include "gtest/gtest.h"
#include "services/compiler/sandbox/support.h"
#include "services/compiler/toolchain/environment.h"

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

class ToolchainCompilerTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto environment = FindEnvironment(DefaultToolchainsFolder(), GetParam());
    if (!environment.ok()) GTEST_SKIP() << environment.status();
    if (const absl::Status status = CheckSandbox(); !status.ok()) GTEST_SKIP() << status;
    compiler_ = Open(/*unsafe_no_sandbox=*/false);
    ASSERT_NE(compiler_, nullptr);
  }

  static std::unique_ptr<Compiler> Open(bool unsafe_no_sandbox) {
    ToolchainOptions options;
    options.folder = DefaultToolchainsFolder();
    options.unsafe_no_sandbox = unsafe_no_sandbox;
    absl::StatusOr<std::unique_ptr<Compiler>> compiler = OpenToolchains(options, {GetParam()});
    EXPECT_TRUE(compiler.ok()) << compiler.status();
    return compiler.ok() ? *std::move(compiler) : nullptr;
  }

  std::unique_ptr<Compiler> compiler_;
};

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
  const std::unique_ptr<Compiler> unconfined = Open(/*unsafe_no_sandbox=*/true);
  ASSERT_NE(unconfined, nullptr);
  const auto confined_report = compiler_->Compile(AddJob(GetParam()));
  const auto report = unconfined->Compile(AddJob(GetParam()));
  ASSERT_TRUE(confined_report.ok()) << confined_report.status();
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->targets.size(), 4);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(confined_report->targets[i].result.SerializeAsString(),
              report->targets[i].result.SerializeAsString());
  }
}

INSTANTIATE_TEST_SUITE_P(Toolchains, ToolchainCompilerTest, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& toolchain : toolchains::PinnedToolchains()) {
                             names.emplace_back(toolchain.name);
                           }
                           return names;
                         }()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) {
                             if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace kernelmill::compiler
