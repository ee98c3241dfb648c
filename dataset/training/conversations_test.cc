#include "dataset/training/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

v1::Kernel Whole() {
  v1::Kernel kernel;
  kernel.set_name("scale");
  kernel.set_dsl(dsl::kTriton);
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
  for (const Conversation& one :
       MakeConversations(kernel, manifest::MakeFimPair(kernel), "generic").asked) {
    all[std::string(one.template_name)] = one;
  }
  return all;
}

TEST(Conversations, QuestionsForCodeNameTheHardwareOfAKernelForOne) {
  const v1::Kernel kernel = Whole();
  std::map<std::string, Conversation> all;
  for (const Conversation& one :
       MakeConversations(kernel, manifest::MakeFimPair(kernel), "ascend").asked) {
    EXPECT_EQ(one.system, "You write kernels in Triton for Ascend NPUs.");
    all[std::string(one.template_name)] = one;
  }
  EXPECT_THAT(all["write"].user, HasSubstr("a Triton kernel named `scale` for Ascend NPUs.\n"));
  EXPECT_THAT(all["complete"].user, HasSubstr("the body of this kernel for Ascend NPUs.\n"));
  EXPECT_THAT(all["launch"].user, HasSubstr("launches `scale`, a kernel for Ascend NPUs. It"));
  for (const char* const target : {"nvidia", "generic", ""}) {
    for (const Conversation& one :
         MakeConversations(kernel, manifest::MakeFimPair(kernel), target).asked) {
      EXPECT_EQ(one.user.find("NVIDIA") != std::string::npos,
                target == std::string("nvidia") && one.template_name != "document");
    }
  }
}

TEST(Conversations, WriteNamesEveryParameterWhoseRoleIsKnown) {
  v1::Kernel kernel = Whole();
  v1::Parameter& other = *kernel.add_parameters();
  other.set_name("eps");
  other.set_role(v1::PARAMETER_ROLE_OTHER);
  kernel.add_parameters()->set_name("unknown");
  const std::string question = ByTemplate(kernel)["write"].user;
  EXPECT_THAT(question, HasSubstr("- `eps`: value\n"));
  EXPECT_THAT(question, Not(HasSubstr("- `unknown`")));
}

std::vector<std::string> Names(const v1::Kernel& kernel) {
  std::vector<std::string> names;
  for (const Conversation& one :
       MakeConversations(kernel, manifest::MakeFimPair(kernel), "generic").asked) {
    names.emplace_back(one.template_name);
  }
  return names;
}

// The reasons of the templates that ask nothing.
std::map<std::string, std::string> Reasons(const v1::Kernel& kernel) {
  std::map<std::string, std::string> reasons;
  for (const NotAsked& one :
       MakeConversations(kernel, manifest::MakeFimPair(kernel), "generic").not_asked) {
    reasons[std::string(one.template_name)] = std::string(one.reason);
  }
  return reasons;
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
  kernel.set_docstring("Short.");
  EXPECT_THAT(Names(kernel), ElementsAre("complete"));
  EXPECT_THAT(Reasons(kernel),
              ElementsAre(Pair("document", "short_docstring"), Pair("launch", "no_launcher"),
                          Pair("write", "no_ground")))
      << "a tag alone does not say what the kernel computes";
  *kernel.mutable_launcher() = Whole().launcher();
  EXPECT_THAT(Names(kernel), ElementsAre("write", "complete", "launch"));
}

TEST(Conversations, EveryTemplateAsksOrSaysWhyNot) {
  v1::Kernel kernel = Whole();
  kernel.set_role(v1::KERNEL_ROLE_DEVICE);
  kernel.clear_docstring();
  kernel.clear_launcher();
  const std::map<std::string, std::string> reasons = Reasons(kernel);
  EXPECT_EQ(Names(kernel).size() + reasons.size(), TemplateNames().size());
  EXPECT_EQ(reasons.at("write"), "device_function");
  EXPECT_EQ(reasons.at("document"), "no_docstring");
}

