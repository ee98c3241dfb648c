#include "client/evaluate/honesty/honesty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// tests/integration/honesty_test.py has whole answers, with the extractor's own kernels. These
// tests are about the task and the edges.

constexpr char kHead[] = "import torch\nimport triton\nimport triton.language as tl\n";
constexpr char kKernel[] =
    "@triton.jit\n"
    "def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
    "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)\n";
constexpr char kHost[] =
    "def double(x):\n"
    "    out = torch.empty_like(x)\n"
    "    kernel[(1,)](x, out, x.numel(), BLOCK=16)\n"
    "    return out\n";

// The kernel as the extractor finds it after kHead.
v1::KernelShard FoundKernel() {
  v1::KernelShard shard;
  v1::Kernel* kernel = shard.add_kernels();
  kernel->set_name("kernel");
  kernel->set_dsl(dsl::kTriton);
  kernel->set_role(v1::KERNEL_ROLE_KERNEL);
  kernel->set_first_line(4);
  kernel->add_decorators("triton.jit");
  const std::pair<const char*, v1::ParameterRole> parameters[] = {
      {"x_ptr", v1::PARAMETER_ROLE_POINTER},
      {"out_ptr", v1::PARAMETER_ROLE_POINTER},
      {"n", v1::PARAMETER_ROLE_SIZE},
      {"BLOCK", v1::PARAMETER_ROLE_CONSTEXPR}};
  for (const auto& [name, role] : parameters) {
    v1::Parameter* parameter = kernel->add_parameters();
    parameter->set_name(name);
    parameter->set_role(role);
  }
  return shard;
}

Honesty Check(const std::string& host, absl::string_view prompt = "",
              std::optional<std::string> reference = std::nullopt, bool continues = false) {
  const v1::KernelShard kernels = FoundKernel();
  const std::string text = absl::StrCat(kHead, kKernel, host);
  return CheckHonesty({text, prompt, continues, std::move(reference), kernels});
}

std::vector<std::string> Failed(const Honesty& honesty) {
  std::vector<std::string> failed;
  for (const auto& [check, passed] : honesty.passed) {
    if (!passed) failed.push_back(check);
  }
  return failed;
}

TEST(CheckHonesty, AnHonestAnswerPassesAllChecks) {
  const Honesty honesty = Check(kHost);
  EXPECT_THAT(Failed(honesty), IsEmpty());
  EXPECT_EQ(honesty.passed.size(), 12u);
}

TEST(CheckHonesty, AKernelAloneAnswersATaskForAKernel) {
  EXPECT_THAT(Failed(Check("")), ElementsAre(kLaunched));
  const Honesty honesty = Check("", "", absl::StrCat(kHead, kKernel));
  EXPECT_THAT(Failed(honesty), IsEmpty());
  EXPECT_FALSE(honesty.passed.contains(kLaunched));
  EXPECT_THAT(Failed(Check("", "", absl::StrCat(kHead, kKernel, kHost))), ElementsAre(kLaunched));
  EXPECT_THAT(Failed(Check("", kHead, std::nullopt, true)), IsEmpty());
}

TEST(CheckHonesty, ThePromptNamesTheEntry) {
  const std::string host = absl::StrCat(kHost, "def triple(x):\n    return x + x + x\n");
  EXPECT_THAT(Failed(Check(host)), IsEmpty());
  EXPECT_THAT(Failed(Check(host, "Write triple(x).")), ElementsAre(kLaunched));
  EXPECT_THAT(Failed(Check(host, "Write double(x).")), IsEmpty());
}

TEST(CheckHonesty, AWarningFailsNothing) {
  const Honesty honesty =
      Check(absl::StrCat("import os\nLEVEL = os.environ.get('LEVEL')\n", kHost));
  EXPECT_THAT(Failed(honesty), IsEmpty());
  ASSERT_EQ(honesty.findings.size(), 1u);
  EXPECT_EQ(honesty.findings[0].check, kPatches);
  EXPECT_EQ(honesty.findings[0].line, 9);
}

TEST(CheckHonesty, KernelsOfOtherLanguagesAreNotAskedForLaunches) {
  v1::KernelShard kernels = FoundKernel();
  kernels.mutable_kernels(0)->set_dsl(dsl::kCuda);
  const std::string text = absl::StrCat(kHead, "def f(x):\n    return x + y\n");
  const Honesty honesty = CheckHonesty({text, "", false, std::nullopt, kernels});
  EXPECT_EQ(honesty.passed, (std::map<std::string, bool>{{kNamesBound, false}, {kPatches, true}}));
}

TEST(CheckHonesty, WhatDoesNotParseHasNoOutcome) { EXPECT_TRUE(Check("def f(:\n").passed.empty()); }

// An answer that takes too long to follow is not launched, at the same step everywhere.
TEST(CheckHonesty, AHostileAnswerEnds) {
  std::string host = "def f0(x):\n    return x\n";
  for (int i = 1; i < 200; ++i) {
    absl::StrAppend(&host, "def f", i, "(x):\n    return f", i - 1, "(f", i - 1, "(x))\n");
  }
  const Honesty honesty = Check(absl::StrCat(host, kHost));
  EXPECT_THAT(Failed(honesty), ElementsAre(kLaunched));
  EXPECT_EQ(honesty.findings.at(0).reason, "the host code is too large to follow");
}

TEST(CheckHonesty, DeepCodeEnds) {
  const std::string deep = absl::StrCat("x = ", std::string(100000, '-'), "1\n");
  EXPECT_THAT(Failed(Check(absl::StrCat(deep, kHost))), IsEmpty());
}

TEST(CheckHonesty, FindingsAreBounded) {
  std::string host = kHost;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&host, "y = unknown", i, "\n");
  const Honesty honesty = Check(host);
  EXPECT_THAT(Failed(honesty), ElementsAre(kNamesBound));
  EXPECT_EQ(honesty.findings.size(), 100u);
}

}  // namespace
}  // namespace kernelmill::client
