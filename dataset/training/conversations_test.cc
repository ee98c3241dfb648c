#include "dataset/training/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

v1::Kernel Whole() {
  v1::Kernel kernel;
  kernel.set_name("scale");
  kernel.set_dsl(v1::DSL_TRITON);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_form(v1::KERNEL_FORM_DECORATED);
  kernel.set_signature("def scale(x, n, B: tl.constexpr):");
  const std::string head =
      "@triton.jit\ndef scale(x, n, B: tl.constexpr):\n"
      "    \"\"\"Doubles every element of x,\n    in place.\n    \"\"\"\n";
  kernel.set_docstring("Doubles every element of x,\n    in place.\n    ");
  kernel.set_source(head + "    i = tl.arange(0, B)\n    tl.store(x + i, 2 * tl.load(x + i))\n");
  kernel.set_body_offset(static_cast<int>(head.size()));
  kernel.set_module("import triton\n\n" + kernel.source());
  kernel.set_self_contained(true);
  for (const auto& [name, role] : std::map<std::string, v1::ParameterRole>{
           {"x", v1::PARAMETER_ROLE_POINTER}, {"B", v1::PARAMETER_ROLE_CONSTEXPR}}) {
    v1::Parameter* parameter = kernel.add_parameters();
    parameter->set_name(name);
    parameter->set_role(role);
  }
  kernel.add_tags()->set_name("elementwise");
  kernel.mutable_launcher()->set_text("def run(x):\n    scale[(1,)](x, x.numel(), 64)\n");
  return kernel;
}

std::map<std::string, Conversation> ByTemplate(const v1::Kernel& kernel) {
  std::map<std::string, Conversation> all;
  for (const Conversation& one : Conversations(kernel, manifest::MakeFimPair(kernel))) {
    all[std::string(one.template_name)] = one;
  }
  return all;
}

std::vector<std::string> Names(const v1::Kernel& kernel) {
  std::vector<std::string> names;
  for (const Conversation& one : Conversations(kernel, manifest::MakeFimPair(kernel))) {
    names.emplace_back(one.template_name);
  }
  return names;
}

TEST(Conversations, AWholeKernelHasOneOfEachTemplateInTheirOrder) {
  EXPECT_EQ(Names(Whole()), TemplateNames());
}

TEST(Conversations, TheQuestionToWriteHasTheEvidenceAndNotTheAnswer) {
  const Conversation write = ByTemplate(Whole())["write"];
  EXPECT_EQ(write.system, "You write GPU kernels in Triton.");
  EXPECT_EQ(write.user,
            "Write a Triton kernel named `scale`.\n\nOperation: elementwise\n\nWhat it does:\n\n"
            "Doubles every element of x,\nin place.\n\nSignature:\n\n```python\n"
            "def scale(x, n, B: tl.constexpr):\n```\n\nParameters:\n\n"
            "- `B`: known when it is compiled\n- `x`: pointer\n\nIt is launched so:\n\n```python\n"
            "def run(x):\n    scale[(1,)](x, x.numel(), 64)\n```\n");
  EXPECT_EQ(write.assistant, "```python\n" + Whole().module() + "```");
}

TEST(Conversations, TheQuestionWhatItDoesDoesNotHoldTheAnswer) {
  const Conversation document = ByTemplate(Whole())["document"];
  EXPECT_THAT(document.user, Not(HasSubstr("Doubles")));
  EXPECT_THAT(document.user, HasSubstr("def scale(x, n, B: tl.constexpr):\n    i = tl.arange"));
  EXPECT_EQ(document.assistant, "Doubles every element of x,\nin place.");
}

TEST(Conversations, WhatIsNotKnownIsNotAskedFor) {
  v1::Kernel kernel = Whole();
  kernel.clear_launcher();
  EXPECT_THAT(Names(kernel), ElementsAre("write", "complete", "document"));
  EXPECT_THAT(ByTemplate(kernel)["write"].user, Not(HasSubstr("launched")));
  kernel.clear_tags();
  kernel.set_docstring("Short.");
  EXPECT_THAT(Names(kernel), ElementsAre("write", "complete"));
  kernel.clear_docstring();
  EXPECT_THAT(Names(kernel), ElementsAre("complete"));
}