TEST(Conversations, AKernelWhoseNameSaysNothingIsNotAskedFor) {
  for (const char* name : {"kernel", "_kernel", "triton_kernel_2", "_fwd_kernel", "myKernel", "k",
                           "kernel_v3", "_bwd_inner", "triton_poi_fused_0"}) {
    v1::Kernel kernel = Whole();
    kernel.set_name(name);
    kernel.mutable_launcher()->set_text(
        absl::StrCat("def run(x):\n    ", name, "[(1,)](x, 3, 4)\n"));
    EXPECT_EQ(Reasons(kernel)["write"], "empty_name") << name;
  }
  for (const char* name : {"scale", "_layer_norm_fwd", "addKernel", "mm", "triton_poi_fused_add_0",
                           "_fwd_kernel_dq"}) {
    v1::Kernel kernel = Whole();
    kernel.set_name(name);
    EXPECT_THAT(Reasons(kernel), Not(testing::Contains(testing::Key("write")))) << name;
  }
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

TEST(Conversations, ABodyIsAskedForIfTheNameOrTheDocstringSaysWhatItComputes) {
  v1::Kernel kernel = Whole();
  kernel.set_name("kernel");
  EXPECT_THAT(Names(kernel), testing::Contains("complete"));
  kernel.set_docstring("Short.");
  EXPECT_EQ(Reasons(kernel)["complete"], "empty_name");
  kernel.set_name("scale");
  EXPECT_THAT(Names(kernel), testing::Contains("complete"));
}

TEST(Conversations, TheQuestionToLaunchHasTheHeadAndTheNamesFromElsewhere) {
  v1::Kernel kernel = Whole();
  kernel.set_module("import triton\nimport triton.language as tl\n\nBLOCK = 64\n\n\n" +
                    kernel.source());
  kernel.mutable_launcher()->set_text(
      "@contiguous\ndef run(self, x, out=None):\n"
      "    \"\"\"Doubles x.\"\"\"\n"
      "    out = torch.empty_like(x)\n"
      "    grid = (triton.cdiv(pick_size(x), BLOCK),)\n"
      "    utils.checks.check_device(x, self.device, len(grid))\n"
      "    self.count = self.bump()\n"
      "    self.seen = self.seen + 1\n"
      "    scale[grid](x, x.numel(), 64)\n"
      "    return out\n");
  EXPECT_EQ(ByTemplate(kernel)["launch"].user,
            "Write the function that launches `scale`. It begins so:\n\n```python\n@contiguous\n"
            "def run(self, x, out=None):\n    \"\"\"Doubles x.\"\"\"\n```\n\n"
            "These names are defined elsewhere: `pick_size`, `self.bump`, `self.device`, "
            "`self.seen`, `torch`, "
            "`utils.checks.check_device`.\n\nThe kernel:\n\n```python\n" +
                kernel.module() + "```");
}

TEST(Conversations, TheHeadOfALauncherEndsWithWhatDocumentsIt) {
  for (const auto& [first, shown] :
       std::vector<std::pair<std::string, bool>>{{"\"Doubles x.\"", true},
                                                 {"(\"Doubles \" \"x.\")", true},
                                                 {"f\"Doubles {x}.\"", false}}) {
    v1::Kernel kernel = Whole();
    kernel.mutable_launcher()->set_text(
        absl::StrCat("def run(x):\n    ", first, "\n    scale[(1,)](x, x.numel(), 64)\n"));
    const std::string head =
        absl::StrCat("def run(x):\n", shown ? "    " + first + "\n" : "", "```");
    EXPECT_THAT(ByTemplate(kernel)["launch"].user, HasSubstr(head)) << first;
  }
}

TEST(Conversations, ALauncherThatNeedsNothingElseHasNoNames) {
  EXPECT_THAT(ByTemplate(Whole())["launch"].user, Not(HasSubstr("elsewhere")));
}

TEST(Conversations, ALauncherThatMakesItsOwnDataIsNotAskedFor) {
  for (const char* text :
       {"scale[(1,)](DATA, 3, 64)\n", "def main():\n    scale[(1,)](torch.ones(3), 3, 64)\n",
        "def run(self):\n    scale[(1,)](torch.ones(3), 3, 64)\n"}) {
    v1::Kernel kernel = Whole();
    kernel.mutable_launcher()->set_text(text);
    EXPECT_EQ(Reasons(kernel)["launch"], "no_parameters") << text;
  }
}

TEST(Conversations, ATestIsNotAskedForAndIsNoGround) {
  for (const char* name : {"test_scale", "TestScale.run", "_test"}) {
    v1::Kernel kernel = Whole();
    kernel.mutable_launcher()->set_qualname(name);
    EXPECT_EQ(Reasons(kernel)["launch"], "test_launcher") << name;
    EXPECT_THAT(Names(kernel), testing::Contains("write")) << "it has a docstring";
    kernel.clear_docstring();
    EXPECT_EQ(Reasons(kernel)["write"], "no_ground") << name;
  }
}

TEST(Conversations, ALauncherThatLaunchesKernelsThatAreNotShownIsNotAskedFor) {
  v1::Kernel kernel = Whole();
  kernel.mutable_launcher()->set_text(
      "def run(x):\n    scale[(1,)](x, 1, 64)\n    ops.finish[(1,)](x)\n");
  EXPECT_EQ(Reasons(kernel)["launch"], "launches_others");
  kernel.set_module("from ops import finish\n" + kernel.module());
  kernel.mutable_launcher()->set_text(
      "def run(x):\n    scale[(1,)](x, 1, 64)\n    finish[(1,)](x)\n");
  EXPECT_THAT(Names(kernel), testing::Contains("launch"));
}

TEST(Conversations, OtherKernelsOfTheFileAreShownByTheirSignature) {
  v1::Kernel kernel = Whole();
  kernel.mutable_launcher()->set_text(
      "def run(x):\n    scale[(1,)](x, 1, 64)\n    finish[(1,)](x)\n");
  v1::Kernel finish;
  finish.set_signature("def finish(x):");
  finish.set_source("@triton.jit\ndef finish(x):\n    tl.store(x, 1)\n");
  const Conversations all =
      MakeConversations(kernel, manifest::MakeFimPair(kernel), "", {{"finish", &finish}});
  ASSERT_EQ(all.asked.size(), 4u);
  EXPECT_THAT(all.asked[2].user,
              HasSubstr("It also launches:\n\n```python\ndef finish(x):\n```\n\nThe kernel:"));
}

TEST(Conversations, ALauncherThatDoesNotParseIsNotAskedFor) {
  v1::Kernel kernel = Whole();
  kernel.mutable_launcher()->set_text("def run(x):\n    scale[(1,)](x, 1, 64\n");
  EXPECT_EQ(Reasons(kernel)["launch"], "launcher_syntax");
}

TEST(Conversations, AFenceInADocstringDoesNotEndTheQuestion) {
  v1::Kernel kernel = Whole();
  kernel.set_docstring("Doubles every element of x:\n```python\nscale(x)\n");  // never closed
  EXPECT_THAT(ByTemplate(kernel)["write"].user,
              HasSubstr("\nWhat it does:\n\n````text\nDoubles every element of x:\n```python\n"
                        "scale(x)\n````\n\nSignature:"));
  kernel.set_docstring("Doubles every element of x:\n~~~~\nscale(x)\n");
  EXPECT_THAT(ByTemplate(kernel)["write"].user, HasSubstr("\nWhat it does:\n\n```text\nDoubles"));
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
  kernel.set_dsl(dsl::kCuda);
  EXPECT_THAT(Names(kernel), Not(testing::Contains("complete")));
  EXPECT_THAT(ByTemplate(kernel)["write"].assistant, HasSubstr("```cuda\n"));
}

TEST(Conversations, APythonLauncherOfCudaIsFencedAsPython) {
  v1::Kernel kernel = Whole();
  kernel.set_dsl(dsl::kCuda);
  kernel.set_form(v1::KERNEL_FORM_STRING);
  kernel.mutable_launcher()->set_first_line(9);
  kernel.mutable_launcher()->set_text("  def run(x):\n    m.scale(x)\n");
  EXPECT_THAT(ByTemplate(kernel)["write"].user,
              HasSubstr("```python\ndef run(x):\n  m.scale(x)\n"));
  kernel.mutable_cuda()->add_launches()->set_host_first_line(9);
  EXPECT_THAT(ByTemplate(kernel)["write"].user, HasSubstr("```cuda\n  def run"));
}

}  // namespace
}  // namespace kernelmill::dataset
