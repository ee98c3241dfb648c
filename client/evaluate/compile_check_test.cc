#include "client/evaluate/compile_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/evaluate/fake_kernel_services.h"
#include "client/evaluate/static_checks.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::HasSubstr;

v1::CompileResult ResultOf(v1::CompileStatus status, const char* stage, const char* message) {
  v1::CompileResult result;
  result.set_status(status);
  result.set_stage(stage);
  result.set_message(message);
  return result;
}

class CompileCheckTest : public ::testing::Test {
 protected:
  CompileCheckTest() {
    policy_.add_toolchains("old");
    policy_.add_targets("cuda:90");
    services_.compiles["bad"] = ResultOf(v1::COMPILE_STATUS_ERROR, "frontend", "no such type");
    services_.compiles["vague"] = ResultOf(v1::COMPILE_STATUS_UNKNOWN, "frontend", "no pointer");
    services_.compiles["vague"].set_missing("type:x");
    services_.compiles["lonely"] = ResultOf(v1::COMPILE_STATUS_ERROR, "import",
                                            "ModuleNotFoundError: No module named 'einops'");
  }

  // What becomes of each text, by itself.
  std::vector<SampleResult> Compile(const std::vector<std::string>& texts) {
    std::vector<SampleResult> results(texts.size());
    std::vector<SampleResult*> places;
    for (SampleResult& result : results) places.push_back(&result);
    const auto kernels = CheckSamples(texts, services_, places);
    EXPECT_THAT(CompileSamples(kernels.value(), policy_, services_, places), IsOk());
    return results;
  }

  v1::CompileStatus StatusOf(const std::string& text) {
    return Compile({text})[0].compiles.at(0).status;
  }

  FakeKernelServices services_;
  v1::CompilePolicy policy_;
};

TEST_F(CompileCheckTest, UnknownIsNotFailed) {
  const std::vector<SampleResult> results = Compile({"@jit good", "@jit bad", "@jit vague"});
  const Measure all{kCompile, "old cuda:90"};
  const Measure decided{kDecided, "old cuda:90"};
  EXPECT_EQ(results[0].values.at(all), 1);
  EXPECT_EQ(results[0].values.at(decided), 1);
  EXPECT_EQ(results[1].values.at(decided), 0);
  EXPECT_EQ(results[1].compiles[0].message, "bad: frontend: no such type");
  EXPECT_EQ(results[2].values.at(all), 0);
  EXPECT_FALSE(results[2].values.contains(decided));
  EXPECT_EQ(results[2].compiles[0].message,
            "vague: type:x could not be told; as guessed: frontend: no pointer");
}

TEST_F(CompileCheckTest, WhatTheSandboxStoppedIsToldInItsWords) {
  v1::CompileResult stopped =
      ResultOf(v1::COMPILE_STATUS_UNKNOWN, "import", "sandbox: PermissionError");
  stopped.set_missing("sandbox");
  services_.compiles["asks"] = stopped;
  services_.compiles["ends"] = ResultOf(v1::COMPILE_STATUS_UNKNOWN, "", "");
  services_.compiles["ends"].set_missing("crash");
  const std::vector<SampleResult> results = Compile({"@jit asks", "@jit ends"});
  EXPECT_EQ(results[0].compiles[0].message, "asks: import: sandbox: PermissionError");
  EXPECT_EQ(results[1].compiles[0].message, "ends: crash");
}

TEST_F(CompileCheckTest, WhatHasNoKernelOrDoesNotParseIsAnErrorWithoutATry) {
  EXPECT_EQ(StatusOf("x = 1"), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(StatusOf("@jit good ((("), v1::COMPILE_STATUS_ERROR);
  EXPECT_TRUE(services_.compiled.empty());
}

TEST_F(CompileCheckTest, AMissingPackageSaysNothing) {
  EXPECT_EQ(StatusOf("@jit lonely"), v1::COMPILE_STATUS_UNKNOWN);
  services_.unresolved["einops"] = "package_import";
  EXPECT_EQ(StatusOf("@jit good einops"), v1::COMPILE_STATUS_UNKNOWN);
}

TEST_F(CompileCheckTest, ANameThatNobodyDefinesIsTried) {
  services_.unresolved["ofsets"] = "undefined";
  services_.compiles["typo"] = ResultOf(v1::COMPILE_STATUS_ERROR, "frontend", "NameError");
  EXPECT_EQ(StatusOf("@jit typo ofsets"), v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(services_.compiled.size(), 1u);
}

TEST_F(CompileCheckTest, AnyIsTheBestOfAllCompilers) {
  policy_.add_toolchains("new");
  const std::vector<SampleResult> results = Compile({"@jit good", "@jit bad", "@jit vague"});
  EXPECT_EQ(results[0].compiles.size(), 2u);
  EXPECT_EQ(results[0].values.at({kDecided, "any"}), 1);
  EXPECT_EQ(results[1].values.at({kDecided, "any"}), 0);
  EXPECT_FALSE(results[2].values.contains({kDecided, "any"}));
}

TEST_F(CompileCheckTest, ManyKernelsAreCompiledInSeveralCalls) {
  std::vector<SampleResult> results(700);
  std::vector<v1::KernelShard> shards(700);
  std::vector<SampleResult*> places;
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].values[{kStatic, "parses"}] = 1;
    results[i].values[{kStatic, "has_kernel"}] = 1;
    v1::Kernel* kernel = shards[i].add_kernels();
    kernel->set_dsl(v1::DSL_TRITON);
    kernel->set_name(i % 2 == 0 ? "good" : "bad");
    kernel->set_self_contained(true);
    places.push_back(&results[i]);
  }
  EXPECT_THAT(CompileSamples(shards, policy_, services_, places), IsOk());
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].values.at({kCompile, "old cuda:90"}), i % 2 == 0 ? 1 : 0);
  }
}

}  // namespace
}  // namespace kernelmill::client
