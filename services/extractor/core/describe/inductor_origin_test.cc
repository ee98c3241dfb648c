#include "services/extractor/core/describe/inductor_origin.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::extractor {
namespace {

// "model|graph" of a path.
std::string FromPath(const std::string& path) {
  const v1::InductorOrigin origin = OriginFromPath(path);
  return origin.model() + "|" + origin.graph();
}

// "kernel path|source node" of the comments above the last line.
std::string FromComments(const std::string& text) {
  const LineIndex lines(text);
  v1::InductorOrigin origin;
  AddOriginFromComments(text, lines, lines.count(), origin);
  return origin.kernel_path() + "|" + origin.source_node();
}

TEST(InductorOriginTest, TheDebugFolderNamesModelAndGraph) {
  EXPECT_EQ(FromPath("run_1/torchinductor/model__0_inference_0.0/output_code.py"),
            "model__0_inference_0|0");
  EXPECT_EQ(FromPath("model___60.12/output_code.py"), "model___60|12");
  EXPECT_EQ(FromPath("resnet.50.v1_3.7/output_code.py"), "resnet.50.v1_3|7");
}

TEST(InductorOriginTest, OtherPathsNameNeither) {
  for (const char* path :
       {"output_code.py", "/output_code.py", "model/output_code.py", "model.x/output_code.py",
        "model./output_code.py", ".0/output_code.py", "model.0/other.py",
        "model.0/my_output_code.py", "model.0/deeper/output_code.py", "ab/cabcdef.py", ""}) {
    EXPECT_EQ(FromPath(path), "|") << path;
  }
}

TEST(InductorOriginTest, CommentsAboveNamePathAndNodes) {
  EXPECT_EQ(FromComments("# kernel path: /tmp/torchinductor_me/ab/cabc.py\n"
                         "# Source Nodes: [add, relu], Original ATen: [aten.add]\n"
                         "# add => add_1\n"
                         "k = 1\n"),
            "/tmp/torchinductor_me/ab/cabc.py|[add, relu], Original ATen: [aten.add]");
  EXPECT_EQ(FromComments("# Topologically Sorted Source Nodes: [x]\r\n"
                         "#   %x : [num_users=1]\r\n\r\n"
                         "k = 1\r\n"),
            "|[x]");
  EXPECT_EQ(FromComments("# Unsorted Source Nodes: []\nk = 1\n"), "|[]");
}

TEST(InductorOriginTest, CommentsOfTheKernelBeforeAreNotTaken) {
  EXPECT_EQ(FromComments("# kernel path: /tmp/a.py\nj = 1\n\nk = 1\n"), "|");
  EXPECT_EQ(FromComments("# kernel path: /tmp/a.py\n# kernel path: /tmp/b.py\nk = 1\n"),
            "/tmp/b.py|");
}

TEST(InductorOriginTest, TheWordsAloneAreNoComment) {
  EXPECT_EQ(FromComments("# 'kernel path: /tmp/a.py'\n# %x = Source Nodes: [x]\nk = 1\n"), "|");
}

TEST(InductorOriginTest, LongValuesAreCut) {
  const std::string path =
      FromComments("# kernel path: " + std::string(100'000, 'x') + "\nk = 1\n");
  EXPECT_EQ(path, std::string(8192, 'x') + "|");
}

}  // namespace
}  // namespace kernelmill::extractor
