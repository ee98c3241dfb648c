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

CatalogKernel Softmax() { return *ParseKernelRow(testing::SoftmaxRow().dump()); }

std::string MakeEntry(const CatalogKernel& kernel) {
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
  CatalogKernel kernel = Softmax();
  kernel.docstring = "</script><b>*bold* [a](javascript:x)\n- Link: forged";
  kernel.tags = {"<i>"};
  const std::string entry = MakeEntry(kernel);
  EXPECT_THAT(entry, Not(HasSubstr("<b>")));
  EXPECT_THAT(entry, Not(HasSubstr("<i>")));
  EXPECT_THAT(entry, Not(HasSubstr("\n- Link: forged")));
  EXPECT_THAT(entry, Not(HasSubstr(" [a](")));
}

TEST(MinimalUsage, IsAnImportAndACallAsTheLauncherIsDefined) {
  CatalogKernel kernel = Softmax();
  kernel.launcher->path = "src/a/b.py";
  kernel.launcher->qualname = "f";
  kernel.launcher->text = "def f(x: torch.Tensor, *, eps: float = 1e-6, **kw) -> int:\n    pass\n";
  EXPECT_EQ(MinimalUsage(kernel), "from a.b import f ; f(x, eps=1e-6)");
  kernel.launcher->qualname = "F.forward";
  kernel.launcher->text = "@staticmethod\ndef forward(ctx, x, n=(1, 2)):\n    pass\n";
  EXPECT_EQ(MinimalUsage(kernel), "from a.b import F ; F.apply(x, n=(1,2))");
  kernel.launcher->qualname = "Module.call";
  EXPECT_EQ(MinimalUsage(kernel), "");
  kernel.launcher->path = "my-scripts/b.py";
  EXPECT_EQ(MinimalUsage(kernel), "");
}

TEST(TritonIndex, IsOneFileWhileItFitsAndAFileAnOperationElse) {
  TritonIndex small(1'000'000);
  TritonIndex large(1'000);
  CatalogKernel device = Softmax();
  device.role = "device";
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
