// CUDA kernels on the real NVRTC, through both layers of the sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

constexpr char kReverse[] = R"(#include <algorithm>
#include <cstdint>
#include <cuda_fp16.h>

namespace a {
enum class Order { kSame, kReversed };

template <typename T, int N, Order O>
__global__ void reverse(T* x) {
  __shared__ T s[N];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const uint32_t last = std::max<int>(N - 1, 0);
  x[threadIdx.x] = O == Order::kReversed ? s[last - threadIdx.x] : s[threadIdx.x];
}
}  // namespace a
)";

void AddTry(const std::vector<std::string>& arguments, KernelJob& job) {
  Try& attempt = job.tries.emplace_back();
  for (const std::string& argument : arguments) {
    v1::ConstexprValue& value = *attempt.signature.add_constexprs();
    value.set_name("P");
    value.set_value(argument);
  }
}

KernelJob ReverseJob(const std::string& toolchain) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kReverse;
  job.function = "a::reverse";
  job.targets = {"cuda:80", "cuda:90", "cuda:100"};
  job.max_seconds = 60;
  AddTry({"__half", "128", "Order::kReversed"}, job);
  return job;
}

// A job of a module for one target, whose kernel is k.
KernelJob MakeJob(const std::string& toolchain, const std::string& module) {
  KernelJob job = ReverseJob(toolchain);
  job.module = module;
  job.function = "k";
  job.targets = {"cuda:90"};
  job.tries.clear();
  AddTry({}, job);
  return job;
}

class NvrtcTest : public ToolchainTest {
 protected:
  // Returns the import's error of a module that is refused.
  std::string GetError(const std::string& module) {
    const auto report = compiler_->Compile(MakeJob(GetParam(), module));
    if (!report.ok()) return report.status().ToString();
    EXPECT_FALSE(report->module_import.ok());
    return report->module_import.error();
  }
};

TEST_P(NvrtcTest, EveryTargetIsCompiledAsByAnUnconfinedCompiler) {
  const std::vector<v1::CompileResult> results = CompileOnBoth(ReverseJob(GetParam()));
  ASSERT_EQ(results.size(), 3);
  for (const v1::CompileResult& result : results) {
    EXPECT_EQ(result.forms_size(), 2);
    EXPECT_GT(result.registers(), 0);
    EXPECT_EQ(result.shared_bytes(), 256);
    EXPECT_GT(result.instructions(), 0);
  }
}

TEST_P(NvrtcTest, TheNextTryIsTakenIfOneIsRefused) {
  KernelJob job = ReverseJob(GetParam());
  job.targets = {"cuda:90"};
  job.tries.clear();
  AddTry({"Gone", "128", "Order::kSame"}, job);
  AddTry({"float", "64", "Order::kSame"}, job);
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].attempt, 1);
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK);
  EXPECT_EQ(report->targets[0].signature.constexprs(0).value(), "float");
}

TEST_P(NvrtcTest, ATemplateWithoutArgumentsIsReadAndNotCompiled) {
  KernelJob job = ReverseJob(GetParam());
  job.tries.clear();
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->module_import.ok());
  EXPECT_TRUE(report->targets.empty());
}

TEST_P(NvrtcTest, WhatTheAssemblerRefusesIsAnErrorOfTheKernel) {
  const auto report = compiler_->Compile(
      MakeJob(GetParam(), "__global__ void k(int* x) { asm volatile(\"nonsense;\"); }\n"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].result.stage(), "assembler");
}

constexpr char kHostFunction[] = R"(#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Options {
  std::string name = "x";
  std::vector<int> sizes;
  std::map<std::string, int> limits;
};

void check(Options options) {
  std::string text = "options " + options.name;
  for (int size : options.sizes) text += std::to_string(size) + ", ";
  std::cout << text << 3 << std::endl;
  auto found = options.limits.find("a");
  if (found != options.limits.end()) options.sizes.push_back(found->second);
  std::ostringstream out;
  out << text;
  if (text == "x") throw std::runtime_error(out.str());
}

template <typename T>
__global__ void other(T* x) { *x = 1; }

