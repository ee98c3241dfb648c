// The bytes of a kernel and what is read from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/hash.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;

v1::Kernel Only(absl::string_view text) {
  const v1::KernelShard shard = Extract(text);
  EXPECT_EQ(shard.kernels_size(), 1);
  return shard.kernels_size() == 1 ? shard.kernels(0) : v1::Kernel();
}

TEST(KernelTextTest, EveryLineEndGivesTheSamePlaceAndItsOwnBytes) {
  const std::string text =
      "import triton\n\nclass C:\n  x = '''\n'''\n  @triton.jit\n  def k(a):\n    return a\n\ny = "
      "1\n";
  for (const char* line_end : {"\n", "\r\n", "\r"}) {
    const std::string file = absl::StrReplaceAll(text, {{"\n", line_end}});
    const v1::Kernel kernel = Only(file);
    EXPECT_EQ(kernel.first_line(), 6);
    EXPECT_EQ(kernel.last_line(), 8);
    EXPECT_EQ(kernel.column(), 2);
    const std::string source =
        absl::StrReplaceAll("  @triton.jit\n  def k(a):\n    return a\n", {{"\n", line_end}});
    EXPECT_EQ(kernel.source(), source);
    EXPECT_EQ(kernel.sha256(), Sha256Hex(source));
    EXPECT_EQ(file.substr(static_cast<size_t>(kernel.first_byte()), source.size()), source);
  }
}

TEST(KernelTextTest, CommentsAfterTheBodyAreNotPartOfIt) {
  EXPECT_EQ(Only("import triton\n@triton.jit\ndef k():\n    a = 1  # kept\n    # not\n\n    # nor\n"
                 "x = 1\n")
                .source(),
            "@triton.jit\ndef k():\n    a = 1  # kept\n");
  EXPECT_EQ(
      Only("import triton\n@triton.jit\ndef k():\n    if x:\n        a\n        # not\n").source(),
      "@triton.jit\ndef k():\n    if x:\n        a\n");
}

TEST(KernelTextTest, CommentsWithinTheBodyAreWhateverTheirIndentation) {
  const std::string source =
      "@triton.jit\ndef k():\n    a = 1\n# at the margin\n        # far in\n    b = 2\n";
  EXPECT_EQ(Only("import triton\n" + source + "c = 3\n").source(), source);
}

TEST(KernelTextTest, TheLastLineIsThatOfTheLastToken) {
  EXPECT_EQ(Only("import triton\n@triton.jit\ndef k():\n    a = (1,\n    )\n\n").last_line(), 5);
  EXPECT_EQ(Only("import triton\n@triton.jit\ndef k(): a = 1; b = '''\n'''\n").last_line(), 4);
  EXPECT_EQ(Only("import triton\n@triton.jit\ndef k():\n    pass \\\n    ;\n").last_line(), 5);
  EXPECT_EQ(Only("import triton\n@triton.jit\ndef k():\n    return 1 \\\n\nx\n").last_line(), 4);
}

TEST(KernelTextTest, AFileMayEndWithoutALineEnd) {
  EXPECT_EQ(Only("import triton\n@triton.jit\ndef k(): pass").source(),
            "@triton.jit\ndef k(): pass");
}

TEST(KernelTextTest, ByteOrderMarkFormFeedAndOtherBytesAreKept) {
  EXPECT_EQ(Only("\xef\xbb\xbf@triton.jit\ndef k(): pass\n").source(),
            "\xef\xbb\xbf@triton.jit\ndef k(): pass\n");
  EXPECT_EQ(
      Only("import triton\n\f\n@triton.jit\ndef k(): # \xff\xfe\n    x = '\xe9\xc3'\n").source(),
      "@triton.jit\ndef k(): # \xff\xfe\n    x = '\xe9\xc3'\n");
  const std::string nul = absl::StrCat("import triton\nx = '", std::string(1, '\0'),
                                       "'\n@triton.jit\ndef k(): pass\n", std::string(1, '\0'));
  EXPECT_EQ(Only(nul).first_line(), 3);
}

TEST(KernelTextTest, TabsAndBlanksMixAsInCPython) {
  const std::string source =
      "\t@triton.jit\n        def k():\n    \t    a = 1\n\t    if a:\n\t\tb = 2\n";
  EXPECT_EQ(Only("import triton\nif x:\n" + source + "\tc = 3\n").source(), source);
}

