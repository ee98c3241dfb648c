#include "client/evaluate/answer_code.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::client {
namespace {

// A file in parts. A text is what a fence holds.
constexpr char kImports[] = "import torch\nimport triton\nimport triton.language as tl\n";
constexpr char kKernel[] =
    "@triton.jit\ndef k(x, BLOCK: tl.constexpr):\n    tl.store(x + tl.arange(0, BLOCK), SIZE)\n";
constexpr char kDraft[] = "@triton.jit\ndef k(x, BLOCK: tl.constexpr):\n    tl.store(x, 0)\n";
constexpr char kHost[] = "def f(x):\n    k[(1,)](x, BLOCK=16)\n    return x\n";
constexpr char kUsage[] = "x = torch.zeros(16).cuda()\nprint(f(x))\n";
constexpr char kConstant[] = "SIZE = 4\n";

std::string Fenced(absl::string_view text) {
  return absl::StrCat("So:\n```python\n", text, "```\n");
}

TEST(ExtractCode, WithoutAKernelTakesTheFirstPythonFence) {
  EXPECT_EQ(
      ExtractCode("",
                  "Run this:\n```bash\npip install x\n```\nthen\n```python\nx = 1\n```\n```py\ny "
                  "= 2\n```\n"),
      "x = 1\n");
  EXPECT_EQ(ExtractCode("", "Here:\n~~~ {.python}\nx = 1\n~~~\n"), "x = 1\n");
  EXPECT_EQ(ExtractCode("", "Here:\n```\nx = 1\n```\n"), "x = 1\n");
  EXPECT_EQ(ExtractCode("", "```Python title=\"a.py\"\nx = '```'\n```"), "x = '```'\n");
}

TEST(ExtractCode, AFenceThatIsNotClosedGoesToTheEnd) {
  EXPECT_EQ(ExtractCode("", "```python\nx = 1\ny = 2"), "x = 1\ny = 2");
}

TEST(ExtractCode, CodeWithoutAFenceIsTheWholeAnswer) {
  EXPECT_EQ(ExtractCode("", "import triton\nx = 1\n"), "import triton\nx = 1\n");
  EXPECT_EQ(ExtractCode("", "I cannot do that."), "I cannot do that.");
  EXPECT_EQ(ExtractCode("", ""), "");
}

TEST(ExtractCode, AnAnswerThatGoesOnWithCodeEndsAtItsFence) {
  EXPECT_EQ(ExtractCode("def f():\n", "    return 1\n```\nIt returns 1.\n```python\nf()\n```\n"),
            "    return 1\n");
  EXPECT_EQ(ExtractCode("Complete:\n```python\nx = 1\n", "y = 2\n```\nDone."), "y = 2\n");
}

TEST(ExtractCode, ADocstringMayHoldAnIndentedFence) {
  const char* code = "def f():\n    \"\"\"Use it.\n\n    ```\n    f()\n    ```\n    \"\"\"\n";
  EXPECT_EQ(ExtractCode("", code), code);
}

TEST(ExtractCode, ThinkingIsNoCode) {
  EXPECT_EQ(ExtractCode("", "<think>\n```python\nwrong\n```\n</think>\n```python\nright\n```\n"),
            "right\n");
}

TEST(ExtractCode, TakesTheLastFenceWithAKernel) {
  EXPECT_EQ(ExtractCode("", Fenced(kDraft) + "That is wrong.\n" + Fenced(kKernel)), kKernel);
  const std::string draft = absl::StrCat(kImports, kDraft, kHost);
  const std::string whole = absl::StrCat(kImports, kKernel, kHost);
  EXPECT_EQ(ExtractCode("", Fenced(draft) + Fenced(whole) + Fenced(kUsage)), whole);
  EXPECT_EQ(ExtractCode("", Fenced("x = 1\n") + Fenced(kKernel)), kKernel);
  EXPECT_EQ(ExtractCode("", "```\n$ pip install triton\n```\n```\n" + draft + "```\n"), draft);
}

TEST(ExtractCode, JoinsTheFencesOfOneFile) {
  EXPECT_EQ(ExtractCode("", Fenced(kImports) + Fenced(kKernel) + Fenced(kHost) + Fenced(kUsage)),
            absl::StrCat(kImports, kKernel, kHost));
  EXPECT_EQ(ExtractCode("", Fenced(kConstant) + Fenced(kKernel)), absl::StrCat(kConstant, kKernel));
  const std::string other = "@triton.jit\ndef second(x):\n    tl.store(x, 1)\n";
  const std::string both = "def f(x):\n    k[(1,)](x, BLOCK=16)\n    second[(1,)](x)\n";
  EXPECT_EQ(ExtractCode("", Fenced(kKernel) + Fenced(other) + Fenced(both)),
            absl::StrCat(kKernel, other, both));
}

TEST(ExtractCode, AnotherDraftIsNoPartOfTheFile) {
  const std::string first = absl::StrCat(kDraft, "def g(x):\n    return x\n");
  EXPECT_EQ(ExtractCode("", Fenced(kImports) + Fenced(first) + Fenced(kKernel) + Fenced(kHost)),
            absl::StrCat(kImports, kKernel, kHost));
}

TEST(ExtractCode, ThinkingThatNeverEndsIsNoAnswer) {
  const std::string code = absl::StrCat(kImports, kKernel);
  EXPECT_EQ(ExtractCode("", absl::StrCat("<think>\nI try\n", Fenced(code))), "");
  EXPECT_EQ(ExtractCode("", absl::StrCat("<|channel|>analysis<|message|>", Fenced(code))), "");
  EXPECT_EQ(ExtractCode("", absl::StrCat("[THINK]", Fenced(code))), "");
  EXPECT_EQ(ExtractCode("", absl::StrCat(Fenced(code), "<think>\n", Fenced(kDraft))), code);
}

TEST(ExtractCode, ThinkingOfEveryModelIsDropped) {
  const std::string pairs[][2] = {
      {"<think>", "</think>"},
      {"<thinking>", "</thinking>"},
      {"[THINK]", "[/THINK]"},
      {"\u25c1think\u25b7", "\u25c1/think\u25b7"},
      {"<|begin_of_thought|>", "<|end_of_thought|>"},
      {"<|channel|>analysis<|message|>", "<|end|><|channel|>final<|message|>"},
      {"", "</think>"}};
  for (const auto& [begin, end] : pairs) {
    EXPECT_EQ(
        ExtractCode("", absl::StrCat(begin, "\n", Fenced(kDraft), end, "\n", Fenced(kKernel))),
        kKernel)
        << end;
  }
}

TEST(ExtractCode, AMarkWithinALineIsText) {
  EXPECT_EQ(ExtractCode("", absl::StrCat("I write <think> first.\n", Fenced(kKernel))), kKernel);
}

TEST(WholeText, ACompletionWithoutADefinitionContinuesThePrompt) {
  EXPECT_EQ(WholeText("def f(x):", "    return x\n"), "def f(x):\n    return x\n");
  EXPECT_EQ(WholeText("Write it:\n```python\ndef f(x):\n", "    return x\n"),
            "def f(x):\n    return x\n");
}

TEST(WholeText, WholeCodeStandsAlone) {
  EXPECT_EQ(WholeText("def f(x):\n", "def g(x):\n    pass\n"), "def g(x):\n    pass\n");
  EXPECT_EQ(WholeText("Say something.", "x = 1\n"), "x = 1\n");
}

}  // namespace
}  // namespace kernelmill::client