int* allocate(size_t bytes) {
  int* memory = nullptr;
  cudaError_t error = cudaMalloc(&memory, bytes);
  if (error != cudaSuccess) std::cerr << cudaGetErrorString(error) << std::endl;
  cudaFuncSetAttribute(other<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  return memory;
}
)";

TEST_P(NvrtcTest, FunctionsOfTheHostCompileBesideAKernel) {
  const auto report = compiler_->Compile(
      MakeJob(GetParam(), std::string(kHostFunction) + "__global__ void k(int* x) { *x = 1; }\n"));
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->module_import.ok()) << report->module_import.error();
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << report->targets[0].result.message();
}

// A declaration without a body must never be evidence that a kernel compiles.
TEST_P(NvrtcTest, AKernelThatUsesAStringDoesNotCompile) {
  const auto report = compiler_->Compile(MakeJob(
      GetParam(), std::string(kHostFunction) +
                      "__global__ void k(int* x) { std::string s = \"a\"; *x = s.size(); }\n"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->targets[0].result.stage(), "assembler");
  EXPECT_TRUE(absl::StrContains(report->targets[0].result.message(), "Unresolved extern"))
      << report->targets[0].result.message();
}

TEST_P(NvrtcTest, AKernelMayWaitForTheOneBeforeIt) {
  const auto report =
      compiler_->Compile(MakeJob(GetParam(),
                                 "__global__ void k(int* x) {\n  cudaGridDependencySynchronize();\n"
                                 "  *x = 1;\n  cudaTriggerProgrammaticLaunchCompletion();\n}\n"));
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->module_import.ok()) << report->module_import.error();
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << report->targets[0].result.message();
}

TEST_P(NvrtcTest, AMissingHeaderIsNamedWithItsLine) {
  const auto report =
      compiler_->Compile(MakeJob(GetParam(), "\n#include <gone.h>\n__global__ void k() {}\n"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->module_import.error(), "cannot open source file \"gone.h\"");
  EXPECT_EQ(report->module_import.line(), 2);
}

// The content of a file of the machine must not come into a message.
TEST_P(NvrtcTest, FilesOfTheMachineAreNotIncluded) {
  for (const char* include : {"#include \"/etc/passwd\"\n", "#include </etc/passwd>\n",
                              "#include \"../../../../../../../../../../etc/passwd\"\n",
                              "#define P </etc/passwd>\n#include P\n",
                              "#\\\ninclude \"/etc/passwd\"\n", "%:include \"/etc/passwd\"\n"}) {
    const std::string error = GetError(std::string(include) + "__global__ void k() {}\n");
    EXPECT_TRUE(absl::StartsWith(error, "cannot open source file")) << include << error;
    EXPECT_FALSE(absl::StrContains(error, "root")) << include << error;
  }
}

TEST_P(NvrtcTest, AMessageHasNoEscapesAndNoFolders) {
  const std::string error =
      GetError("#line 7 \"/home/me/x.cu\"\n#error \x1b[31m see /home/me/secret\n");
  EXPECT_FALSE(absl::StrContains(error, "\x1b")) << error;
  EXPECT_FALSE(absl::StrContains(error, "/home")) << error;
}

TEST_P(NvrtcTest, TemplatesWithoutEndMeetABound) {
  KernelJob job = MakeJob(GetParam(),
                          "template <int N, int M> struct F { static constexpr int v = "
                          "F<N - 1, M * 2>::v + F<N - 1, M * 2 + 1>::v; };\n"
                          "template <int M> struct F<0, M> { static constexpr int v = M; };\n"
                          "__global__ void k(int* x) { *x = F<28, 1>::v; }\n");
  job.max_seconds = 3;
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(absl::StartsWith(report->module_import.error(), "limit: "))
      << report->module_import.error();
  const auto next = compiler_->Compile(ReverseJob(GetParam()));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->targets[0].result.status(), v1::COMPILE_STATUS_OK);
}

INSTANTIATE_TEST_SUITE_P(Toolchains, NvrtcTest, GetToolchains("nvrtc"), ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