TEST(KernelTextTest, SignatureParametersAndDocstring) {
  const v1::Kernel kernel = Only(
      "import triton\n"
      "@triton.jit\n"
      "def k(a, b: tl.constexpr,  # first\n"
      "      c=1, *args, d: int = f(2), **kw) -> int:  # comment\n"
      "    r\"\"\"Adds.\n\n    More.\"\"\"\n"
      "    # the body\n"
      "    return a\n");
  EXPECT_EQ(kernel.signature(),
            "def k(a, b: tl.constexpr,  # first\n      c=1, *args, d: int = f(2), **kw) -> int:");
  std::vector<std::string> parameters;
  for (const v1::Parameter& parameter : kernel.parameters()) parameters.push_back(parameter.name());
  EXPECT_THAT(parameters, ElementsAre("a", "b", "c", "args", "d", "kw"));
  EXPECT_EQ(kernel.docstring(), "Adds.\n\n    More.");
  EXPECT_EQ(kernel.source().substr(static_cast<size_t>(kernel.body_offset())),
            "    # the body\n    return a\n");
}

TEST(KernelTextTest, BodyOffsetWithoutADocstring) {
  const auto body = [](absl::string_view text) {
    const v1::Kernel kernel = Only(text);
    return kernel.source().substr(static_cast<size_t>(kernel.body_offset()));
  };
  EXPECT_EQ(body("import triton\n@triton.jit\ndef k():\n    # c\n    f'x'\n    a\n"),
            "    # c\n    f'x'\n    a\n");
  EXPECT_EQ(body("import triton\n@triton.jit\ndef k(): return 1\n"), "def k(): return 1\n");
  EXPECT_EQ(body("import triton\n@triton.jit\ndef k():\n    'only'\n"), "");
}

TEST(KernelTextTest, CallsAreResolvedAndSorted) {
  EXPECT_THAT(
      Only("import triton\nimport triton.language as tl\nfrom m import f as g\n"
           "@triton.jit\ndef k(x):\n    tl.store(x, g(tl.load(x).to(tl.int8)))\n    tl.load(x)\n")
          .calls(),
      ElementsAre("m.f", "triton.language.load", "triton.language.store"));
}

TEST(KernelTextTest, FreeNamesFollowPythonsScopes) {
  EXPECT_THAT(Only("import triton\n"
                   "@wrap(CONFIG, [c for c in LIST], key=lambda a: a + outside)\n"
                   "@triton.jit\n"
                   "def k(x, y: tl.constexpr = DEFAULT, *rest):\n"
                   "    a, (b, *c) = x, rest\n"
                   "    for i in range(N): a += i\n"
                   "    with ctx() as w: d = w\n"
                   "    if (e := len(b)): pass\n"
                   "    def h(z): return z + HELPER + a\n"
                   "    import q.r as s, t.u\n"
                   "    f = [v for v in c if v.attr(kw=y)] + [v2 for v2 in v2]\n"
                   "    return h(d, e, f, s, t), k, undefined.attr\n")
                  .free_names(),
              ElementsAre("CONFIG", "DEFAULT", "HELPER", "LIST", "N", "ctx", "outside", "tl",
                          "triton", "undefined", "v2", "wrap"));
}

TEST(KernelTextTest, AParameterDoesNotBindWhatADecoratorReads) {
  EXPECT_THAT(
      Only("import triton\n@tune(configs)\n@triton.jit\ndef k(configs): pass\n").free_names(),
      ElementsAre("configs", "triton", "tune"));
}

TEST(KernelTextTest, Roles) {
  const v1::KernelShard shard = Extract(
      "import triton\nimport triton.language as tl\n"
      "@triton.jit\ndef helper(x): return x * 2\n"
      "@triton.jit\ndef by_id(): tl.program_id(0)\n"
      "@triton.jit\ndef by_store(x): tl.store(x, helper(1))\n"
      "@triton.jit\ndef launched(x): return helper(x)\n"
      "def run(): launched[(1,)](1)\n");
  ASSERT_EQ(shard.kernels_size(), 4);
  EXPECT_EQ(shard.kernels(0).role(), v1::KERNEL_ROLE_DEVICE);
  EXPECT_EQ(shard.kernels(1).role(), v1::KERNEL_ROLE_KERNEL);
  EXPECT_EQ(shard.kernels(2).role(), v1::KERNEL_ROLE_KERNEL);
  EXPECT_EQ(shard.kernels(3).role(), v1::KERNEL_ROLE_KERNEL);
}

TEST(KernelTextTest, TokensLeaveCommentsOutAndCountAStringOnce) {
  // @ triton . jit def k ( x ) : 'a b c' return x + 1
  EXPECT_EQ(
      Only("import triton\n@triton.jit\ndef k(x):  # c\n    'a b c'\n    return x + 1\n").tokens(),
      15);
}

}  // namespace
}  // namespace kernelmill::extractor
