#include "common/toolchains/attempts.h"

#include <gtest/gtest.h>

#include <string>

#include "common/dsl/names.h"

namespace kernelmill::toolchains {
namespace {

v1::Kernel MakeKernel(const std::string& dsl) {
  v1::Kernel kernel;
  kernel.set_dsl(dsl);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_module("import triton\n");
  kernel.set_self_contained(true);
  return kernel;
}

v1::CompileParams MakeParams() {
  v1::CompileParams params;
  params.add_toolchains()->set_name("triton-3.5.1");
  params.add_targets("cuda:90");
  return params;
}

TEST(Attempts, OnlyLanguagesOfTheJobsToolchainsAreCompiled) {
  v1::CompileParams params = MakeParams();
  for (const char* dsl : {dsl::kTriton, dsl::kGluon}) {
    EXPECT_EQ(NotAttempted(MakeKernel(dsl), params), "");
    EXPECT_EQ(NotAttempted(MakeKernel(dsl), {}), std::string("dsl:") + dsl);
  }
  EXPECT_EQ(NotAttempted(MakeKernel(dsl::kCuda), params), "dsl:cuda");
  params.add_toolchains()->set_name("nvrtc-12.9");
  EXPECT_EQ(NotAttempted(MakeKernel(dsl::kCuda), params), "");
  EXPECT_EQ(NotAttempted(MakeKernel(dsl::kPallas), params), "dsl:pallas");
  EXPECT_EQ(NotAttempted(MakeKernel("mojo"), params), "dsl:mojo") << "common/dsl does not know it";
}

TEST(Attempts, AToolchainIsTriedForTheTargetsThatItHas) {
  v1::CompileParams params = MakeParams();
  params.add_toolchains()->set_name("nvrtc-12.9");
  params.add_targets("hip:gfx942");
  EXPECT_EQ(FindAttempts(MakeKernel(dsl::kTriton), params)[0].targets.size(), 2u);
  const std::vector<Attempt> attempts = FindAttempts(MakeKernel(dsl::kCuda), params);
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_EQ(attempts[0].toolchain->name, "nvrtc-12.9");
  EXPECT_EQ(attempts[0].targets, std::vector<std::string>{"cuda:90"});
  params.clear_targets();
  params.add_targets("hip:gfx942");
  EXPECT_EQ(NotAttempted(MakeKernel(dsl::kCuda), params), "target");
}

TEST(Attempts, AKernelThatNoCompilerCouldTakeHasItsReason) {
  const auto judge = [](const auto& change) {
    v1::Kernel kernel = MakeKernel(dsl::kTriton);
    change(kernel);
    return NotAttempted(kernel, MakeParams());
  };
  EXPECT_EQ(judge([](v1::Kernel& k) { k.add_calls("triton.language.extra.tlx.local_alloc"); }),
            "dialect");
  EXPECT_EQ(judge([](v1::Kernel& k) { k.set_form(v1::KERNEL_FORM_FILE); }), "file");
  EXPECT_EQ(judge([](v1::Kernel& k) { k.set_form(v1::KERNEL_FORM_TEMPLATE); }), "template");
  EXPECT_EQ(judge([](v1::Kernel& k) { k.set_role(v1::KERNEL_ROLE_DEVICE); }), "role:device");
  EXPECT_EQ(judge([](v1::Kernel& k) { k.set_role(v1::KERNEL_ROLE_HOST); }), "role:host");
  EXPECT_EQ(judge([](v1::Kernel& k) { k.set_parse_error(true); }), "parse_error");
  EXPECT_EQ(judge([](v1::Kernel& k) { k.set_self_contained(false); }), "not_self_contained");
  EXPECT_EQ(judge([](v1::Kernel& k) { k.clear_module(); }), "not_self_contained");
}

}  // namespace
}  // namespace kernelmill::toolchains
