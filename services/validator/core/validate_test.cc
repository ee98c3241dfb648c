#include "services/validator/core/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "services/validator/core/license/text/samples.h"

namespace kernelmill::validator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

class ValidateTest : public ::testing::Test {
 protected:
  void AddKernel(const std::string& path, const std::string& content, v1::KernelRole role) {
    v1::SourceFile& file = *files_.add_files();
    file.set_path(path);
    file.set_content(content);
    v1::Kernel& kernel = *kernels_.add_kernels();
    kernel.set_path(path);
    kernel.set_dsl(dsl::kTriton);
    kernel.set_role(role);
    kernel.add_decorators("triton.jit");
    kernel.set_source("@triton.jit\ndef k(p):\n    pass\n");
  }

  v1::VerdictShard Run() {
    absl::StatusOr<v1::VerdictShard> shard = Validate(kernels_, files_, tree_, params_);
    EXPECT_THAT(shard, IsOk());
    return shard.ok() ? *shard : v1::VerdictShard();
  }

  v1::KernelShard kernels_;
  v1::FileShard files_;
  v1::SourceTree tree_;
  v1::ValidateParams params_;
};

TEST_F(ValidateTest, EveryKernelHasAVerdictInOrder) {
  AddKernel("b.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_KERNEL);
  AddKernel("a.py", "# SPDX-License-Identifier: GPL-3.0-only\n", v1::KERNEL_ROLE_KERNEL);
  AddKernel("c.py", "", v1::KERNEL_ROLE_KERNEL);
  const v1::VerdictShard shard = Run();
  ASSERT_EQ(shard.verdicts_size(), 3);
  EXPECT_TRUE(shard.verdicts(0).accepted());
  EXPECT_TRUE(shard.verdicts(0).checks().license_permissive());
  EXPECT_THAT(shard.verdicts(0).reasons(), ElementsAre());
  EXPECT_FALSE(shard.verdicts(1).accepted());
  EXPECT_THAT(shard.verdicts(1).reasons(), ElementsAre("license:GPL-3.0-only"));
  EXPECT_THAT(shard.verdicts(2).reasons(), ElementsAre("license:NOASSERTION"));
}

TEST_F(ValidateTest, CountsTheTokensOfTheSpanAndOfTheModule) {
  AddKernel("a.py", "", v1::KERNEL_ROLE_KERNEL);
  v1::Kernel& kernel = *kernels_.mutable_kernels(0);
  kernel.set_source("hello world");
  kernel.set_module("hello world hello");
  const v1::VerdictShard shard = Run();
  ASSERT_EQ(shard.verdicts_size(), 1);
  EXPECT_EQ(shard.verdicts(0).source_tokens().cl100k_base(), 2);
  EXPECT_EQ(shard.verdicts(0).source_tokens().o200k_base(), 2);
  EXPECT_EQ(shard.verdicts(0).module_tokens().cl100k_base(), 3);
}

TEST_F(ValidateTest, RequiredChecksRejectWhereTheyApply) {
  params_.mutable_quality()->add_require("has_program_id");
  params_.mutable_quality()->add_require("has_docstring");
  params_.mutable_quality()->add_require("has_docstring");
  AddKernel("a.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_KERNEL);
  AddKernel("b.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_DEVICE);
  AddKernel("c.py", "", v1::KERNEL_ROLE_KERNEL);
  const v1::VerdictShard shard = Run();
  EXPECT_THAT(shard.verdicts(0).reasons(),
              ElementsAre("quality:has_docstring", "quality:has_program_id"));
  EXPECT_THAT(shard.verdicts(1).reasons(), ElementsAre("quality:has_docstring"));
  EXPECT_THAT(
      shard.verdicts(2).reasons(),
      ElementsAre("license:NOASSERTION", "quality:has_docstring", "quality:has_program_id"));
  EXPECT_THAT(CountVerdicts(shard),
              ElementsAre(Pair("checks.handwritten", 3), Pair("checks.has_triton_jit", 3),
                          Pair("checks.license_permissive", 2), Pair("checks.parses", 3),
                          Pair("checks.readable", 3), Pair("kernels.rejected.license", 1),
                          Pair("kernels.rejected.quality", 2), Pair("kinds.helper", 1),
                          Pair("kinds.operation", 2), Pair("license.MIT", 2),
                          Pair("license.NOASSERTION", 1), Pair("targets.generic", 3)));
}

TEST_F(ValidateTest, WhatCompilersSayIsKeptCheckedAndRequired) {
  params_.mutable_quality()->add_require("compiles");
  for (const std::string path : {"a.py", "b.py", "c.py"}) {
    AddKernel(path, "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_KERNEL);
  }
  for (v1::Kernel& kernel : *kernels_.mutable_kernels()) kernel.set_tokens(200);
  const v1::VerdictShard without = Run();
  EXPECT_EQ(without.verdicts(1).rules_size(), 11) << "no compiler was asked";
  EXPECT_TRUE(without.verdicts(1).accepted());
  v1::CompiledShard compiled;
  for (const v1::CompileStatus status :
       {v1::COMPILE_STATUS_OK, v1::COMPILE_STATUS_ERROR, v1::COMPILE_STATUS_UNKNOWN}) {
    v1::CompiledKernel& kernel = *compiled.add_kernels();
    kernel.add_imports()->set_ok(true);
    kernel.add_results()->set_status(status);
  }
  const auto shard = Validate(kernels_, files_, tree_, params_, &compiled);
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->verdicts(0).compiled().SerializeAsString(),
            compiled.kernels(0).SerializeAsString());
  EXPECT_TRUE(shard->verdicts(0).checks().compiles());
  EXPECT_TRUE(shard->verdicts(1).checks().imports());
  EXPECT_EQ(shard->verdicts(0).rules_size(), 13);
  EXPECT_TRUE(shard->verdicts(0).accepted());
  EXPECT_THAT(shard->verdicts(1).reasons(), ElementsAre("quality:compiles"));
  EXPECT_TRUE(shard->verdicts(2).accepted()) << "nothing is known of it";
  const auto score = [](const v1::Verdict& verdict) { return verdict.quality().score(); };
  EXPECT_GT(score(shard->verdicts(0)), score(without.verdicts(0)));
  EXPECT_LT(score(shard->verdicts(1)), score(without.verdicts(1)));
  EXPECT_EQ(score(shard->verdicts(2)), score(without.verdicts(2)));
  EXPECT_EQ(CountVerdicts(*shard)["checks.compiles"], 1);
  EXPECT_EQ(CountVerdicts(without).count("checks.compiles"), 0u);

  compiled.add_kernels();
  EXPECT_THAT(Validate(kernels_, files_, tree_, params_, &compiled),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ValidateTest, ATemplateIsRejectedWhateverThePolicy) {
  AddKernel("a.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_UNSPECIFIED);
  kernels_.mutable_kernels(0)->set_form(v1::KERNEL_FORM_TEMPLATE);
  const v1::VerdictShard shard = Run();
  ASSERT_EQ(shard.verdicts_size(), 1);
  EXPECT_FALSE(shard.verdicts(0).accepted());
  EXPECT_THAT(shard.verdicts(0).reasons(), ElementsAre("template"));
  EXPECT_EQ(CountVerdicts(shard)["kernels.rejected.template"], 1);
}

TEST_F(ValidateTest, ThePolicyDecidesWhichLicencesPass) {
  params_.mutable_licenses()->add_allow("GPL-3.0-only");
  AddKernel("a.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_KERNEL);
  AddKernel("b.py", "# SPDX-License-Identifier: MIT OR GPL-3.0\n", v1::KERNEL_ROLE_KERNEL);
  const v1::VerdictShard shard = Run();
  EXPECT_FALSE(shard.verdicts(0).accepted());
  EXPECT_TRUE(shard.verdicts(1).accepted());
}

TEST_F(ValidateTest, AdaptedCodeIsLabelledOrRejectedByThePolicy) {
  AddKernel("a.py",
            "# SPDX-License-Identifier: MIT\n# Adapted from turboderp/exllama\nimport triton\n",
            v1::KERNEL_ROLE_KERNEL);
  AddKernel("b.py", "# SPDX-License-Identifier: MIT\n# Adapted from vLLM (Apache-2.0)\n",
            v1::KERNEL_ROLE_KERNEL);
  AddKernel("c.py", "# SPDX-License-Identifier: MIT\n# Ported from other/thing-1\n",
            v1::KERNEL_ROLE_KERNEL);
  AddKernel("d.py",
            "# SPDX-License-Identifier: MIT\n# Adapted from vLLM: Copyright (c) 2023, Ann\n",
            v1::KERNEL_ROLE_KERNEL);
  AddKernel("e.py",
            "# SPDX-License-Identifier: MIT\n# This is copied from the vLLM project.\n"
            "# It was licensed under the Apache License, Version 2.0.\n",
            v1::KERNEL_ROLE_KERNEL);
  v1::SourceFile& notice = *tree_.add_license_files();
  notice.set_path("NOTICE");
  notice.set_content("This product includes thing-1.\n");
  v1::VerdictShard shard = Run();
  ASSERT_EQ(shard.verdicts_size(), 5);
  ASSERT_EQ(shard.verdicts(0).license().adapted_from_size(), 1);
  EXPECT_THAT(shard.verdicts(3).license().copyrights(), ElementsAre("Copyright (c) 2023, Ann"));
  const v1::Adaptation& adapted = shard.verdicts(0).license().adapted_from(0);
  EXPECT_EQ(adapted.origin(), "turboderp/exllama");
  EXPECT_EQ(adapted.path(), "a.py");
  EXPECT_EQ(adapted.line(), 2);
  EXPECT_TRUE(shard.verdicts(0).accepted());

  params_.mutable_licenses()->set_adapted(v1::ADAPTED_POLICY_REJECT);
  shard = Run();
  EXPECT_FALSE(shard.verdicts(0).accepted());
  EXPECT_THAT(shard.verdicts(0).reasons(), ElementsAre("license:adapted:turboderp/exllama"));
  EXPECT_TRUE(shard.verdicts(1).accepted()) << "the file names their licence";
  EXPECT_TRUE(shard.verdicts(2).accepted()) << "the tree has their notice";
  EXPECT_TRUE(shard.verdicts(3).accepted()) << "the line names the holders";
  EXPECT_TRUE(shard.verdicts(4).accepted()) << "a notice follows";
  EXPECT_EQ(CountVerdicts(shard)["kernels.rejected.license"], 1);
}

// Issue 13: 328 of 399 perfect scores were CUDA fragments for which every check is exempt.
TEST_F(ValidateTest, AFragmentForWhichEveryCheckIsExemptIsOfTheLowestTier) {
  AddKernel("a.cuh", "// SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_DEVICE);
  v1::Kernel& kernel = *kernels_.mutable_kernels(0);
  kernel.set_dsl(dsl::kCuda);
  kernel.set_source("// Half of x.\n__device__ float half_of(float x) { return x / 2; }\n");
  kernel.set_tokens(14);
  const v1::VerdictShard shard = Run();
  EXPECT_LT(shard.verdicts(0).quality().score(), 0.5);
  EXPECT_EQ(shard.verdicts(0).quality().tier(), 3);
}

// Issue 13: 458 of 588 failures of has_block_size were of kernels with BT, BK and the like.
TEST_F(ValidateTest, AConstexprThatSizesATileIsABlockSizeWhateverItsName) {
  AddKernel("a.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_KERNEL);
  v1::Kernel& kernel = *kernels_.mutable_kernels(0);
  kernel.set_source("@triton.jit\ndef k(p, BT: tl.constexpr):\n    i = tl.arange(0, BT)\n");
  kernel.set_module(kernel.source());
  EXPECT_TRUE(Run().verdicts(0).checks().has_block_size());
}

TEST_F(ValidateTest, AKernelHasAKindAndATargetAndPoliciesDecideOverThem) {
  AddKernel("src/backend/_ascend/ops/add.py", "# SPDX-License-Identifier: MIT\n",
            v1::KERNEL_ROLE_KERNEL);
  AddKernel("tests/test_add.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_KERNEL);
  for (v1::Kernel& kernel : *kernels_.mutable_kernels()) {
    kernel.set_source("@triton.jit\ndef k(p):\n    tl.store(p, 1)\n");
    kernel.set_tokens(12);
  }
  params_.mutable_quality()->add_exclude_kinds("test");
  params_.mutable_quality()->add_targets("generic");
  params_.mutable_quality()->set_min_tokens(13);
  const v1::VerdictShard shard = Run();
  EXPECT_EQ(shard.verdicts(0).kind(), "operation");
  EXPECT_EQ(shard.verdicts(0).target(), "ascend");
  EXPECT_EQ(shard.verdicts(0).target_rule(), "path:_ascend");
  EXPECT_THAT(shard.verdicts(0).reasons(),
              ElementsAre("quality:min_tokens", "quality:target:ascend"));
  EXPECT_EQ(shard.verdicts(1).kind(), "test");
  EXPECT_EQ(shard.verdicts(1).kind_rule(), "path:test_add.py");
  EXPECT_EQ(shard.verdicts(1).target(), "generic");
  EXPECT_THAT(shard.verdicts(1).reasons(), ElementsAre("quality:kind:test", "quality:min_tokens"));
}

TEST_F(ValidateTest, WhatIsOptedOutIsRejectedByPathByHashAndForThePartsOfItsModule) {
  const std::string mit = "# SPDX-License-Identifier: MIT\n";
  for (const char* path : {"a.py", "vendor/b.py", "c.py", "d.py", "e.py", "f.py"}) {
    AddKernel(path, mit, v1::KERNEL_ROLE_KERNEL);
  }
  kernels_.mutable_kernels(2)->set_sha256(std::string(64, 'c'));
  v1::ModulePiece* piece = kernels_.mutable_kernels(3)->add_pieces();
  piece->set_path("vendor/helper.py");
  kernels_.mutable_kernels(4)->mutable_launcher()->set_path("vendor/run.py");
  kernels_.mutable_kernels(5)->add_pieces()->set_path("hashed.py");
  v1::FileEntry* hashed = tree_.add_files();
  hashed->set_path("hashed.py");
  hashed->set_sha256(std::string(64, 'f'));
  params_.add_opt_out()->set_path("vendor/**");
  params_.add_opt_out()->set_sha256(std::string(64, 'c'));
  params_.add_opt_out()->set_sha256(std::string(64, 'f'));
  params_.mutable_licenses()->add_allow("MIT");
  const v1::VerdictShard shard = Run();
  EXPECT_TRUE(shard.verdicts(0).accepted());
  EXPECT_THAT(shard.verdicts(1).reasons(), ElementsAre("opt_out"));
  EXPECT_THAT(shard.verdicts(2).reasons(), ElementsAre("opt_out"));
  EXPECT_THAT(shard.verdicts(3).reasons(), ElementsAre("opt_out:module"));
  EXPECT_THAT(shard.verdicts(4).reasons(), ElementsAre("opt_out:launcher"));
  EXPECT_THAT(shard.verdicts(5).reasons(), ElementsAre("opt_out:module"));
  EXPECT_FALSE(shard.verdicts(5).accepted());
  EXPECT_EQ(CountVerdicts(shard).at("kernels.rejected.opt_out"), 5);
}

TEST_F(ValidateTest, APathThatAnotherSourceLendsIsNoPathOfItsOwn) {
  AddKernel("a.py", "# SPDX-License-Identifier: MIT\n", v1::KERNEL_ROLE_KERNEL);
  v1::ModulePiece* piece = kernels_.mutable_kernels(0)->add_pieces();
  piece->set_path("vendor/helper.py");
  piece->set_used_source("lender");
  params_.add_opt_out()->set_path("vendor/**");
  params_.mutable_licenses()->add_allow("MIT");
  EXPECT_THAT(Run().verdicts(0).reasons(), ElementsAre());
  piece->clear_used_source();
  EXPECT_THAT(Run().verdicts(0).reasons(), ElementsAre("opt_out:module"));
}

TEST_F(ValidateTest, AnEntryWithNothingElseNamesAllOfTheSourceWhateverTheLicenceIs) {
  AddKernel("a.py", "# SPDX-License-Identifier: GPL-3.0-only\n", v1::KERNEL_ROLE_KERNEL);
  params_.add_opt_out();
  const v1::VerdictShard shard = Run();
  EXPECT_THAT(shard.verdicts(0).reasons(), ElementsAre("license:GPL-3.0-only", "opt_out"));
  const auto counters = CountVerdicts(shard);
  EXPECT_EQ(counters.at("kernels.rejected.opt_out"), 1) << "a wish is said before a licence";
  EXPECT_FALSE(counters.contains("kernels.rejected.license"));
}

TEST_F(ValidateTest, WrongInputsAreRefused) {
  AddKernel("a.py", "", v1::KERNEL_ROLE_KERNEL);
  params_.mutable_quality()->add_require("has_everything");
  EXPECT_THAT(Validate(kernels_, files_, tree_, params_),
              StatusIs(absl::StatusCode::kInvalidArgument));
  params_.clear_quality();
  kernels_.add_kernels()->set_path("elsewhere.py");
  EXPECT_THAT(Validate(kernels_, files_, tree_, params_),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ValidateTest, TheNumberOfCountersIsBounded) {
  for (int i = 0; i < 200; ++i) {
    AddKernel(absl::StrCat(i, ".py"),
              absl::StrCat("# SPDX-License-Identifier: LicenseRef-", i, "\n"),
              v1::KERNEL_ROLE_KERNEL);
  }
  AddKernel("long.py", absl::StrCat("# SPDX-License-Identifier: ", std::string(900, 'x'), "\n"),
            v1::KERNEL_ROLE_KERNEL);
  const auto counters = CountVerdicts(Run());
  EXPECT_LE(counters.size(), 60u);
  EXPECT_EQ(counters.at("license.other"), 151);
  EXPECT_EQ(counters.at("kernels.rejected.license"), 201);
}

// A whole file in the place of a kernel.
v1::Verdict WholeFileVerdict(const std::string& path, const std::string& content,
                             const v1::ValidateParams& params) {
  v1::FileShard files;
  files.add_files()->set_path(path);
  files.mutable_files(0)->set_content(content);
  v1::KernelShard kernels;
  kernels.add_kernels()->set_form(v1::KERNEL_FORM_FILE);
  kernels.mutable_kernels(0)->set_path(path);
  kernels.mutable_kernels(0)->set_source(content);
  const auto shard = Validate(kernels, files, v1::SourceTree(), params);
  EXPECT_THAT(shard, IsOk());
  EXPECT_EQ(CountVerdicts(*shard).count("kinds.file"), 0u);
  return shard->verdicts(0);
}

constexpr char kMit[] = "# SPDX-License-Identifier: MIT\n";

TEST(ValidateWholeFile, HasALicenceAndTokensAndIsNotAskedWhatKernelsAre) {
  v1::ValidateParams params;
  params.mutable_quality()->set_min_score(0.5);
  params.mutable_quality()->set_min_tokens(1000);
  params.mutable_quality()->add_targets("amd");
  params.mutable_quality()->add_require("has_program_id");
  params.mutable_quality()->add_require("self_contained");
  params.mutable_quality()->add_require("readable");
  const v1::Verdict verdict =
      WholeFileVerdict("codegen.py", std::string(kMit) + "def generate(): pass\n", params);
  EXPECT_TRUE(verdict.accepted());
  EXPECT_EQ(verdict.license().expression(), "MIT");
  EXPECT_GT(verdict.source_tokens().cl100k_base(), 10);
  EXPECT_EQ(verdict.kind(), kFileKind);
}

TEST(ValidateWholeFile, IsRejectedForLicenceTextAndReadability) {
  v1::ValidateParams params;
  params.mutable_quality()->add_require("readable");
  const std::string gpl = "# SPDX-License-Identifier: GPL-3.0-only\n";
  EXPECT_THAT(WholeFileVerdict("a.py", gpl, params).reasons(), ElementsAre("license:GPL-3.0-only"));
  const std::string nul = kMit + std::string("\0", 1);
  EXPECT_THAT(WholeFileVerdict("a.py", nul, params).reasons(), ElementsAre("binary"));
  const std::string minified = kMit + std::string(2000, 'x');
  EXPECT_THAT(WholeFileVerdict("a.py", minified, params).reasons(),
              ElementsAre("quality:readable"));
}

TEST(ValidateWholeFile, SecretsAndAddressesAreThoseOfProseToo) {
  v1::ValidateParams params;
  params.mutable_quality()->set_secrets(v1::SENSITIVE_POLICY_REJECT);
  params.mutable_quality()->set_emails(v1::SENSITIVE_POLICY_REJECT);
  const std::string token = "ghp_" + std::string(36, 'a');
  EXPECT_THAT(WholeFileVerdict("a.py", kMit + token, params).reasons(),
              ElementsAre("sensitive:github_token"));
  EXPECT_TRUE(WholeFileVerdict("a.py", std::string(kMit) + "x = a@b.to(c)\n", params).accepted());
  EXPECT_THAT(WholeFileVerdict("a.md", std::string(kMit) + "me@example.org\n", params).reasons(),
              ElementsAre("sensitive:email"));
  const std::string json = R"({"SPDX-License-Identifier": "MIT", )"
                           R"("code": "API_KEY = \"a1b2c3d4e5f6g7h8\""})";
  EXPECT_THAT(WholeFileVerdict("a.json", kMit + json, params).reasons(),
              ElementsAre("sensitive:password"));
}

TEST(ValidateWholeFile, MoreAddressesThanAreLookedForAreNotHalfRedacted) {
  v1::ValidateParams params;
  params.mutable_quality()->set_secrets(v1::SENSITIVE_POLICY_REJECT);
  params.mutable_quality()->set_emails(v1::SENSITIVE_POLICY_REDACT);
  std::string authors = kMit;
  for (int i = 0; i < 99; ++i) absl::StrAppend(&authors, "a", i, "@example.org\n");
  EXPECT_TRUE(WholeFileVerdict("AUTHORS.md", authors, params).accepted());
  absl::StrAppend(&authors, "last@example.org\n");
  EXPECT_THAT(WholeFileVerdict("AUTHORS.md", authors, params).reasons(),
              ElementsAre("sensitive:too_many"));
}

}  // namespace
}  // namespace kernelmill::validator
