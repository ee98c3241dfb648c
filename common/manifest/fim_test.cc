#include "common/manifest/fim.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "common/dsl/names.h"

namespace kernelmill::manifest {
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
  kernel.set_prompt_context("import triton\nimport triton.language as tl\n\n# def one(x): One.\n");
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_source(
      "@triton.jit\ndef add(x, n):\n    i = tl.program_id(0)\n    tl.store(x + i, one(n))\n");
  kernel.set_signature("def add(x, n):");
  kernel.set_body_offset(27);
  return kernel;
}

TEST(FimPair, PromptEndsWhereTheBodyBegins) {
  const FimPair pair = MakeFimPair(AddKernel());
  EXPECT_EQ(pair.prompt,
            "import triton\nimport triton.language as tl\n\n# def one(x): One.\n\n"
            "@triton.jit\ndef add(x, n):\n");
  EXPECT_EQ(pair.completion, "    i = tl.program_id(0)\n    tl.store(x + i, one(n))\n");
  EXPECT_EQ(pair.excluded, "");
}

// Makes a kernel of def k(): and the given body, indented as a whole.
FimPair MakePair(const std::string& body, const std::string& indentation = "",
                 const std::string& signature = "def k():", const std::string& docstring = "") {
  v1::Kernel kernel;
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_signature(signature);
  const std::string head = indentation + signature + "\n";
  kernel.set_source(head + body);
  kernel.set_body_offset(static_cast<int32_t>(head.size()));
  kernel.set_docstring(docstring);
  return MakeFimPair(kernel);
}

constexpr char kBody[] = "    x = tl.load(p + tl.arange(0, 16))\n    tl.store(p, x + 1)\n";

TEST(FimPair, NestedKernelsAreDedentedAndStringsInThemAreNot) {
  v1::Kernel kernel;
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_signature("def k(p):");
  kernel.set_docstring("Doc.\n      more\n    ");
  const std::string head =
      "  @staticmethod\r\n  @triton.jit\r\n  def k(p):\r\n    \"\"\"Doc.\r\n      more\r\n    "
      "\"\"\"  "
      "\r\n";
  kernel.set_source(head +
                    "\r\n    x = tl.load(p + tl.arange(0, 16))\r\n    s = '''a\r\n    b'''\r\n    "
                    "tl.store(p, x)");
  kernel.set_body_offset(static_cast<int32_t>(head.size()));
  const FimPair pair = MakeFimPair(kernel);
  EXPECT_EQ(pair.prompt, "@triton.jit\ndef k(p):\n  \"\"\"Doc.\n      more\n    \"\"\"\n");
  EXPECT_EQ(pair.completion,
            "  x = tl.load(p + tl.arange(0, 16))\n  s = '''a\n    b'''\n  tl.store(p, x)\n");
  EXPECT_EQ(pair.excluded, "");
  EXPECT_EQ(MakePair("    x = 1\n y = 2\n", "  ").excluded, "indentation");
}

TEST(FimPair, NoBlankStandsWherePromptAndCompletionMeet) {
  const FimPair pair = MakePair(std::string(" \n\n") + kBody + "\n \n", "", "def k():");
  EXPECT_EQ(pair.prompt, "def k():\n");
  EXPECT_EQ(pair.completion, kBody);
}

TEST(FimPair, WithoutADocstringThePromptTakesTheFirstComment) {
  const auto comment_of = [](const std::string& body, const std::string& docstring = "") {
    return MakePair(body, "", "def k():", docstring).prompt.substr(9);
  };
  EXPECT_EQ(comment_of("    # Adds.\n    # x: left\n    a = 1  # one\n"),
            "    # Adds.\n    # x: left\n");
  EXPECT_EQ(comment_of("\n  # Adds.\r\n\r\n  # the first step\n  a\n"), "\n  # Adds.\n");
  EXPECT_EQ(comment_of("    # a\r    # b\r    c\r"), "    # a\n    # b\n");
  EXPECT_EQ(comment_of("    a = 1\n    # then\n    b\n"), "");
  EXPECT_EQ(comment_of("\n    a\n"), "");
  EXPECT_EQ(comment_of("    # Adds.\n    a\n", "Documented."), "");
}

TEST(FimPair, WhatTeachesNothingIsExcludedWithItsReason) {
  EXPECT_EQ(MakePair(kBody).excluded, "");
  EXPECT_EQ(MakePair("").excluded, "no_body");
  EXPECT_EQ(MakePair("    # nothing\n    x\n    # then\n", "", "def k():", "Doc.").excluded,
            "trivial");
  EXPECT_EQ(MakePair("    # nothing\n").excluded, "no_body");
  for (const char* idle : {"pass", "...", "return", "return None", "raise NotImplementedError()",
                           "pass; return 1", "return tl.where(x > 0, x, 0)", "x = 1"}) {
    EXPECT_EQ(MakePair(std::string("    ") + idle + "  # idle\n").excluded, "trivial") << idle;
  }
  EXPECT_EQ(MakePair("    y = x + 1\n    return y\n").excluded, "short");
  EXPECT_EQ(MakePair("    if x:\n        return 1\n    return 2\n").excluded, "short");
  std::string sum = "    return x0";
  for (int i = 1; i < 17; ++i) sum += " + x" + std::to_string(i);
  EXPECT_EQ(MakePair(sum + "\n").excluded, "");  // one statement, but no trivial one
}

TEST(FimPair, WhatIsNoPythonFunctionOfItsOwnLinesIsExcluded) {
  v1::Kernel kernel = AddKernel();
  kernel.set_parse_error(true);
  EXPECT_EQ(MakeFimPair(kernel).excluded, "syntax_error");
  kernel = AddKernel();
  kernel.set_role(v1::KERNEL_ROLE_UNSPECIFIED);
  EXPECT_EQ(MakeFimPair(kernel).excluded, "template");
  kernel = AddKernel();
  kernel.set_body_offset(12);  // def add(x, n): return ...
  EXPECT_EQ(MakeFimPair(kernel).excluded, "signature_line");
  kernel.set_dsl(dsl::kCuda);
  EXPECT_EQ(MakeFimPair(kernel).excluded, "language");
}

TEST(FimPair, BodyOffsetOutsideTheSourceIsClamped) {
  v1::Kernel kernel;
  kernel.set_source("abc");
  kernel.set_body_offset(4);
  EXPECT_EQ(MakeFimPair(kernel).prompt, "abc\n");
  EXPECT_EQ(MakeFimPair(kernel).completion, "");
  kernel.set_body_offset(-1);
  EXPECT_EQ(MakeFimPair(kernel).prompt, "");
  EXPECT_EQ(MakeFimPair(kernel).completion, "abc\n");
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
  // Moving text over the border changes the pair.
  EXPECT_NE(FimPairSha1({"a b", "c"}), FimPairSha1({"a", "b c"}));
}

}  // namespace
}  // namespace kernelmill::manifest