TEST(Conversations, OnlyAModuleThatStandsAloneIsAnAnswer) {
  v1::Kernel kernel = Whole();
  kernel.set_self_contained(false);
  EXPECT_THAT(Names(kernel), ElementsAre("complete", "launch", "document"));
  kernel = Whole();
  kernel.set_role(v1::KERNEL_ROLE_DEVICE);
  EXPECT_THAT(Names(kernel), Not(testing::Contains("write")));
}

TEST(Conversations, ALauncherThatHoldsTheKernelIsNotShown) {
  v1::Kernel kernel = Whole();
  kernel.mutable_launcher()->set_text("def run(x):\n" + kernel.source() +
                                      "    scale[(1,)](x, 1, 64)\n");
  EXPECT_THAT(Names(kernel), Not(testing::Contains("launch")));
  EXPECT_THAT(ByTemplate(kernel)["write"].user, Not(HasSubstr("launched")));
}

TEST(Conversations, ALauncherThatDoesNotNameTheKernelIsNotShown) {
  v1::Kernel kernel = Whole();
  kernel.mutable_launcher()->set_text("def run(x):\n    TABLE['scale'][(1,)](x)  # scale\n");
  EXPECT_THAT(Names(kernel), Not(testing::Contains("launch")));
  EXPECT_THAT(ByTemplate(kernel)["write"].user, Not(HasSubstr("launched")));
}

TEST(Conversations, NestedTextsLoseTheirIndentation) {
  v1::Kernel kernel = Whole();
  kernel.set_signature("def scale(\n        x,\n    ):");
  kernel.set_docstring("Doubles every element of x.");
  const std::string head =
      "    @triton.jit\n    def scale(\n        x,\n    ):\n"
      "        \"\"\"Doubles every element of x.\"\"\"\n";
  kernel.set_source(head + "        tl.store(x, 2 * tl.load(x))\n");
  kernel.set_body_offset(static_cast<int>(head.size()));
  kernel.mutable_launcher()->set_text("    def run(self, x):\n        scale[(1,)](x)\n");
  std::map<std::string, Conversation> all = ByTemplate(kernel);
  EXPECT_THAT(all["write"].user, HasSubstr("```python\ndef scale(\n    x,\n):\n```"));
  EXPECT_THAT(all["write"].user, HasSubstr("```python\ndef run(self, x):\n    scale"));
  EXPECT_EQ(all["launch"].assistant, "```python\ndef run(self, x):\n    scale[(1,)](x)\n```");
  EXPECT_THAT(all["document"].user,
              HasSubstr("```python\n@triton.jit\ndef scale(\n    x,\n):\n    tl.store"));
}

TEST(Conversations, ADeviceFunctionIsNotCalledAKernel) {
  v1::Kernel kernel = Whole();
  kernel.set_role(v1::KERNEL_ROLE_DEVICE);
  EXPECT_THAT(ByTemplate(kernel)["complete"].user, HasSubstr("body of this device function."));
  EXPECT_THAT(ByTemplate(kernel)["document"].user, HasSubstr("does this device function do?"));
}

TEST(Conversations, AFenceIsLongerThanThoseInTheCode) {
  v1::Kernel kernel = Whole();
  kernel.set_module("# ```\n# ````\n");
  EXPECT_EQ(ByTemplate(kernel)["write"].assistant, "`````python\n# ```\n# ````\n`````");
}

TEST(Conversations, CudaIsFencedAsCuda) {
  v1::Kernel kernel = Whole();
  kernel.set_dsl(v1::DSL_CUDA);
  EXPECT_THAT(Names(kernel), Not(testing::Contains("complete")));
  EXPECT_THAT(ByTemplate(kernel)["write"].assistant, HasSubstr("```cuda\n"));
}

}  // namespace
}  // namespace kernelmill::dataset
