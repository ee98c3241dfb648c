#include "client/catalog/markdown/triton_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/testing/catalog_rows.h"

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

v1::KernelRow Softmax() { return testing::ToKernel(testing::SoftmaxRow()); }

std::string MakeEntry(const v1::KernelRow& kernel) {
  return TritonIndexEntry(kernel, Describe(kernel, ReadCodeFacts(kernel)), 1);
}

TEST(TritonIndexEntry, HasTheTemplatesFields) {
  const std::string entry = MakeEntry(Softmax());
  EXPECT_THAT(entry, HasSubstr("**Softmax** `softmax_kernel`\n"));
  EXPECT_THAT(
      entry,
      HasSubstr("- Link: <https://github.com/a/kernels/blob/c0ffee/ops/softmax.py#L3-L9>\n"));
  EXPECT_THAT(entry, HasSubstr("- Author: Ada Lovelace (copyright)\n"));
  EXPECT_THAT(entry, HasSubstr("- Tags: \"softmax\"\n"));
  EXPECT_THAT(entry, HasSubstr("- Description: Docstring: \"Row-wise softmax.\""));
  EXPECT_THAT(entry,
              HasSubstr("- Minimal Usage: `from ops.softmax import softmax ; softmax(x)`\n"));
  EXPECT_THAT(entry, HasSubstr("- Triton Version: Triton v2.1.0+ (setup.py)\n"));
  EXPECT_THAT(entry, HasSubstr("licence MIT"));
  EXPECT_THAT(entry, HasSubstr("adapted from b/origin; 1 copy elsewhere"));
}

TEST(TritonIndexEntry, MarkupOfStrangersIsText) {
  v1::KernelRow kernel = Softmax();
  kernel.set_docstring("</script><b>*bold* [a](javascript:x)\n- Link: forged");
  testing::SetTexts({"<i>"}, kernel.mutable_tags());
  const std::string entry = MakeEntry(kernel);
  EXPECT_THAT(entry, Not(HasSubstr("<b>")));
  EXPECT_THAT(entry, Not(HasSubstr("<i>")));
  EXPECT_THAT(entry, Not(HasSubstr("\n- Link: forged")));
  EXPECT_THAT(entry, Not(HasSubstr(" [a](")));
}

TEST(MinimalUsage, IsAnImportAndACallAsTheLauncherIsDefined) {
  v1::KernelRow kernel = Softmax();
  kernel.mutable_launcher()->set_path("src/a/b.py");
  kernel.mutable_launcher()->set_qualname("f");
  kernel.mutable_launcher()->set_text(
      "def f(x: torch.Tensor, *, eps: float = 1e-6, **kw) -> int:\n    pass\n");
  EXPECT_EQ(MinimalUsage(kernel), "from a.b import f ; f(x, eps=1e-6)");
  kernel.mutable_launcher()->set_qualname("F.forward");
  kernel.mutable_launcher()->set_text("@staticmethod\ndef forward(ctx, x, n=(1, 2)):\n    pass\n");
  EXPECT_EQ(MinimalUsage(kernel), "from a.b import F ; F.apply(x, n=(1,2))");
  kernel.mutable_launcher()->set_qualname("Module.call");
  EXPECT_EQ(MinimalUsage(kernel), "");
  kernel.mutable_launcher()->set_path("my-scripts/b.py");
  EXPECT_EQ(MinimalUsage(kernel), "");
}

TEST(TritonIndex, IsOneFileWhileItFitsAndAFileAnOperationElse) {
  TritonIndex small(1'000'000);
  TritonIndex large(1'000);
  v1::KernelRow device = Softmax();
  device.set_role(v1::KERNEL_ROLE_DEVICE);
  for (TritonIndex* index : {&small, &large}) {
    index->Add(Softmax(), {}, 0);
    index->Add(Softmax(), {}, 0);
    index->Add(device, {}, 0);
  }
  ASSERT_THAT(small.Files(), SizeIs(1));
  EXPECT_THAT(small.Files()[0].second, HasSubstr("\n## Softmax\n"));
  const auto files = large.Files();
  EXPECT_EQ(files.back().first, "TRITON_INDEX.md");
  EXPECT_THAT(files.back().second, HasSubstr("- Softmax, 2: [1](triton-index/softmax.md)"));
  for (const auto& [path, content] : files) EXPECT_LE(content.size(), 1'000u) << path;
}

}  // namespace
}  // namespace kernelmill::client
