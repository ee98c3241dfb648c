#include "common/dataset/fim.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"

namespace kernelmill::dataset {
namespace {

// Expected values: the write-up's own Python on the same text.
TEST(NormalizeCode, EqualsTheWriteUpsPython) {
  const struct {
    const char* code;
    const char* normalized;
  } cases[] = {
      {"", ""},
      {" \t\r\n", ""},
      {"\x1c a\x1f\x0b", "a"},
      {"a\r\nb\r\n", "a\nb"},
      {"a\rb", "a\rb"},
      {"a\r\r\nb", "a\r\nb"},
      {"a \t b\n\n\n\n\tc  ", "a b\n\n c"},
      {"a\n \n\n \n\n\nb", "a\n \n\n \n\nb"},
      {"x\n\n\ny\n\nz", "x\n\ny\n\nz"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(absl::CEscape(NormalizeCode(test.code)), absl::CEscape(test.normalized))
        << absl::CEscape(test.code);
  }
}

TEST(NormalizeCode, BytesOutsideAsciiStayAsTheyAre) {
  EXPECT_EQ(NormalizeCode("\xff caf\xc3\xa9\xc2\xa0 "), "\xff caf\xc3\xa9\xc2\xa0");
  EXPECT_EQ(NormalizeCode(std::string("\0 \0", 3)), std::string("\0 \0", 3));
}

v1::Kernel AddKernel() {
  v1::Kernel kernel;
  kernel.add_imports("import triton\n");
  kernel.add_imports("import triton.language as tl");  // the file's last line has no newline
  kernel.set_source(
      "@triton.jit\ndef add(x, n):\n    i = tl.program_id(0)\n    tl.store(x + i, n)\n");
  kernel.set_body_offset(27);
  return kernel;
}

TEST(FimPair, PromptEndsWhereTheBodyBegins) {
  const FimPair pair = MakeFimPair(AddKernel());
  EXPECT_EQ(pair.prompt,
            "import triton\nimport triton.language as tl\n\n@triton.jit\ndef add(x, n):\n");
  EXPECT_EQ(pair.completion, "    i = tl.program_id(0)\n    tl.store(x + i, n)\n");
}

// What of a body the prompt takes.
std::string CommentOf(const std::string& body, const std::string& docstring = "") {
  v1::Kernel kernel;
  kernel.set_source("def k():\n" + body);
  kernel.set_body_offset(9);
  kernel.set_docstring(docstring);
  const FimPair pair = MakeFimPair(kernel);
  EXPECT_EQ(pair.prompt + pair.completion, kernel.source());
  return pair.prompt.substr(9);
}

TEST(FimPair, WithoutADocstringThePromptTakesTheFirstComment) {
  EXPECT_EQ(CommentOf("    # Adds.\n    # x: left\n    a = 1  # one\n"),
            "    # Adds.\n    # x: left\n");
  EXPECT_EQ(CommentOf("\n  # Adds.\r\n\r\n  # the first step\n  a\n"), "\n  # Adds.\r\n");
  EXPECT_EQ(CommentOf("# a\r    # b\r    c\r"), "# a\r    # b\r");
  EXPECT_EQ(CommentOf("    a = 1\n    # then\n    b\n"), "");
  EXPECT_EQ(CommentOf("\n    a\n"), "");
  EXPECT_EQ(CommentOf("    # Adds.\n    a\n", "Documented."), "");
}

TEST(FimPair, BodyOffsetOutsideTheSourceIsClamped) {
  v1::Kernel kernel;
  kernel.set_source("abc");
  kernel.set_body_offset(4);
  EXPECT_EQ(MakeFimPair(kernel).prompt, "abc");
  EXPECT_EQ(MakeFimPair(kernel).completion, "");
  kernel.set_body_offset(-1);
  EXPECT_EQ(MakeFimPair(kernel).prompt, "");
  EXPECT_EQ(MakeFimPair(kernel).completion, "abc");
}

TEST(FimPairSha1, KnownAnswers) {
  EXPECT_EQ(absl::BytesToHexString(FimPairSha1({})), "98c4b7d37a4c63c3f69f7a0f794fb8a9187549ef");
  EXPECT_EQ(absl::BytesToHexString(FimPairSha1(
                {"import triton\r\nimport triton.language as tl\r\n\r\n\r\n\r\n@triton.jit\r\n"
                 "def add(x,  n):\r\n",
                 "    i = tl.program_id(0)\t\r\n    tl.store(x + i, n)\r\n"})),
            "0b05f2362782f5e2680e41f2d3ba05a22bdaeced");
}

TEST(FimPairSha1, SeesWhatIsNotLayout) {
  const FimPair pair = MakeFimPair(AddKernel());
  FimPair moved = pair;
  moved.prompt += "\t\n";
  moved.completion = "\n" + moved.completion;
  EXPECT_EQ(FimPairSha1(moved), FimPairSha1(pair));
  moved.completion += "# x";
  EXPECT_NE(FimPairSha1(moved), FimPairSha1(pair));
  // Text that moves over the border is another pair.
  EXPECT_NE(FimPairSha1({"a b", "c"}), FimPairSha1({"a", "b c"}));
}

}  // namespace
}  // namespace kernelmill::dataset
