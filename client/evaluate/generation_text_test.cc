#include "client/evaluate/generation_text.h"

#include <gtest/gtest.h>

namespace kernelmill::client {
namespace {

TEST(CodeOf, TakesTheFirstPythonFence) {
  EXPECT_EQ(CodeOf("",
                   "Run this:\n```bash\npip install x\n```\nthen\n```python\nx = 1\n```\n```py\ny "
                   "= 2\n```\n"),
            "x = 1\n");
  EXPECT_EQ(CodeOf("", "Here:\n~~~ {.python}\nx = 1\n~~~\n"), "x = 1\n");
  EXPECT_EQ(CodeOf("", "Here:\n```\nx = 1\n```\n"), "x = 1\n");
  EXPECT_EQ(CodeOf("", "```Python title=\"a.py\"\nx = '```'\n```"), "x = '```'\n");
}

TEST(CodeOf, AFenceThatIsNotClosedGoesToTheEnd) {
  EXPECT_EQ(CodeOf("", "```python\nx = 1\ny = 2"), "x = 1\ny = 2");
}

TEST(CodeOf, CodeWithoutAFenceIsTheWholeAnswer) {
  EXPECT_EQ(CodeOf("", "import triton\nx = 1\n"), "import triton\nx = 1\n");
  EXPECT_EQ(CodeOf("", "I cannot do that."), "I cannot do that.");
  EXPECT_EQ(CodeOf("", ""), "");
}

TEST(CodeOf, AnAnswerThatGoesOnWithCodeEndsAtItsFence) {
  EXPECT_EQ(CodeOf("def f():\n", "    return 1\n```\nIt returns 1.\n```python\nf()\n```\n"),
            "    return 1\n");
  EXPECT_EQ(CodeOf("Complete:\n```python\nx = 1\n", "y = 2\n```\nDone."), "y = 2\n");
}

TEST(CodeOf, ADocstringMayHoldAnIndentedFence) {
  const char* code = "def f():\n    \"\"\"Use it.\n\n    ```\n    f()\n    ```\n    \"\"\"\n";
  EXPECT_EQ(CodeOf("", code), code);
}

TEST(CodeOf, ThinkingIsNoCode) {
  EXPECT_EQ(CodeOf("", "<think>\n```python\nwrong\n```\n</think>\n```python\nright\n```\n"),
            "right\n");
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
